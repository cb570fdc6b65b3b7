//! A settlement as one JSON document.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};
use tool_runtime::core::{
    Content, EmbeddedBody, ErrorChain, MediaKind, Outcome, Settlement, Speaker,
};

/// Everything that came of a call, with the reason as operators read it. Content has the shape that
/// it has in MCP.
pub(crate) fn document(settlement: &Settlement) -> Value {
    let reason = match &settlement.outcome {
        Outcome::Refused(refusal) => {
            Some(json!({"kind": refusal.kind().as_str(), "operator": refusal.operator()}))
        }
        Outcome::Defect(defect) => Some(json!({"operator": ErrorChain::of(defect).to_string()})),
        _ => None,
    };
    json!({
        "tool": settlement.tool,
        "outcome": settlement.outcome.as_str(),
        "isError": settlement.is_error(),
        "reason": reason,
        "content": settlement.content.iter().map(block).collect::<Vec<_>>(),
        "structured": settlement.structured(),
        "retained": settlement.retained,
        "repairs": settlement.repairs.iter()
            .map(|repair| json!({"path": repair.path, "rule": repair.rule.as_str()}))
            .collect::<Vec<_>>(),
    })
}

fn block(content: &Content) -> Value {
    match content {
        Content::Text(text) => {
            let mut block = Block::new("text").with("text", text.text.as_str());
            if text.by == Speaker::Runtime {
                block = block.with("by", text.by.as_str());
            }
            block.carried(text.annotations.as_deref(), text.meta.as_deref())
        }
        Content::Media(media) => {
            let kind = match media.kind {
                MediaKind::Audio => "audio",
                _ => "image",
            };
            Block::new(kind)
                .with("mimeType", media.mime.as_str())
                .with("data", STANDARD.encode(&media.data))
                .carried(media.annotations.as_deref(), media.meta.as_deref())
        }
        Content::Embedded(embedded) => {
            let mut resource = Map::new();
            resource.insert("uri".to_owned(), embedded.uri.as_str().into());
            if let Some(mime) = &embedded.mime {
                resource.insert("mimeType".to_owned(), mime.as_str().into());
            }
            match &embedded.body {
                EmbeddedBody::Text(text) => {
                    resource.insert("text".to_owned(), text.as_str().into())
                }
                EmbeddedBody::Blob(blob) => {
                    resource.insert("blob".to_owned(), STANDARD.encode(blob).into())
                }
                _ => None,
            };
            if let Some(meta) = &embedded.resource_meta {
                resource.insert("_meta".to_owned(), Value::from((**meta).clone()));
            }
            Block::new("resource")
                .with("resource", resource)
                .carried(embedded.annotations.as_deref(), embedded.meta.as_deref())
        }
        Content::Link(link) => {
            let mut block = link.rest.clone();
            block.insert("type".to_owned(), "resource_link".into());
            block.insert("uri".to_owned(), link.uri.as_str().into());
            block.insert("name".to_owned(), link.name.as_str().into());
            block.into()
        }
        _ => Block::new("other").0.into(),
    }
}

/// A block in the making.
struct Block(Map<String, Value>);

impl Block {
    fn new(kind: &str) -> Self {
        Self(Map::from_iter([("type".to_owned(), kind.into())]))
    }

    fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.0.insert(key.to_owned(), value.into());
        self
    }

    /// What was carried as it came.
    fn carried(
        mut self,
        annotations: Option<&Map<String, Value>>,
        meta: Option<&Map<String, Value>>,
    ) -> Value {
        if let Some(annotations) = annotations {
            self = self.with("annotations", annotations.clone());
        }
        if let Some(meta) = meta {
            self = self.with("_meta", meta.clone());
        }
        self.0.into()
    }
}
