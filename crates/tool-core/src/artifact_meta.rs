//! What is known of an artifact beside its data.

use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use crate::{ArtifactKind, ArtifactRef, CallId, RunId};

/// What is known of an artifact beside its data, which it never holds.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ArtifactMeta {
    /// The reference.
    pub reference: ArtifactRef,
    /// What kind of data it is.
    pub kind: ArtifactKind,
    /// The media type of the data.
    pub media_type: String,
    /// The bytes of the data: UTF-8 of a text or of compact JSON.
    pub bytes: u64,
    /// A line for people and models.
    pub label: Option<String>,
    /// `sha-256:` and the digest of the bytes in hexadecimal, where one was asked for.
    pub digest: Option<String>,
    /// When it was put.
    pub created: SystemTime,
    /// From when on it is gone.
    pub expires: Option<SystemTime>,
    /// Where it came from.
    pub origin: ArtifactOrigin,
    /// The artifacts that it was made of.
    pub parents: Vec<ArtifactRef>,
}

/// Where an artifact came from, as the runtime stamps it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ArtifactOrigin {
    /// The wire name of the tool that put it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The call that put it, where it has an id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<CallId>,
    /// The run that the call belongs to, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
}

/// What is said of an artifact that is to be put.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ArtifactDraft {
    /// What kind of data it is.
    pub kind: ArtifactKind,
    /// The media type of the data; `None` for that of its shape.
    pub media_type: Option<String>,
    /// A line for people and models.
    pub label: Option<String>,
    /// From when on it shall be gone. A store may take it sooner.
    pub expires: Option<SystemTime>,
    /// Whether its digest is taken, and verified whenever it is got.
    pub digest: bool,
    /// Where it comes from.
    pub origin: ArtifactOrigin,
    /// The artifacts that it is made of, of the same scope.
    pub parents: Vec<ArtifactRef>,
}

impl ArtifactMeta {
    /// What is known of an artifact of which nobody said more.
    #[must_use]
    pub fn new(
        reference: ArtifactRef,
        kind: ArtifactKind,
        media_type: impl Into<String>,
        bytes: u64,
        created: SystemTime,
    ) -> Self {
        Self {
            reference,
            kind,
            media_type: media_type.into(),
            bytes,
            label: None,
            digest: None,
            created,
            expires: None,
            origin: ArtifactOrigin::default(),
            parents: Vec::new(),
        }
    }

    /// What a draft says of an artifact, under its reference.
    #[must_use]
    pub fn of_draft(
        draft: ArtifactDraft,
        reference: ArtifactRef,
        media_type: &str,
        bytes: u64,
        created: SystemTime,
    ) -> Self {
        Self {
            reference,
            kind: draft.kind,
            media_type: draft.media_type.unwrap_or_else(|| media_type.to_owned()),
            bytes,
            label: draft.label,
            digest: None,
            created,
            expires: draft.expires,
            origin: draft.origin,
            parents: draft.parents,
        }
    }
}

impl ArtifactOrigin {
    /// An origin of which nothing is known.
    #[must_use]
    pub fn unknown() -> Self {
        Self::default()
    }
}

impl ArtifactDraft {
    /// An artifact of a kind, without label, digest, parents or an end of its own.
    #[must_use]
    pub fn new(kind: ArtifactKind) -> Self {
        Self {
            kind,
            media_type: None,
            label: None,
            expires: None,
            digest: false,
            origin: ArtifactOrigin::default(),
            parents: Vec::new(),
        }
    }

    /// Sets the media type. Defaults to that of the payload's shape.
    #[must_use]
    pub fn media_type(mut self, media_type: impl Into<String>) -> Self {
        self.media_type = Some(media_type.into());
        self
    }

    /// Sets a line for people and models.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }

    /// Sets from when on it shall be gone. Must lie in the future.
    #[must_use]
    pub fn expires(mut self, at: SystemTime) -> Self {
        self.expires = Some(at);
        self
    }

    /// Has the digest taken, and verified whenever the artifact is got.
    #[must_use]
    pub fn with_digest(mut self) -> Self {
        self.digest = true;
        self
    }

    /// Names the artifacts that it is made of. They must be there, in the same scope, and are not
    /// swept to make room for it.
    #[must_use]
    pub fn parents(mut self, parents: impl IntoIterator<Item = ArtifactRef>) -> Self {
        self.parents = parents.into_iter().collect();
        self
    }

    /// Sets where it comes from. A tool need not: what it puts through its context is stamped.
    #[must_use]
    pub fn origin(mut self, origin: ArtifactOrigin) -> Self {
        self.origin = origin;
        self
    }
}
