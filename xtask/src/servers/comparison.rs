//! What of a server is compared.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

/// What a server lists, as far as a gateway has to keep it, and what its calls gave.
pub(super) struct Listed {
    pub(super) tools: BTreeMap<String, Value>,
    pub(super) results: Vec<Value>,
}

/// What the protocol assumes of a tool that says nothing.
const ASSUMED: [(&str, bool); 4] = [
    ("readOnlyHint", false),
    ("destructiveHint", true),
    ("idempotentHint", false),
    ("openWorldHint", true),
];

impl Listed {
    /// The tools of which the name begins so.
    pub(super) fn of(tools: Vec<Value>, prefix: &str) -> Self {
        let named = tools.into_iter().filter_map(|tool| {
            let name = tool.get("name")?.as_str()?.strip_prefix(prefix)?.to_owned();
            Some((name, bare_tool(&tool)))
        });
        Self {
            tools: named.collect(),
            results: Vec::new(),
        }
    }

    /// The first thing that is not as it is in the other.
    pub(super) fn difference(&self, other: &Self) -> Option<String> {
        let names = |of: &Self| of.tools.keys().cloned().collect::<Vec<_>>();
        if names(self) != names(other) {
            let (found, expected) = (names(self).join(" "), names(other).join(" "));
            return Some(format!("lists [{found}] and not [{expected}]"));
        }
        for (name, tool) in &self.tools {
            let expected = other.tools.get(name);
            if let Some(expected) = expected.filter(|expected| *expected != tool) {
                return Some(format!("{name} is {tool} and not {expected}"));
            }
        }
        let mut results = self.results.iter().zip(&other.results);
        let (found, expected) = results.find(|(found, expected)| found != expected)?;
        Some(format!("a call gives {found} and not {expected}"))
    }
}

/// A definition without its name: what it says, however it says it.
fn bare_tool(tool: &Value) -> Value {
    let member = |key: &str| tool.get(key).cloned().unwrap_or_default();
    let hints = member("annotations");
    let hints: Map<String, Value> = ASSUMED
        .into_iter()
        .map(|(hint, assumed)| {
            let said = hints.get(hint).and_then(Value::as_bool);
            (hint.to_owned(), said.unwrap_or(assumed).into())
        })
        .collect();
    let title = [tool.get("title"), tool.pointer("/annotations/title")];
    json!({
        "title": title.into_iter().flatten().next(),
        "description": member("description"),
        "inputSchema": member("inputSchema"),
        "outputSchema": member("outputSchema"),
        "hints": hints,
        "icons": member("icons"),
        "_meta": meta(tool.get("_meta")),
    })
}

/// What is said beside, without what each of both says of itself.
fn meta(said: Option<&Value>) -> Map<String, Value> {
    let said = said.and_then(Value::as_object);
    let mut said = said.cloned().unwrap_or_default();
    said.retain(|key, _| {
        let own = ["tool-runtime/", "io.github.tool-runtime/"];
        key != "io.modelcontextprotocol/serverInfo" && !own.iter().any(|own| key.starts_with(own))
    });
    said
}

/// A result as a model or a program reads it, or the error in its place.
pub(super) fn bare_result(mut answer: Value) -> Value {
    let mut member = |pointer: &str| answer.pointer_mut(pointer).map(Value::take);
    let is_error = member("/result/isError").unwrap_or_default();
    let said = member("/result/_meta");
    json!({
        "content": member("/result/content"),
        "structuredContent": member("/result/structuredContent"),
        "isError": is_error == true,
        "_meta": meta(said.as_ref()),
        "error": member("/error/code"),
    })
}
