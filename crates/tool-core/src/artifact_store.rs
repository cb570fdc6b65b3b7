//! Where artifacts are kept.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::SystemTime;

use bytes::Bytes;

use crate::{
    Artifact, ArtifactDraft, ArtifactError, ArtifactErrorKind, ArtifactKind, ArtifactMeta,
    ArtifactRef, BoxFuture, Facts, Payload,
};

/// Where artifacts are kept.
///
/// A reference opens nothing without the facts of the caller whose artifact it is: the scope is
/// that of [`ArtifactScope::of`](crate::ArtifactScope::of). An artifact that is missing, one that
/// has expired and another caller's are the same absence, and no error.
///
/// Only [`get`](Self::get) must be written. A store that tools put into overrides the rest; one
/// that really streams overrides [`streams`](Self::streams) too. What a store promises is run as
/// tests by the conformance suite of `tool-testkit`.
#[diagnostic::on_unimplemented(message = "`{Self}` does not keep artifacts")]
pub trait ArtifactStore: Send + Sync {
    /// Gets an artifact. `None` for one that is missing, expired or another caller's: these are
    /// told apart to nobody.
    ///
    /// # Errors
    /// [`ArtifactErrorKind::Integrity`] when it was put with a digest and has another now.
    ///
    /// # Cancel safety
    /// Dropping the future changes nothing.
    fn get<'a>(
        &'a self,
        facts: &'a Facts,
        reference: &'a str,
    ) -> BoxFuture<'a, Result<Option<Artifact>, ArtifactError>>;

    /// What is known of an artifact. Answers also for one whose bytes are damaged. By default it is
    /// got, and little is known: override it where more is.
    ///
    /// # Cancel safety
    /// Dropping the future changes nothing.
    fn head<'a>(
        &'a self,
        facts: &'a Facts,
        reference: &'a str,
    ) -> BoxFuture<'a, Result<Option<ArtifactMeta>, ArtifactError>> {
        Box::pin(async move {
            let found = self.get(facts, reference).await?;
            Ok(found.map(|artifact| {
                let media_type = artifact.payload.media_type();
                let bytes = artifact.payload.to_bytes().len() as u64;
                let created = SystemTime::UNIX_EPOCH;
                ArtifactMeta::new(reference.into(), artifact.kind, media_type, bytes, created)
            }))
        })
    }

    /// Keeps a payload and mints its reference.
    ///
    /// Parents are proven in the same scope and stay while it is put. What has to leave to make
    /// room leaves only when the new one is in. Nothing is kept of what is refused, and no
    /// reference is used up. What is kept is detached from the caller's copy.
    ///
    /// # Errors
    /// [`ArtifactErrorKind`] says which; by default it is `Unsupported`.
    ///
    /// # Cancel safety
    /// When the future is dropped the artifact is whole or not there.
    fn put<'a>(
        &'a self,
        facts: &'a Facts,
        draft: ArtifactDraft,
        payload: Payload,
    ) -> BoxFuture<'a, Result<Kept, ArtifactError>> {
        let _ = (facts, draft, payload);
        unsupported("takes no artifacts in")
    }

    /// Removes an artifact. One that is not there, and another caller's, is agreed to.
    ///
    /// # Cancel safety
    /// When the future is dropped the artifact may or may not be gone.
    fn delete<'a>(
        &'a self,
        facts: &'a Facts,
        reference: &'a str,
    ) -> BoxFuture<'a, Result<(), ArtifactError>> {
        let _ = (facts, reference);
        unsupported("removes no artifacts")
    }

    /// Takes note that nobody will ever learn of an artifact: the call for which it was put was
    /// dropped, ran out of time or broke before anybody saw its reference. One that is not there,
    /// and another caller's, is agreed to. From here on it is neither got nor listed; its bytes may
    /// stay until the store is swept. Override it where artifacts can be removed; by default nothing
    /// happens and the artifact expires as others do.
    ///
    /// Called from destructors: it must return at once and must not block.
    fn forget(&self, facts: &Facts, reference: &str) {
        let _ = (facts, reference);
    }

    /// Lists the artifacts of a scope, the newest first.
    ///
    /// A cursor names a place in that order and not a count, so that what is put or removed between
    /// two pages neither hides nor repeats anything.
    ///
    /// # Errors
    /// [`ArtifactErrorKind::Invalid`] for a cursor that is none.
    ///
    /// # Cancel safety
    /// Dropping the future changes nothing.
    fn list<'a>(
        &'a self,
        facts: &'a Facts,
        query: ArtifactQuery,
    ) -> BoxFuture<'a, Result<ArtifactPage, ArtifactError>> {
        let _ = (facts, query);
        unsupported("lists no artifacts")
    }

    /// The same store, where it takes and gives payloads in pieces; `None` where that would mean
    /// to hold the whole in memory. Override it where it does not.
    fn streams(&self) -> Option<&dyn StreamingArtifacts> {
        None
    }
}

