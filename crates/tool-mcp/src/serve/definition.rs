//! From a tool to what a client is told.

use serde_json::{Map, Value, json};
use tool_core::{Annotations, Declarations, RepeatedWhen};
use tool_registry::Entry;

use crate::wire::DECLARATIONS;

/// What a client is told of a tool. Hints that are all as the protocol assumes them are left out,
/// and so is output that is no object for a client that could not take it.
pub(crate) fn advertise(entry: &Entry, takes_any_output: bool) -> Value {
    let definition = entry.definition();
    let mut tool = Map::new();
    let mut put = |key: &str, value: Value| tool.insert(key.to_owned(), value);
    put("name", definition.name.as_str().into());
    if let Some(title) = &definition.annotations.title {
        put("title", title.as_str().into());
    }
    put("description", definition.description.as_str().into());
    put("inputSchema", definition.input.as_value().clone());
    if let Some(output) = &definition.output {
        let output = output.as_value();
        let is_object = output.get("type").is_some_and(|kind| kind == "object");
        if takes_any_output || is_object {
            put("outputSchema", output.clone());
        }
    }
    if let Some(hints) = hints(&definition.annotations) {
        put("annotations", hints);
    }
    let declarations = entry.tool().declarations();
    if !declarations.icons.is_empty() {
        put("icons", declarations.icons.clone().into());
    }
    let mut meta = declarations.meta.clone();
    // Only what is declared here is said in our name.
    meta.remove(DECLARATIONS);
    if let Some(declared) = declared(declarations) {
        meta.insert(DECLARATIONS.to_owned(), declared.into());
    }
    if !meta.is_empty() {
        put("_meta", meta.into());
    }
    tool.into()
}

fn hints(annotations: &Annotations) -> Option<Value> {
    let assumed = Annotations::default();
    let hints = |of: &Annotations| (of.read_only, of.destructive, of.idempotent, of.open_world);
    (hints(annotations) != hints(&assumed)).then(|| {
        json!({
            "readOnlyHint": annotations.read_only,
            "destructiveHint": annotations.destructive,
            "idempotentHint": annotations.idempotent,
            "openWorldHint": annotations.open_world,
        })
    })
}

/// What a client can check by itself: facts about a tool and its results. Nothing that governs
/// how a call runs travels, as that is decided here.
fn declared(declarations: &Declarations) -> Option<Map<String, Value>> {
    let mut declared = Map::new();
    let mut put = |key: &str, value: Value| declared.insert(key.to_owned(), value);
    if let Some(ceiling) = declarations.ceiling {
        let mut told = json!({"maxChars": ceiling});
        if let (Some(names), Some(members)) = (&declarations.narrow_by, told.as_object_mut()) {
            members.insert("narrowBy".to_owned(), json!(names));
        }
        put("resultCeiling", told);
    }
    if let Some(class) = &declarations.result_class {
        put("resultClass", json!(class));
    }
    if let Some(kind) = &declarations.result_kind {
        put("resultKind", kind.to_string().into());
    }
    if let Some(columns) = &declarations.result_columns {
        let columns: Map<String, Value> = columns
            .iter()
            .map(|(name, column)| {
                let told = json!({"type": column.kind, "nullable": column.nullable});
                (name.clone(), told)
            })
            .collect();
        put("resultColumns", columns.into());
    }
    if let Some(owner) = &declarations.owner {
        put("owner", json!({"kind": owner.kind, "id": owner.id}));
    }
    if let Some(names) = &declarations.arguments_from {
        put("argumentsFrom", json!(names));
    }
    if let Some(names) = &declarations.composed_of {
        put("composedOf", json!(names));
    }
    if let Some(gates) = declarations.gates {
        put("gates", gates.into());
    }
    if declarations.repeated_when == RepeatedWhen::Arguments {
        put("repeatedWhen", "arguments".into());
    }
    (!declared.is_empty()).then_some(declared)
}
