//! A projection takes what the original does, and the way back gives it again.

use serde_json::{Map, Value, json};
use tool_core::Definition;
use tool_provider::{Profile, Projection};

use crate::samples::Sampler;
use crate::tools::{corpus, in_halves, tool};

/// Samples that are tried of each schema.
const TRIES: u64 = 24;

/// Holds samples of one tool against its projections; the number of those that fit the original.
fn check(tool: &Definition, wrong: &mut Vec<String>) -> usize {
    let Ok(judge) = jsonschema::validator_for(tool.input.as_value()) else {
        return 0;
    };
    let sent = projections(tool);
    sent.iter()
        .map(|(profile, sent)| check_one(*profile, tool, &judge, sent, wrong))
        .sum()
}

/// What profiles send of a tool; what several send alike is there once.
pub(crate) fn projections(tool: &Definition) -> Vec<(Profile, Projection)> {
    let mut sent: Vec<(Profile, Projection)> = Vec::new();
    for profile in Profile::ALL {
        let Ok(one) = profile.project(tool) else {
            continue;
        };
        let is_twin = |other: &Projection| {
            other.is_strict() == one.is_strict()
                && other.schema() == one.schema()
                && other.inverse() == one.inverse()
                && other.losses() == one.losses()
        };
        if !sent.iter().any(|(_, other)| is_twin(other)) {
            sent.push((profile, one));
        }
    }
    sent
}

fn check_one(
    profile: Profile,
    tool: &Definition,
    judge: &jsonschema::Validator,
    sent: &Projection,
    wrong: &mut Vec<String>,
) -> usize {
    let original = tool.input.as_value();
    let mut schema = sent.schema().clone();
    if profile == Profile::Gemini {
        schema = as_json_schema(&schema);
    }
    let projected = jsonschema::validator_for(&schema).expect("a schema");
    let mut held = 0;
    for seed in 0..TRIES {
        let sample = Sampler::new(original, seed + 1).sample();
        if !judge.is_valid(&sample) {
            continue;
        }
        held += 1;
        let presented = sent.inverse().present(sample.clone());
        if let Err(error) = projected.validate(&presented) {
            wrong.push(format!(
                "{profile} {}: {error} in {presented}, of {}",
                sent.name(),
                short(original)
            ));
            break;
        }
        let restored = sent.inverse().restore(presented);
        // Where null is what absence is, the two are not told apart.
        let same = if sent.is_strict() {
            without_nulls(&restored) == without_nulls(&sample)
        } else {
            restored == sample
        };
        if !same {
            wrong.push(format!(
                "{profile} {}: {sample} became {restored}, of {}",
                sent.name(),
                short(original)
            ));
            break;
        }
        if !judge.is_valid(&restored) {
            wrong.push(format!(
                "{profile} {}: {restored} no longer fits {}",
                sent.name(),
                short(original)
            ));
            break;
        }
    }
    held
}

/// A schema, for a message; where it is long its beginning.
pub(crate) fn short(schema: &Value) -> String {
    schema.to_string().chars().take(900).collect()
}

/// Gemini's form of schemas as JSON Schema.
pub(crate) fn as_json_schema(schema: &Value) -> Value {
    let Some(map) = schema.as_object() else {
        return schema.clone();
    };
    let mut plain = Map::new();
    for (key, value) in map {
        let value = match (key.as_str(), value) {
            ("type", Value::String(kind)) => Value::from(kind.to_ascii_lowercase()),
            ("properties", Value::Object(named)) => {
                let named = named
                    .iter()
                    .map(|(name, it)| (name.clone(), as_json_schema(it)));
                Value::Object(named.collect())
            }
            ("anyOf", Value::Array(list)) => list.iter().map(as_json_schema).collect(),
            ("items", value) => as_json_schema(value),
            _ => value.clone(),
        };
        plain.insert(key.clone(), value);
    }
    match plain.remove("nullable") {
        Some(_) => json!({"anyOf": [{"type": "null"}, plain]}),
        None => Value::Object(plain),
    }
}

fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let kept = map.iter().filter(|(_, value)| !value.is_null());
            Value::Object(
                kept.map(|(key, value)| (key.clone(), without_nulls(value)))
                    .collect(),
            )
        }
        Value::Array(items) => items.iter().map(without_nulls).collect(),
        value => value.clone(),
    }
}

#[track_caller]
pub(crate) fn holds(tools: &[Definition]) {
    let [(mut held, mut wrong), others] = in_halves(tools, |half| {
        let mut wrong = Vec::new();
        let held: usize = half.iter().map(|tool| check(tool, &mut wrong)).sum();
        (held, wrong)
    });
    held += others.0;
    wrong.extend(others.1);
    println!("{held} instances held, {} did not", wrong.len());
    assert!(held > tools.len(), "samples fit their schemas");
    assert!(
        wrong.is_empty(),
        "{}",
        wrong[..wrong.len().min(30)].join("\n")
    );
}

/// Tools that show each pass at work.
pub(crate) fn tools() -> Vec<Definition> {
    let schemas = [
        json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": ["integer", "null"]}}, "required": ["a"]}),
        json!({"type": "object", "properties": {"x": true, "y": {"enum": [1, "two", null, true]}, "z": {"const": 5}}}),
        json!({"type": "object", "properties": {"t": {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "items": false}}}),
        json!({"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "properties": {"t": {"type": "array", "items": [{"type": "string"}, {"type": "integer"}]}}}),
        json!({"type": "object", "properties": {"n": {"$ref": "#/$defs/node"}}, "$defs": {"node": {"type": "object", "properties": {"v": {"type": "integer", "exclusiveMinimum": 0}, "next": {"$ref": "#/$defs/node"}}, "required": ["v"]}}}),
        json!({"type": "object", "properties": {"kind": {"type": "string"}}, "oneOf": [{"properties": {"kind": {"const": "a"}, "p": {"type": "string"}}, "required": ["kind", "p"]}, {"properties": {"kind": {"const": "b"}, "q": {"type": "integer"}}, "required": ["kind", "q"]}]}),
        json!({"type": "object", "properties": {"u": {"oneOf": [{"type": "object", "properties": {"k": {"const": "a"}, "x": {"type": "integer"}}, "required": ["k"], "additionalProperties": false}, {"type": "object", "properties": {"k": {"const": "b"}, "x": {"type": ["integer", "null"]}}, "required": ["k", "x"], "additionalProperties": false}]}}, "additionalProperties": false}),
        json!({"type": "object", "properties": {"m": {"type": "object", "additionalProperties": {"type": "integer"}}, "e": {"type": "object", "properties": {}}}}),
        json!({"type": "object", "properties": {"$filter": {"type": "string"}, "anyOf": {"type": "integer"}, "a b": {"type": "string"}}, "required": ["a b"]}),
        json!({"type": "object", "allOf": [{"properties": {"a": {"type": "string", "minLength": 2}}, "required": ["a"]}, {"$ref": "#/$defs/b"}], "$defs": {"b": {"properties": {"b": {"type": "number", "minimum": 1}}}}}),
        json!({"type": "object", "properties": {"s": {"type": "string", "enum": ["", "a"]}, "l": {"type": "array"}, "w": {"type": ["string", "array", "object"], "minLength": 1, "items": {"type": "integer"}}}}),
        json!({"type": "object", "properties": {"o": {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}}}),
        json!({"type": "object", "required": ["ghost"], "properties": {"never": false, "not": {"not": {"type": "string"}}}}),
    ];
    schemas
        .into_iter()
        .enumerate()
        .map(|(index, schema)| tool(&format!("tool{index}"), schema))
        .collect()
}

#[test]
fn a_projection_takes_what_the_original_does() {
    holds(&tools());
}

#[test]
fn a_projection_of_the_corpus_takes_what_the_original_does() {
    let Some(tools) = corpus("a_projection_of_the_corpus_takes_what_the_original_does") else {
        return;
    };
    let every = if std::env::var_os("TOOL_CORPUS_WHOLE").is_some() {
        1
    } else {
        3
    };
    let some: Vec<Definition> = tools.iter().step_by(every).cloned().collect();
    holds(&some);
}
