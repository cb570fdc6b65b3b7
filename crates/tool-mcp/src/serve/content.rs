//! Content blocks of a settlement.

use serde_json::{Map, Value, json};
use tool_core::{Content, EmbeddedBody, Link, MediaKind, Speaker};

use crate::wire::base64;

/// The key of `_meta` under which a client finds that a text is the runtime's own, as `runtime`.
const BY: &str = "tool-runtime/by";

/// Writes one block of a settlement, whole.
pub(crate) fn to_block(content: Content) -> Value {
    let mut block = Map::new();
    match content {
        Content::Text(text) => {
            put(&mut block, "type", "text");
            put(&mut block, "text", text.text);
            let meta = with_speaker(text.meta, text.by);
            told(&mut block, text.annotations, meta);
        }
        Content::Media(media) => {
            let kind = match media.kind {
                MediaKind::Audio => "audio",
                _ => "image",
            };
            put(&mut block, "type", kind);
            put(&mut block, "data", base64::encode(&media.data));
            put(&mut block, "mimeType", media.mime);
            told(&mut block, media.annotations, media.meta);
        }
        Content::Embedded(embedded) => {
            let mut resource = Map::new();
            put(&mut resource, "uri", embedded.uri);
            if let Some(mime) = embedded.mime {
                put(&mut resource, "mimeType", mime);
            }
            match embedded.body {
                EmbeddedBody::Blob(blob) => put(&mut resource, "blob", base64::encode(&blob)),
                EmbeddedBody::Text(text) => put(&mut resource, "text", text),
                _ => return unknown(),
            }
            told(&mut resource, None, embedded.resource_meta);
            put(&mut block, "type", "resource");
            put(&mut block, "resource", resource);
            told(&mut block, embedded.annotations, embedded.meta);
        }
        Content::Link(link) => return link_block(link),
        _ => return unknown(),
    }
    block.into()
}

fn link_block(link: Link) -> Value {
    let mut block = link.rest;
    put(&mut block, "type", "resource_link");
    put(&mut block, "uri", link.uri);
    put(&mut block, "name", link.name);
    block.into()
}

fn told(
    block: &mut Map<String, Value>,
    annotations: Option<Map<String, Value>>,
    meta: Option<Map<String, Value>>,
) {
    if let Some(annotations) = annotations {
        put(block, "annotations", annotations);
    }
    if let Some(meta) = meta {
        put(block, "_meta", meta);
    }
}

/// What programs are told of a text: who says it is this gateway's to tell, and no tool's.
fn with_speaker(meta: Option<Map<String, Value>>, by: Speaker) -> Option<Map<String, Value>> {
    let says = (by == Speaker::Runtime).then(|| Value::from(by.as_str()));
    if says.is_none() && !meta.as_ref().is_some_and(|meta| meta.contains_key(BY)) {
        return meta;
    }
    let mut meta = meta.unwrap_or_default();
    match says {
        Some(says) => meta.insert(BY.to_owned(), says),
        None => meta.remove(BY),
    };
    (!meta.is_empty()).then_some(meta)
}

fn put(block: &mut Map<String, Value>, key: &str, value: impl Into<Value>) {
    block.insert(key.to_owned(), value.into());
}

/// A block that this version of the vocabulary does not have yet.
fn unknown() -> Value {
    json!({"type": "text", "text": "[content that cannot be shown here]"})
}
