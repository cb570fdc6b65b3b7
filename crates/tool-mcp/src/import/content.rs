//! Content blocks of a server's result.

use serde_json::{Map, Value};
use tool_core::{Content, Embedded, EmbeddedBody, Link, Media, MediaKind};

use crate::wire::base64;

/// Reads one block of a server's result.
///
/// A block that cannot be held, of a type that is not known or with data that is no base64, is
/// shown as the JSON that it is: a model can still make something of it, and nothing is lost.
pub(crate) fn from_json(mut block: Value) -> Content {
    take_text(&mut block)
        .or_else(|| read(&block))
        .unwrap_or_else(|| Content::text(block.to_string()))
}

/// Takes a block of text, which may be long and is not copied. Any other is left as it is.
fn take_text(block: &mut Value) -> Option<Content> {
    let members = block.as_object_mut()?;
    if members.get("type")?.as_str()? != "text" || !members.get("text")?.is_string() {
        return None;
    }
    let Some(Value::String(text)) = members.remove("text") else {
        return None;
    };
    let mut content = Content::text(text);
    if let Content::Text(text) = &mut content {
        let mut object = |key| match members.remove(key) {
            Some(Value::Object(object)) => Some(Box::new(object)),
            _ => None,
        };
        text.annotations = object("annotations");
        text.meta = object("_meta");
    }
    Some(content)
}

fn read(block: &Value) -> Option<Content> {
    let text = |key: &str| Some(block.get(key)?.as_str()?.to_owned());
    let content = match block.get("type")?.as_str()? {
        kind @ ("image" | "audio") => {
            let kind = if kind == "image" {
                MediaKind::Image
            } else {
                MediaKind::Audio
            };
            let data = base64::decode(block.get("data")?.as_str()?)?;
            let mut media = Media::new(kind, text("mimeType")?, data);
            media.annotations = object(block, "annotations");
            media.meta = object(block, "_meta");
            Content::Media(media)
        }
        "resource" => {
            let resource = block.get("resource")?;
            let body = match (resource.get("text"), resource.get("blob")) {
                (Some(body), _) => EmbeddedBody::Text(body.as_str()?.to_owned()),
                (None, body) => EmbeddedBody::Blob(base64::decode(body?.as_str()?)?.into()),
            };
            let mime = resource.get("mimeType").and_then(Value::as_str);
            let uri = resource.get("uri")?.as_str()?;
            let mut embedded = Embedded::new(uri, mime.map(str::to_owned), body);
            embedded.annotations = object(block, "annotations");
            embedded.meta = object(block, "_meta");
            embedded.resource_meta = object(resource, "_meta");
            Content::Embedded(embedded)
        }
        "resource_link" => {
            let mut link = Link::new(text("uri")?, text("name")?);
            link.rest = block
                .as_object()?
                .iter()
                .filter(|(key, _)| !matches!(key.as_str(), "type" | "uri" | "name"))
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect();
            Content::Link(link)
        }
        _ => return None,
    };
    Some(content)
}

fn object(value: &Value, key: &str) -> Option<Box<Map<String, Value>>> {
    value.get(key)?.as_object().cloned().map(Box::new)
}
