//! What a model is shown.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// One block of model-facing content.
///
/// Blocks keep their order. `annotations` and `meta` of a block are carried as they came and mean
/// nothing to the runtime.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Content {
    /// Text.
    Text(Text),
    /// An image or a sound.
    Media(Media),
    /// A resource with its body.
    Embedded(Embedded),
    /// A resource by its address.
    Link(Link),
}

/// Text, bounded by the runtime before a model sees it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Text {
    /// The text.
    pub text: String,
    /// Hints for display, as they came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Box<Map<String, Value>>>,
    /// Data for programs, as it came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Box<Map<String, Value>>>,
    /// Who says it. It is told to others, and read from none.
    #[serde(
        default,
        skip_serializing_if = "Speaker::is_producer",
        skip_deserializing
    )]
    pub by: Speaker,
}

/// Who says what a text says.
///
/// What the runtime says of a result, such as that a part was left out, stands among the tool's own
/// texts. A tool can print the same words, and of a result that is kept nowhere no id tells; this
/// tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Speaker {
    /// The tool, or whoever else has made the result. The default.
    #[default]
    Producer,
    /// The runtime, of what the tool has given.
    Runtime,
}

impl Speaker {
    /// `producer` or `runtime`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Producer => "producer",
            Self::Runtime => "runtime",
        }
    }

    #[expect(
        clippy::trivially_copy_pass_by_ref,
        reason = "the form that serde asks for"
    )]
    fn is_producer(&self) -> bool {
        *self == Self::Producer
    }
}

/// Which sense a [`Media`] block is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum MediaKind {
    /// An image.
    Image,
    /// A sound.
    Audio,
}

/// An image or a sound. Its producer bounds it; the runtime passes it unchanged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Media {
    /// Image or sound.
    pub kind: MediaKind,
    /// The MIME type.
    pub mime: String,
    /// The bytes themselves, not an encoding of them.
    #[serde(with = "crate::base64_bytes")]
    pub data: Bytes,
    /// Hints for display, as they came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Box<Map<String, Value>>>,
    /// Data for programs, as it came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Box<Map<String, Value>>>,
}

/// A resource with its body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Embedded {
    /// The address, never followed by the runtime.
    pub uri: String,
    /// The MIME type, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime: Option<String>,
    /// The body.
    pub body: EmbeddedBody,
    /// Hints for display, as they came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Box<Map<String, Value>>>,
    /// Data for programs, as it came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Box<Map<String, Value>>>,
    /// Data for programs that came inside the resource.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource_meta: Option<Box<Map<String, Value>>>,
}

/// The body of an [`Embedded`] resource.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum EmbeddedBody {
    /// Text.
    Text(String),
    /// Bytes.
    Blob(#[serde(with = "crate::base64_bytes")] Bytes),
}

/// A resource by its address.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Link {
    /// The address, never followed by the runtime.
    pub uri: String,
    /// The name for programs.
    pub name: String,
    /// Every other member, as it came.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub rest: Map<String, Value>,
}

impl Content {
    /// A block of text.
    #[inline]
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(Text {
            text: text.into(),
            ..Text::default()
        })
    }

    /// A block of text in which the runtime says something of a result: for stores and registries,
    /// which leave parts of results out.
    pub fn notice(text: impl Into<String>) -> Self {
        Self::Text(Text {
            text: text.into(),
            by: Speaker::Runtime,
            ..Text::default()
        })
    }

    /// A block with an image.
    pub fn image(mime: impl Into<String>, data: impl Into<Bytes>) -> Self {
        Self::Media(Media::new(MediaKind::Image, mime, data))
    }

    /// The base64 of the bytes that this block holds, if it holds any: of media, and of a resource
    /// whose body is no text.
    #[must_use]
    pub fn to_base64(&self) -> Option<String> {
        match self {
            Self::Media(media) => Some(STANDARD.encode(&media.data)),
            Self::Embedded(Embedded {
                body: EmbeddedBody::Blob(blob),
                ..
            }) => Some(STANDARD.encode(blob)),
            _ => None,
        }
    }

    /// The text, if this is a block of text.
    #[inline]
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(&text.text),
            _ => None,
        }
    }
}

impl Media {
    /// A block without annotations.
    pub fn new(kind: MediaKind, mime: impl Into<String>, data: impl Into<Bytes>) -> Self {
        Self {
            kind,
            mime: mime.into(),
            data: data.into(),
            annotations: None,
            meta: None,
        }
    }
}

impl Embedded {
    /// A resource without annotations.
    pub fn new(uri: impl Into<String>, mime: Option<String>, body: EmbeddedBody) -> Self {
        Self {
            uri: uri.into(),
            mime,
            body,
            annotations: None,
            meta: None,
            resource_meta: None,
        }
    }
}

impl Link {
    /// A link with no further member.
    pub fn new(uri: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            name: name.into(),
            rest: Map::new(),
        }
    }
}
