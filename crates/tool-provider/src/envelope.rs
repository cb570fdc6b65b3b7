//! What stands around a schema in a request.

use serde_json::{Map, Value, json};
use tool_core::Definition;

use crate::rules::{Envelope, Rules};

/// The whole definition of a tool.
pub(crate) fn envelope(
    definition: &Definition,
    rules: &Rules,
    description: &str,
    schema: &Value,
) -> Value {
    let name = definition.name.as_str();
    let mut tool = Map::new();
    tool.insert("name".to_owned(), name.into());
    tool.insert("description".to_owned(), description.into());
    let mut put = |key: &str, value: Value| {
        tool.insert(key.to_owned(), value);
    };
    match rules.envelope {
        Envelope::Anthropic => {
            put("input_schema", schema.clone());
            if rules.strict {
                put("strict", true.into());
            }
        }
        Envelope::Chat => {
            put("parameters", schema.clone());
            if rules.strict {
                put("strict", true.into());
            }
            return json!({"type": "function", "function": tool});
        }
        Envelope::Responses => {
            put("type", "function".into());
            put("parameters", schema.clone());
            // Left out, it is on.
            put("strict", rules.strict.into());
        }
        Envelope::Gemini => {
            if description.is_empty() {
                put("description", name.into());
            }
            if schema.get("properties").is_some() {
                put("parameters", schema.clone());
            }
        }
        Envelope::GeminiJson => {
            if description.is_empty() {
                put("description", name.into());
            }
            put("parametersJsonSchema", schema.clone());
        }
        Envelope::Mcp => put("inputSchema", schema.clone()),
    }
    tool.into()
}
