//! JSON Schemas of a tool's input and output.

use std::sync::Arc;

use schemars::JsonSchema;
use schemars::generate::{Contract, SchemaSettings};
use schemars::transform::RecursiveTransform;
use serde_json::{Map, Value, json};
use thiserror::Error;

/// A JSON Schema that is small enough to be compiled and walked: at most 64 levels deep and
/// 10,000 nodes.
///
/// The dialect is the one that `$schema` names, else 2020-12.
#[derive(Clone, Debug, PartialEq)]
pub struct Schema(Arc<Value>);

/// A schema that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SchemaError {
    /// It is neither an object nor a boolean.
    #[error("schema is neither an object nor a boolean")]
    NotASchema,
    /// The root of an input schema does not say `"type": "object"`.
    #[error("input schema does not say \"type\": \"object\" at its root")]
    InputNotObject,
    /// It is nested too deeply.
    #[error("schema is nested deeper than {} levels", Schema::MAX_DEPTH)]
    TooDeep,
    /// It has too many nodes.
    #[error("schema has more than {} nodes", Schema::MAX_NODES)]
    TooLarge,
}

impl Schema {
    /// The most levels of nesting.
    pub const MAX_DEPTH: usize = 64;
    /// The most nodes: objects, arrays and leaves alike. Keys are none.
    pub const MAX_NODES: usize = 10_000;

    /// Checks and wraps a schema.
    ///
    /// # Errors
    /// [`SchemaError`] when it is no schema at all, too deep or too large.
    pub fn new(schema: Value) -> Result<Self, SchemaError> {
        if !matches!(schema, Value::Object(_) | Value::Bool(_)) {
            return Err(SchemaError::NotASchema);
        }
        measure(&schema)?;
        Ok(Self(Arc::new(schema)))
    }

    /// Checks and wraps a schema for arguments, which must be objects.
    ///
    /// # Errors
    /// [`SchemaError`] as for [`new`](Self::new), and when the root does not say
    /// `"type": "object"`.
    ///
    /// Source: Model Context Protocol 2025-11-25, `Tool.inputSchema`.
    pub fn input(schema: Value) -> Result<Self, SchemaError> {
        if schema.get("type").and_then(Value::as_str) != Some("object") {
            return Err(SchemaError::InputNotObject);
        }
        Self::new(schema)
    }

    /// The schema of what `T` deserializes from, with unknown keys refused.
    ///
    /// # Errors
    /// [`SchemaError`] as for [`input`](Self::input).
    pub fn input_of<T: JsonSchema>() -> Result<Self, SchemaError> {
        Self::input(Self::generated_input::<T>())
    }

    /// What [`input_of`](Self::input_of) wraps, not yet checked.
    pub(crate) fn generated_input<T: JsonSchema>() -> Value {
        let mut schema = generate::<T>(Contract::Deserialize);
        close(&mut schema, false);
        schema
    }

    /// The schema of what `T` serializes to.
    ///
    /// # Errors
    /// [`SchemaError`] as for [`new`](Self::new).
    pub fn output_of<T: JsonSchema>() -> Result<Self, SchemaError> {
        Self::new(Self::generated_output::<T>())
    }

    /// What [`output_of`](Self::output_of) wraps, not yet checked.
    pub(crate) fn generated_output<T: JsonSchema>() -> Value {
        generate::<T>(Contract::Serialize)
    }

    /// The schema of a tool that takes no argument: a closed object without properties.
    #[must_use]
    pub fn no_arguments() -> Self {
        Self(Arc::new(
            json!({"type": "object", "properties": {}, "additionalProperties": false}),
        ))
    }

    /// The schema itself.
    #[must_use]
    pub fn as_value(&self) -> &Value {
        &self.0
    }
}

fn generate<T: JsonSchema>(contract: Contract) -> Value {
    let settings = SchemaSettings::draft2020_12()
        .with(|settings| {
            settings.meta_schema = None;
            settings.inline_subschemas = true;
            settings.contract = contract;
        })
        .with_transform(RecursiveTransform(spell_out_format));
    let mut schema = Value::from(settings.into_generator().into_root_schema_for::<T>());
    if let Value::Object(root) = &mut schema {
        // The title is the name of a Rust type, which tells a model nothing.
        root.remove("title");
    }
    schema
}

