//! Random schemas: what the corpus happens not to hold.

use serde_json::{Map, Value, json};
use tool_core::{Definition, Schema};
use tool_provider::Profile;

use crate::checker::refused;
use crate::tools::tool;
use crate::{reverse, superset};

/// How many schemas are tried: more where `TOOL_PROPERTY_CASES` says so.
fn cases() -> u64 {
    let given = std::env::var("TOOL_PROPERTY_CASES").ok();
    given.and_then(|it| it.parse().ok()).unwrap_or(100)
}

/// Chooses schemas, always the same for the same seed.
struct Chooser(u64);

impl Chooser {
    fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn below(&mut self, most: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % most
    }

    fn one_in(&mut self, count: u64) -> bool {
        self.below(count) == 0
    }

    fn input(&mut self) -> Value {
        let mut schema = self.object(0);
        if self.one_in(4) {
            let key = ["anyOf", "oneOf", "allOf"][self.below(3) as usize];
            let branches = [self.part(), self.part()];
            schema.insert(key.to_owned(), json!(branches));
        }
        let text = serde_json::to_string(&schema).unwrap_or_default();
        if text.contains("$defs") {
            let mut node = self.object(2);
            if self.one_in(2) {
                let next = json!({"$ref": "#/$defs/node"});
                node["properties"]["next"] = next;
            }
            schema.insert("$defs".to_owned(), json!({"node": node}));
        }
        Value::Object(schema)
    }

    /// A part of an object, as alternatives have them.
    fn part(&mut self) -> Value {
        let name = self.name();
        let mut part = json!({"required": [name]});
        if self.one_in(2) {
            let kind = ["k", "l"][self.below(2) as usize];
            part["properties"] = json!({"kind": {"const": kind}, (name): self.schema(2)});
        }
        part
    }

    fn name(&mut self) -> &'static str {
        ["a", "b", "kind", "a b", "$filter", "required"][self.below(6) as usize]
    }

    fn object(&mut self, depth: u64) -> Map<String, Value> {
        let mut properties = Map::new();
        let mut required = Vec::new();
        for _ in 0..self.below(4) {
            let name = self.name();
            properties.insert(name.to_owned(), self.schema(depth + 1));
            if self.one_in(2) && !required.contains(&name) {
                required.push(name);
            }
        }
        let mut object = Map::new();
        object.insert("type".to_owned(), "object".into());
        object.insert("properties".to_owned(), properties.into());
        if !required.is_empty() {
            object.insert("required".to_owned(), json!(required));
        }
        let rest = match self.below(5) {
            0 => json!(false),
            1 => json!(true),
            2 => json!({"type": "integer"}),
            _ => return object,
        };
        object.insert("additionalProperties".to_owned(), rest);
        object
    }

    fn schema(&mut self, depth: u64) -> Value {
        let more = if depth > 3 { 7 } else { 14 };
        match self.below(more) {
            0 => json!({"type": "string", "minLength": self.below(3)}),
            1 => json!({"type": "integer", "minimum": self.below(4), "maximum": 9}),
            2 => json!({"type": "number", "exclusiveMinimum": 0, "multipleOf": 0.5}),
            3 => json!({"enum": ["x", "", 1, null]}),
            4 => json!({"const": self.below(3)}),
            5 => json!({"type": ["string", "integer", "null"], "maxLength": 3}),
            6 => json!({"type": "boolean", "default": true}),
            7 => json!({"type": "array", "items": self.schema(depth + 1), "maxItems": 2}),
            8 => json!({"type": "array", "minItems": 1,
                "prefixItems": [self.schema(depth + 1), self.schema(depth + 1)],
                "items": self.one_in(2)}),
            9 => json!({"anyOf": [self.schema(depth + 1), self.schema(depth + 1)]}),
            10 => json!({"oneOf": [{"type": "null"}, self.schema(depth + 1)]}),
            11 => json!({"$ref": "#/$defs/node"}),
            12 => json!({"allOf": [self.schema(depth + 1), {"description": "Both."}]}),
            _ => Value::Object(self.object(depth)),
        }
    }
}

fn tools() -> Vec<Definition> {
    (0..cases())
        .map(|seed| Chooser::new(seed + 1).input())
        .filter(|schema| Schema::input(schema.clone()).is_ok())
        .map(|schema| tool("random", schema))
        .collect()
}

#[test]
fn random_schemas_are_taken_by_every_provider_that_they_are_sent_to() {
    let mut wrong = Vec::new();
    for tool in tools() {
        for profile in Profile::ALL {
            let Ok(sent) = profile.project(&tool) else {
                continue;
            };
            for rule in refused(profile, sent.definition(), sent.is_strict()) {
                wrong.push(format!("{profile} {rule}: {}", tool.input.as_value()));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{}",
        wrong[..wrong.len().min(20)].join("\n")
    );
}

#[test]
fn a_projection_of_a_random_schema_takes_what_the_original_does() {
    superset::holds(&tools());
}

#[test]
fn what_a_projection_of_a_random_schema_takes_the_original_takes_or_the_report_says_why_not() {
    reverse::holds(&tools());
}
