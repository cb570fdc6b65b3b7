//! Content blocks of a settlement.

use rmcp::model::{
    Annotations, AudioContent, ContentBlock, EmbeddedResource, ImageContent, JsonObject,
    MetaObject, Resource, ResourceContents, TextContent,
};
use tool_core::{Content, EmbeddedBody, Link, MediaKind};

use crate::wire::base64;

/// Writes one block of a settlement.
///
/// The protocol library holds annotations and links in types of its own: members that it does not
/// know are left out.
pub(crate) fn to_block(content: Content) -> ContentBlock {
    match content {
        Content::Text(text) => {
            let mut block = TextContent::new(text.text);
            block.annotations = annotations(text.annotations);
            block.meta = text.meta.map(MetaObject);
            ContentBlock::Text(block)
        }
        Content::Media(media) => {
            let data = base64::encode(&media.data);
            let annotations = annotations(media.annotations);
            let meta = media.meta.map(MetaObject);
            if media.kind == MediaKind::Audio {
                let mut block = AudioContent::new(data, media.mime);
                (block.annotations, block.meta) = (annotations, meta);
                ContentBlock::Audio(block)
            } else {
                let mut block = ImageContent::new(data, media.mime);
                (block.annotations, block.meta) = (annotations, meta);
                ContentBlock::Image(block)
            }
        }
        Content::Embedded(embedded) => {
            let meta = embedded.resource_meta.map(MetaObject);
            let (uri, mime_type) = (embedded.uri, embedded.mime);
            let resource = match embedded.body {
                EmbeddedBody::Blob(blob) => ResourceContents::BlobResourceContents {
                    uri,
                    mime_type,
                    blob: base64::encode(&blob),
                    meta,
                },
                EmbeddedBody::Text(text) => ResourceContents::TextResourceContents {
                    uri,
                    mime_type,
                    text,
                    meta,
                },
                _ => return unknown(),
            };
            let mut block = EmbeddedResource::new(resource);
            block.annotations = annotations(embedded.annotations);
            block.meta = embedded.meta.map(MetaObject);
            ContentBlock::Resource(block)
        }
        Content::Link(link) => ContentBlock::ResourceLink(resource(link)),
        _ => unknown(),
    }
}

fn resource(link: Link) -> Resource {
    let Link {
        uri, name, rest, ..
    } = link;
    // Each member is read for itself, so that one that does not fit takes no other with it.
    let mut resource = Resource::new(uri, name);
    let mut rest = rest;
    resource.title = member(&mut rest, "title");
    resource.description = member(&mut rest, "description");
    resource.mime_type = member(&mut rest, "mimeType");
    resource.size = member(&mut rest, "size");
    resource.icons = member(&mut rest, "icons");
    resource.annotations = member(&mut rest, "annotations");
    resource.meta = member(&mut rest, "_meta");
    resource
}

fn annotations(mut map: Option<JsonObject>) -> Option<Annotations> {
    let map = map.as_mut()?;
    let mut annotations = Annotations::default();
    annotations.audience = member(map, "audience");
    annotations.priority = member(map, "priority");
    annotations.last_modified = member(map, "lastModified");
    Some(annotations)
}

fn member<T: serde::de::DeserializeOwned>(map: &mut JsonObject, key: &str) -> Option<T> {
    serde_json::from_value(map.remove(key)?).ok()
}

/// A block that this version of the vocabulary does not have yet.
fn unknown() -> ContentBlock {
    ContentBlock::text("[content that cannot be shown here]")
}
