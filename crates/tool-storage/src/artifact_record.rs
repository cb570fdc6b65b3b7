//! What is written beside an artifact, so that it outlives the process.

use std::io::{Read, Seek};

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use tool_core::{
    ArtifactError, ArtifactErrorKind, ArtifactKind, ArtifactMeta, ArtifactOrigin, ArtifactRef,
    ArtifactScope, Digest, Payload,
};

use crate::clock::{micros, time};
use crate::footer::{self, Magic, RecordError};

/// The record of an artifact. Its file is the bytes of the payload, then this as a
/// [footer](footer::encode) with the magic `toolart1`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ArtifactRecord {
    reference: String,
    /// The key of the scope.
    scope: String,
    kind: String,
    media_type: String,
    shape: Shape,
    bytes: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    label: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    digest: Option<String>,
    /// Microseconds since 1970.
    created_us: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expires_us: Option<u64>,
    #[serde(default)]
    origin: ArtifactOrigin,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    parents: Vec<String>,
}

/// The shape of a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Shape {
    Text,
    Binary,
    Json,
}

impl Shape {
    pub(crate) fn of(payload: &Payload) -> Self {
        match payload {
            Payload::Text(_) => Self::Text,
            Payload::Binary(_) => Self::Binary,
            Payload::Json(_) => Self::Json,
        }
    }

    /// The payload of that shape that some bytes are, if they are those that were put.
    pub(crate) fn payload(
        self,
        bytes: Bytes,
        meta: &ArtifactMeta,
    ) -> Result<Payload, ArtifactError> {
        if let Some(expected) = &meta.digest {
            let actual = Digest::of(&bytes).to_string();
            if actual != *expected {
                return Err(ArtifactError::integrity(&meta.reference, expected, &actual));
            }
        }
        match self {
            Self::Binary => Ok(Payload::Binary(bytes)),
            Self::Text => String::from_utf8(bytes.into())
                .map(Payload::from)
                .map_err(|_| damaged(&meta.reference)),
            Self::Json => serde_json::from_slice(&bytes)
                .map(Payload::Json)
                .map_err(|_| damaged(&meta.reference)),
        }
    }
}

/// An artifact whose file does not read.
pub(crate) fn damaged(reference: &ArtifactRef) -> ArtifactError {
    let detail = format!("artifact {reference} is damaged");
    ArtifactError::of(ArtifactErrorKind::Io, detail)
}

impl ArtifactRecord {
    pub(crate) fn new(meta: &ArtifactMeta, scope: &ArtifactScope, shape: Shape) -> Self {
        Self {
            reference: meta.reference.as_str().to_owned(),
            scope: scope.key(),
            kind: meta.kind.as_str().to_owned(),
            media_type: meta.media_type.clone(),
            shape,
            bytes: meta.bytes,
            label: meta.label.clone(),
            digest: meta.digest.clone(),
            created_us: micros(meta.created),
            expires_us: meta.expires.map(micros),
            origin: meta.origin.clone(),
            parents: meta
                .parents
                .iter()
                .map(|parent| parent.as_str().to_owned())
                .collect(),
        }
    }

    pub(crate) fn encode(&self) -> std::io::Result<Vec<u8>> {
        footer::encode(self, MAGIC)
    }

    /// Reads the record at the end of a file and checks that it belongs there, by its scope and by
    /// whether its reference is one that has the file's name.
    pub(crate) fn read(
        file: &mut (impl Read + Seek),
        has_name: impl Fn(&ArtifactRef) -> bool,
        scope: &ArtifactScope,
    ) -> Result<(ArtifactMeta, Shape), RecordError> {
        let (record, bytes): (Self, u64) = footer::read(file, MAGIC)?;
        if record.bytes != bytes {
            return Err(RecordError::Damaged(
                "the artifact is not as long as recorded",
            ));
        }
        let reference = ArtifactRef::parse(&record.reference)
            .filter(|reference| has_name(reference) && record.scope == scope.key())
            .ok_or(RecordError::Damaged("the record is another artifact's"))?;
        let kind = ArtifactKind::new(&record.kind)
            .ok_or(RecordError::Damaged("the artifact has a blank kind"))?;
        let mut meta = ArtifactMeta::new(
            reference,
            kind,
            record.media_type,
            bytes,
            time(record.created_us),
        );
        meta.label = record.label;
        meta.digest = record.digest;
        meta.expires = record.expires_us.map(time);
        meta.origin = record.origin;
        meta.parents = record
            .parents
            .iter()
            .map(|parent| ArtifactRef::from(&**parent))
            .collect();
        Ok((meta, record.shape))
    }
}

/// The name of an artifact's file: not the reference itself, which tells letters by their case as
/// some file systems do not, and which a name would give away.
pub(crate) fn file_name(reference: &ArtifactRef) -> String {
    Digest::of(reference.as_str().as_bytes()).hex()
}

/// Whether a file of that name may be an artifact's, and a directory a scope's.
pub(crate) fn is_file_name(name: &str) -> bool {
    name.len() == 64
        && name
            .bytes()
            .all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
}

const MAGIC: &Magic = b"toolart1";