/// An artifact store that takes and gives payloads in pieces.
pub trait StreamingArtifacts: Send + Sync {
    /// Keeps the bytes of a stream, as [`ArtifactStore::put`] does those of a payload. What has to
    /// leave is planned by the declared bytes and leaves when all of them are in.
    ///
    /// # Errors
    /// As [`ArtifactStore::put`]; [`ArtifactErrorKind::Invalid`] too when the stream has other than
    /// the declared bytes, and [`ArtifactErrorKind::Io`] when it fails itself.
    ///
    /// # Cancel safety
    /// When the future is dropped the artifact is whole or not there.
    fn put_stream<'a>(
        &'a self,
        facts: &'a Facts,
        draft: ArtifactDraft,
        bytes: u64,
        stream: ByteStream<'a>,
    ) -> BoxFuture<'a, Result<Kept, ArtifactError>>;

    /// Gets an artifact in pieces, of whatever shape it was put. The digest is not verified, as the
    /// first pieces are gone when the last is read; the meta still has it.
    ///
    /// # Cancel safety
    /// Dropping the future or the stream changes nothing.
    fn get_stream<'a>(
        &'a self,
        facts: &'a Facts,
        reference: &'a str,
    ) -> BoxFuture<'a, Result<Option<(ArtifactMeta, ByteStream<'static>)>, ArtifactError>>;
}

/// Bytes that come in pieces. A piece may have any length, none included.
pub type ByteStream<'a> =
    futures_core::stream::BoxStream<'a, Result<Bytes, Box<dyn std::error::Error + Send + Sync>>>;

/// What a put came to.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Kept {
    /// What is known of the artifact, its reference first of all.
    pub meta: ArtifactMeta,
    /// What left.
    pub swept: Vec<SweptArtifact>,
}

/// An artifact that left its store.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SweptArtifact {
    /// Its reference.
    pub reference: ArtifactRef,
    /// Its kind.
    pub kind: ArtifactKind,
    /// Its bytes.
    pub bytes: u64,
    /// Why it left.
    pub reason: SweepReason,
}

/// Why an artifact left its store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SweepReason {
    /// It had its time.
    Expired,
    /// There were too many.
    Count,
    /// They were too large together.
    Bytes,
}

/// Which artifacts to list.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ArtifactQuery {
    /// The most to be given. `None` for [`DEFAULT`](Self::DEFAULT).
    pub limit: Option<NonZeroUsize>,
    /// Those after this cursor, which the page before gave out.
    pub after: Option<String>,
    /// Those of this kind.
    pub kind: Option<ArtifactKind>,
}

/// Some artifacts of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ArtifactPage {
    /// The artifacts, the newest first.
    pub artifacts: Vec<ArtifactMeta>,
    /// Where the next page begins; absent after the last.
    pub next: Option<String>,
}

impl Kept {
    /// An artifact that was kept, and what left for it.
    #[must_use]
    pub fn new(meta: ArtifactMeta, swept: Vec<SweptArtifact>) -> Self {
        Self { meta, swept }
    }
}

impl SweptArtifact {
    /// An artifact that left.
    #[must_use]
    pub fn new(
        reference: ArtifactRef,
        kind: ArtifactKind,
        bytes: u64,
        reason: SweepReason,
    ) -> Self {
        Self {
            reference,
            kind,
            bytes,
            reason,
        }
    }
}

impl ArtifactQuery {
    /// How many are listed unless said otherwise.
    pub const DEFAULT: NonZeroUsize = NonZeroUsize::new(50).unwrap();

    /// The newest of all kinds.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the most to be given. Defaults to [`DEFAULT`](Self::DEFAULT).
    #[must_use]
    pub fn limit(mut self, limit: NonZeroUsize) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Goes on after a cursor.
    #[must_use]
    pub fn after(mut self, cursor: Option<String>) -> Self {
        self.after = cursor;
        self
    }

    /// Only those of a kind.
    #[must_use]
    pub fn kind(mut self, kind: ArtifactKind) -> Self {
        self.kind = Some(kind);
        self
    }
}

impl ArtifactPage {
    /// A page, and where the next one begins.
    #[must_use]
    pub fn new(artifacts: Vec<ArtifactMeta>, next: Option<String>) -> Self {
        Self { artifacts, next }
    }
}

fn unsupported<'a, T>(what: &'static str) -> BoxFuture<'a, Result<T, ArtifactError>> {
    Box::pin(async move {
        Err(ArtifactError::of(
            ArtifactErrorKind::Unsupported,
            format!("artifact store {what}"),
        ))
    })
}

impl<S: ArtifactStore + ?Sized> ArtifactStore for Arc<S> {
    fn get<'a>(
        &'a self,
        facts: &'a Facts,
        reference: &'a str,
    ) -> BoxFuture<'a, Result<Option<Artifact>, ArtifactError>> {
        (**self).get(facts, reference)
    }

    fn head<'a>(
        &'a self,
        facts: &'a Facts,
        reference: &'a str,
    ) -> BoxFuture<'a, Result<Option<ArtifactMeta>, ArtifactError>> {
        (**self).head(facts, reference)
    }

    fn put<'a>(
        &'a self,
        facts: &'a Facts,
        draft: ArtifactDraft,
        payload: Payload,
    ) -> BoxFuture<'a, Result<Kept, ArtifactError>> {
        (**self).put(facts, draft, payload)
    }

    fn delete<'a>(
        &'a self,
        facts: &'a Facts,
        reference: &'a str,
    ) -> BoxFuture<'a, Result<(), ArtifactError>> {
        (**self).delete(facts, reference)
    }

    fn forget(&self, facts: &Facts, reference: &str) {
        (**self).forget(facts, reference);
    }

    fn list<'a>(
        &'a self,
        facts: &'a Facts,
        query: ArtifactQuery,
    ) -> BoxFuture<'a, Result<ArtifactPage, ArtifactError>> {
        (**self).list(facts, query)
    }

    fn streams(&self) -> Option<&dyn StreamingArtifacts> {
        (**self).streams()
    }
}
