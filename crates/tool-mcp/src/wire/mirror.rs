//! Headers that repeat what stands in a request, for whoever stands between and reads no bodies.
//!
//! Source: Model Context Protocol 2026-07-28, "Transports", Standard request headers and Custom
//! headers from tool parameters; SEP-2243.

use std::collections::HashSet;

use ::base64::Engine as _;
use ::base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

pub(crate) const VERSION: &str = "mcp-protocol-version";
pub(crate) const METHOD: &str = "mcp-method";
pub(crate) const NAME: &str = "mcp-name";
const PARAM: &str = "Mcp-Param-";
/// The keyword of a schema that names the header of an argument.
const KEYWORD: &str = "x-mcp-header";
/// What stands around a value that a header could not hold as it is.
const PREFIX: &str = "=?base64?";
const SUFFIX: &str = "?=";

/// The parameter of a method that stands in the header of names.
pub(crate) fn name_member(method: &str) -> Option<&'static str> {
    match method {
        "tools/call" | "prompts/get" => Some("name"),
        "resources/read" => Some("uri"),
        _ => None,
    }
}

/// An argument that is repeated in a header: where it stands, and the whole name of the header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mirror {
    path: Vec<String>,
    pub(crate) header: String,
}

/// The arguments that a tool wants repeated, or what is wrong with how it says so, which makes
/// the tool one that cannot be called over HTTP.
pub(crate) fn mirrors(schema: &Value) -> Result<Vec<Mirror>, &'static str> {
    let mut found = Vec::new();
    let Some(root) = schema.as_object() else {
        return Ok(found);
    };
    if root.contains_key(KEYWORD) || astray(root, true) {
        return Err("x-mcp-header stands where no argument is");
    }
    collect(root, &mut Vec::new(), &mut found)?;
    let mut seen = HashSet::new();
    if !found
        .iter()
        .all(|mirror| seen.insert(mirror.header.to_ascii_lowercase()))
    {
        return Err("two of its arguments have the same x-mcp-header");
    }
    Ok(found)
}

fn collect(
    schema: &Map<String, Value>,
    path: &mut Vec<String>,
    found: &mut Vec<Mirror>,
) -> Result<(), &'static str> {
    let Some(Value::Object(properties)) = schema.get("properties") else {
        return Ok(());
    };
    for (name, property) in properties {
        let Some(property) = property.as_object() else {
            continue;
        };
        path.push(name.clone());
        if let Some(header) = property.get(KEYWORD) {
            let header = header.as_str().ok_or("an x-mcp-header is no text")?;
            let token =
                |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
            if header.is_empty() || !header.bytes().all(token) {
                return Err("an x-mcp-header is no name of a header");
            }
            let kind = property.get("type").and_then(Value::as_str);
            if !matches!(kind, Some("string" | "integer" | "boolean")) {
                return Err(
                    "an x-mcp-header is on an argument that is neither text, integer nor boolean",
                );
            }
            found.push(Mirror {
                path: path.clone(),
                header: format!("{PARAM}{header}"),
            });
        }
        collect(property, path, found)?;
        path.pop();
    }
    Ok(())
}

/// Whether the keyword stands anywhere but on a property that is reached by properties alone.
fn astray(schema: &Map<String, Value>, on_path: bool) -> bool {
    schema.iter().any(|(key, value)| match key.as_str() {
        KEYWORD => !on_path,
        "properties" => each_astray(value, on_path),
        "$defs" | "definitions" | "dependencies" | "dependentSchemas" | "patternProperties" => {
            each_astray(value, false)
        }
        // These hold values, not schemas.
        "default" | "const" | "enum" | "examples" | "dependentRequired" => false,
        _ => value_astray(value, false),
    })
}

fn each_astray(map: &Value, on_path: bool) -> bool {
    map.as_object()
        .is_some_and(|map| map.values().any(|schema| value_astray(schema, on_path)))
}

fn value_astray(value: &Value, on_path: bool) -> bool {
    match value {
        Value::Object(schema) => astray(schema, on_path),
        Value::Array(items) => items.iter().any(|item| value_astray(item, false)),
        _ => false,
    }
}

impl Mirror {
    /// What is said of these arguments, ahead of [`encode`]; nothing where the argument is absent or
    /// null. Integers are decimal, however they are written in the body.
    pub(crate) fn told(&self, arguments: &Value) -> Option<String> {
        let path = &self.path;
        let value = path
            .iter()
            .try_fold(arguments, |value, key| value.get(key))?;
        match value {
            Value::String(text) => Some(text.clone()),
            Value::Bool(bool) => Some(bool.to_string()),
            Value::Number(number) if number.is_i64() || number.is_u64() => Some(number.to_string()),
            Value::Number(number) => number
                .as_f64()
                .filter(|float| float.fract() == 0.0 && float.abs() < 9_007_199_254_740_992.0)
                .map(|float| format!("{:.0}", float + 0.0)),
            _ => None,
        }
    }
}

