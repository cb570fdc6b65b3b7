//! From a definition to what a client is told.

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::Value;
use tool_core::{Annotations, Definition, Schema};

/// What a client is told of a tool. Hints that are all as the protocol assumes them are left out.
pub(crate) fn advertise(definition: &Definition) -> Tool {
    let mut tool = Tool::new(
        definition.name.to_string(),
        definition.description.clone(),
        object(&definition.input).unwrap_or_default(),
    );
    tool.output_schema = definition.output.as_ref().and_then(object);
    tool.title = definition.annotations.title.clone();
    tool.annotations = hints(&definition.annotations);
    tool
}

fn object(schema: &Schema) -> Option<Arc<JsonObject>> {
    match schema.as_value() {
        Value::Object(schema) => Some(Arc::new(schema.clone())),
        _ => None,
    }
}

fn hints(annotations: &Annotations) -> Option<ToolAnnotations> {
    let assumed = Annotations::default();
    let hints = |of: &Annotations| (of.read_only, of.destructive, of.idempotent, of.open_world);
    (hints(annotations) != hints(&assumed)).then(|| {
        ToolAnnotations::new()
            .read_only(annotations.read_only)
            .destructive(annotations.destructive)
            .idempotent(annotations.idempotent)
            .open_world(annotations.open_world)
    })
}
