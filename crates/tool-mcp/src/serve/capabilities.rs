//! What a client can be asked for.

use serde_json::{Map, Value};

/// What a client said that it can be asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Capabilities {
    pub(crate) forms: bool,
    pub(crate) pages: bool,
    pub(crate) sampling: bool,
    pub(crate) roots: bool,
}

impl Capabilities {
    pub(crate) fn of(declared: &Map<String, Value>) -> Self {
        let has = |name| declared.get(name).is_some_and(Value::is_object);
        let elicitation = declared.get("elicitation").and_then(Value::as_object);
        Self {
            // One that names no way can do what there was before there were several.
            forms: elicitation.is_some_and(|ways| ways.is_empty() || ways.contains_key("form")),
            pages: elicitation.is_some_and(|ways| ways.contains_key("url")),
            sampling: has("sampling"),
            roots: has("roots"),
        }
    }
}