fn wrapped(text: &str) -> Option<&str> {
    text.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)
}

/// Text as the value of a header: as it is, or in base64 where a header could not hold it.
#[cfg(feature = "http-client")]
pub(crate) fn encode(text: &str) -> String {
    let plain = text.bytes().all(|byte| (b' '..=b'~').contains(&byte))
        && text.trim_matches(' ').len() == text.len()
        && wrapped(text).is_none();
    if plain {
        text.to_owned()
    } else {
        format!("{PREFIX}{}{SUFFIX}", STANDARD.encode(text.as_bytes()))
    }
}

/// The text that a header holds; nothing where it says that it is base64 and is not.
#[cfg(feature = "http")]
pub(crate) fn decode(value: &str) -> Option<String> {
    match wrapped(value) {
        None => Some(value.trim_matches([' ', '\t']).to_owned()),
        // Whoever stands between may read it more strictly than we would.
        Some(encoded) => String::from_utf8(STANDARD.decode(encoded).ok()?).ok(),
    }
}

#[cfg(all(test, feature = "http", feature = "http-client"))]
mod tests {
    use serde_json::{Value, json};

    use super::{decode, encode, mirrors};

    #[test]
    fn arguments_are_mirrored_as_headers_can_hold_them() {
        let schema = json!({"type": "object", "properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "deep": {"type": "object", "properties": {
                "n": {"type": "integer", "x-mcp-header": "N"}}},
            "on": {"type": "boolean", "x-mcp-header": "On"},
            "plain": {"type": "string"},
        }});
        let mirrors = mirrors(&schema).expect("it is in order");
        let headers = |arguments: Value| {
            let values = mirrors
                .iter()
                .filter_map(|mirror| Some((mirror.header.clone(), mirror.told(&arguments)?)));
            values.collect::<std::collections::BTreeMap<_, _>>()
        };
        let all = headers(json!({"region": "é", "deep": {"n": 7}, "on": true, "plain": "x"}));
        assert_eq!(
            json!(all),
            json!({"Mcp-Param-Region": "é", "Mcp-Param-N": "7", "Mcp-Param-On": "true"})
        );
        assert!(headers(json!({"region": null})).is_empty());
        for n in [json!(7.0), json!(7)] {
            assert_eq!(headers(json!({"deep": {"n": n}}))["Mcp-Param-N"], "7");
        }
        assert_eq!(headers(json!({"deep": {"n": -0.0}}))["Mcp-Param-N"], "0");
        assert!(headers(json!({"deep": {"n": 7.5}})).is_empty());
    }

    #[test]
    fn what_a_header_cannot_hold_is_encoded_and_read_again() {
        for (text, value) in [
            ("eu-1", "eu-1"),
            ("", ""),
            ("a b", "a b"),
            ("é", "=?base64?w6k=?="),
            (" x", "=?base64?IHg=?="),
            ("=?base64?eA==?=", "=?base64?PT9iYXNlNjQ/ZUE9PT89?="),
        ] {
            assert_eq!(encode(text), value);
            assert_eq!(decode(value).as_deref(), Some(text));
        }
        assert_eq!(decode("=?base64?w6k?="), None);
    }

    #[test]
    fn a_tool_that_breaks_the_rules_is_named() {
        let property = |schema: Value| json!({"type": "object", "properties": {"a": schema}});
        for schema in [
            property(json!({"type": "string", "x-mcp-header": ""})),
            property(json!({"type": "string", "x-mcp-header": "a b"})),
            property(json!({"type": "string", "x-mcp-header": "é"})),
            property(json!({"type": "string", "x-mcp-header": 5})),
            property(json!({"type": "object", "x-mcp-header": "A"})),
            property(json!({"type": "number", "x-mcp-header": "A"})),
            json!({"type": "object", "x-mcp-header": "A"}),
            property(json!({"type": "array", "items": {"type": "string", "x-mcp-header": "A"}})),
            json!({"properties": {"a": {"type": "string", "x-mcp-header": "A"},
                "b": {"type": "string", "x-mcp-header": "a"}}}),
        ] {
            assert!(mirrors(&schema).is_err(), "{schema}");
        }
    }
}
