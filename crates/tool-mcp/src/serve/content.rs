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
            told(&mut block, text.annotations, text.meta);
            if text.by == Speaker::Runtime {
                let meta = block.entry("_meta").or_insert_with(|| json!({}));
                if let Value::Object(meta) = meta {
                    put(meta, BY, text.by.as_str());
                }
            }
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
    if let Some(Value::Object(meta)) = block.get_mut("_meta")
        && meta.remove(BY).is_some()
        && meta.is_empty()
    {
        block.remove("_meta");
    }
    put(&mut block, "type", "resource_link");
    put(&mut block, "uri", link.uri);
    put(&mut block, "name", link.name);
    block.into()
}

/// Writes what programs are told beside a block. Who says it is this gateway's to tell, and no
/// tool's.
fn told(
    block: &mut Map<String, Value>,
    annotations: Option<Box<Map<String, Value>>>,
    meta: Option<Box<Map<String, Value>>>,
) {
    if let Some(annotations) = annotations {
        put(block, "annotations", *annotations);
    }
    if let Some(mut meta) = meta {
        let was_claimed = meta.remove(BY).is_some();
        if !was_claimed || !meta.is_empty() {
            put(block, "_meta", *meta);
        }
    }
}

fn put(block: &mut Map<String, Value>, key: &str, value: impl Into<Value>) {
    block.insert(key.to_owned(), value.into());
}

/// A block that this version of the vocabulary does not have yet.
fn unknown() -> Value {
    json!({"type": "text", "text": "[content that cannot be shown here]"})
}