/// Says in bounds what the format of a Rust number says by name: clients and providers do not know
/// the names, and some refuse them.
fn spell_out_format(schema: &mut schemars::Schema) {
    let Some(format) = schema.get("format").and_then(Value::as_str) else {
        return;
    };
    let bounds = match format {
        "int8" => Some((i64::from(i8::MIN), i64::from(i8::MAX))),
        "uint8" => Some((0, i64::from(u8::MAX))),
        "int16" => Some((i64::from(i16::MIN), i64::from(i16::MAX))),
        "uint16" => Some((0, i64::from(u16::MAX))),
        "int32" => Some((i64::from(i32::MIN), i64::from(i32::MAX))),
        "uint32" => Some((0, i64::from(u32::MAX))),
        // What these hold is beyond what a client can be told as a number.
        "int64" | "uint64" | "int128" | "uint128" | "int" | "uint" | "float" | "double" => None,
        _ => return,
    };
    schema.remove("format");
    if let (Some((minimum, maximum)), Some(map)) = (bounds, schema.as_object_mut()) {
        map.entry("minimum").or_insert_with(|| minimum.into());
        map.entry("maximum").or_insert_with(|| maximum.into());
    }
}

/// Refuses unknown keys wherever the type fixes the keys.
///
/// `open` says that the schema is one part of several that describe the same object; then the
/// whole closes, not the part.
fn close(schema: &mut Value, open: bool) {
    let Value::Object(map) = schema else { return };
    let combined = ["allOf", "anyOf", "oneOf", "if", "$ref"]
        .iter()
        .any(|key| map.contains_key(*key));
    let fixes_keys =
        map.contains_key("properties") || (map.get("type").is_some_and(takes_objects) && !combined);
    let says_so = map.contains_key("additionalProperties")
        || map.contains_key("unevaluatedProperties")
        || map.contains_key("patternProperties");

    if fixes_keys && !says_so && !open {
        map.entry("properties")
            .or_insert_with(|| Value::Object(Map::new()));
        let keyword = if combined {
            "unevaluatedProperties"
        } else {
            "additionalProperties"
        };
        map.insert(keyword.to_owned(), Value::Bool(false));
    }
    for (key, value) in map.iter_mut() {
        match key.as_str() {
            "properties" | "patternProperties" | "$defs" => {
                if let Value::Object(children) = value {
                    children.values_mut().for_each(|child| close(child, false));
                }
            }
            "items" | "additionalProperties" | "contains" => close(value, false),
            "prefixItems" => {
                if let Value::Array(children) = value {
                    children.iter_mut().for_each(|child| close(child, false));
                }
            }
            "allOf" | "anyOf" | "oneOf" => {
                if let Value::Array(children) = value {
                    let open = open || fixes_keys || key == "allOf";
                    children.iter_mut().for_each(|child| close(child, open));
                }
            }
            _ => {}
        }
    }
}

/// Whether a `type` takes objects, alone or beside others, as that of an optional struct does.
fn takes_objects(kind: &Value) -> bool {
    match kind {
        Value::Array(kinds) => kinds.iter().any(|kind| kind == "object"),
        kind => kind == "object",
    }
}

fn measure(schema: &Value) -> Result<(), SchemaError> {
    // A stack of our own: the depth of the input must not become the depth of ours.
    let mut pending = vec![(schema, 1_usize)];
    let mut nodes = 0_usize;
    while let Some((value, depth)) = pending.pop() {
        nodes += 1;
        if depth > Schema::MAX_DEPTH {
            return Err(SchemaError::TooDeep);
        }
        match value {
            Value::Object(map) => pending.extend(map.values().map(|value| (value, depth + 1))),
            Value::Array(items) => pending.extend(items.iter().map(|item| (item, depth + 1))),
            _ => {}
        }
        if nodes + pending.len() > Schema::MAX_NODES {
            return Err(SchemaError::TooLarge);
        }
    }
    Ok(())
}
