//! What of a tool is trusted.

use serde_json::{Map, Value, json};

use crate::wire::DECLARATIONS;

/// What is trusted of a tool: all that its server lists but what is for programs alone and may be
/// another each time. What it declares is not: it says how results are dealt with.
pub(crate) fn pinned(entry: &Value) -> Option<(String, Value)> {
    let entry = entry.as_object()?;
    let name = entry.get("name")?.as_str()?.to_owned();
    let kept: Map<String, Value> = entry
        .iter()
        .filter_map(|(key, value)| {
            let value = match key.as_str() {
                "_meta" => json!({DECLARATIONS: value.get(DECLARATIONS)?}),
                _ => value.clone(),
            };
            Some((key.clone(), value))
        })
        .collect();
    Some((name, Value::Object(kept)))
}
