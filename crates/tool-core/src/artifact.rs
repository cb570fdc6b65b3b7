//! Data that tools pass to each other by reference.

use std::fmt;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use serde_json::Value;

/// The kind of an artifact. Kinds match exactly or not at all.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ArtifactKind(Arc<str>);

/// An artifact with its data.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Artifact {
    /// What kind of data it is.
    pub kind: ArtifactKind,
    /// The data.
    pub payload: Payload,
}

/// The data of an artifact. A store gives back the shape that it was given.
#[derive(Clone, PartialEq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a further shape must break every store that keeps them"
)]
pub enum Payload {
    /// Text.
    Text(String),
    /// Bytes.
    Binary(Bytes),
    /// JSON.
    Json(Value),
}

impl ArtifactKind {
    /// A kind of that word, or `None` when the word is blank.
    #[must_use]
    pub fn new(word: &str) -> Option<Self> {
        if word.trim().is_empty() {
            None
        } else {
            Some(Self(word.into()))
        }
    }

    /// The word.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Artifact {
    /// An artifact of a kind.
    pub fn new(kind: ArtifactKind, payload: impl Into<Payload>) -> Self {
        Self {
            kind,
            payload: payload.into(),
        }
    }
}

impl Payload {
    /// The media type unless another is said: `text/plain`, `application/octet-stream` or
    /// `application/json`.
    #[must_use]
    pub fn media_type(&self) -> &'static str {
        match self {
            Self::Text(_) => "text/plain",
            Self::Binary(_) => "application/octet-stream",
            Self::Json(_) => "application/json",
        }
    }

    /// The bytes that it is measured, digested and stored as: UTF-8 of a text, compact JSON in the
    /// order of its keys, bytes as they are.
    #[must_use]
    pub fn to_bytes(&self) -> Bytes {
        match self {
            Self::Text(text) => Bytes::copy_from_slice(text.as_bytes()),
            Self::Binary(bytes) => bytes.clone(),
            Self::Json(value) => value.to_string().into(),
        }
    }

    /// The data as a handler is given it in place of a reference: JSON as it is, a text as a
    /// string, bytes as a string of their base64.
    #[must_use]
    pub fn into_value(self) -> Value {
        match self {
            Self::Text(text) => Value::String(text),
            Self::Binary(bytes) => Value::String(STANDARD.encode(bytes)),
            Self::Json(value) => value,
        }
    }
}

impl From<Value> for Payload {
    fn from(value: Value) -> Self {
        Self::Json(value)
    }
}

impl From<&str> for Payload {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Payload {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Bytes> for Payload {
    fn from(bytes: Bytes) -> Self {
        Self::Binary(bytes)
    }
}

impl From<Vec<u8>> for Payload {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Binary(bytes.into())
    }
}

/// Shows the shape alone: a payload may be large, and secret.
impl fmt::Debug for Payload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Text(_) => "Text(..)",
            Self::Binary(_) => "Binary(..)",
            Self::Json(_) => "Json(..)",
        })
    }
}

impl fmt::Display for ArtifactKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
