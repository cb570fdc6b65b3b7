//! Instances of schemas.

use serde_json::{Map, Value, json};

use crate::checker::required;

/// Chooses instances of a schema, always the same for the same seed.
pub(crate) struct Sampler<'a> {
    root: &'a Value,
    state: u64,
}

impl<'a> Sampler<'a> {
    pub(crate) fn new(root: &'a Value, seed: u64) -> Self {
        let state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        Self { root, state }
    }

    /// Something that may fit; whoever asks holds it against the schema.
    pub(crate) fn sample(&mut self) -> Value {
        self.of(self.root, 0)
    }

    /// Changes one place of a value to something near: another number, text, type, key or length.
    pub(crate) fn bend(&mut self, value: &mut Value) {
        let inner = match value {
            Value::Object(map) if !map.is_empty() && self.below(3) > 0 => {
                let at = self.below(map.len());
                map.values_mut().nth(at)
            }
            Value::Array(items) if !items.is_empty() && self.below(3) > 0 => {
                let at = self.below(items.len());
                items.get_mut(at)
            }
            _ => None,
        };
        if let Some(inner) = inner {
            return self.bend(inner);
        }
        let choice = self.below(5);
        match value {
            Value::Object(map) => match choice {
                0 | 1 => {
                    let at = self.below(map.len());
                    let name = map.keys().nth(at).cloned();
                    name.and_then(|name| map.remove(&name));
                }
                2 => {
                    map.insert("another_key".to_owned(), json!("another"));
                }
                3 => {
                    map.insert("another_key".to_owned(), json!(7));
                }
                _ => map.clear(),
            },
            Value::Array(items) => match choice {
                0 | 1 => items.extend(items.first().cloned()),
                2 => items.push(json!("another")),
                3 => items.push(json!(7)),
                _ => items.clear(),
            },
            Value::Number(number) => {
                let near = number.as_f64().unwrap_or_default();
                *value = match choice {
                    0 => json!(near - 1.0),
                    1 => json!(near + 0.5),
                    2 => json!(-1),
                    3 => json!(1_000_000_007),
                    _ => json!(0),
                };
            }
            Value::String(text) => match choice {
                0 => text.clear(),
                1 => text.push_str("~another"),
                2 => *text = "~".repeat(300),
                3 => text.insert(0, ' '),
                _ => *value = json!(7),
            },
            _ => {
                let others = [
                    json!("another"),
                    json!(7),
                    Value::Null,
                    json!({}),
                    json!([]),
                ];
                let at = self.below(others.len());
                *value = others[at].clone();
            }
        }
    }

    fn below(&mut self, most: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        usize::try_from(self.state % (most.max(1) as u64)).unwrap_or_default()
    }

    fn of(&mut self, schema: &Value, depth: usize) -> Value {
        if depth > 12 {
            return Value::Null;
        }
        let Some(map) = schema.as_object() else {
            return [json!(7), json!("free"), json!({"k": [null]}), Value::Null][self.below(4)]
                .clone();
        };
        if let Some(value) = map.get("const") {
            return value.clone();
        }
        if let Some(values) = map.get("enum").and_then(Value::as_array) {
            return values[self.below(values.len())].clone();
        }
        if let Some(target) = map
            .get("$ref")
            .and_then(Value::as_str)
            .and_then(|it| self.root.pointer(it.trim_start_matches('#')))
        {
            return self.of(target, depth + 1);
        }
        for key in ["anyOf", "oneOf"] {
            if let Some(branches) = map.get(key).and_then(Value::as_array) {
                let branch = &branches[self.below(branches.len())];
                let mut merged = map.clone();
                merged.remove(key);
                for (key, value) in branch.as_object().into_iter().flatten() {
                    match (merged.get_mut(key), value) {
                        (Some(Value::Object(own)), Value::Object(more)) => own.extend(more.clone()),
                        (Some(Value::Array(own)), Value::Array(more)) if key == "required" => {
                            own.extend(more.clone());
                        }
                        _ => {
                            merged.insert(key.clone(), value.clone());
                        }
                    }
                }
                return self.of(&Value::Object(merged), depth + 1);
            }
        }
        let kind = match map.get("type") {
            Some(Value::String(kind)) => kind.as_str(),
            Some(Value::Array(kinds)) => kinds[self.below(kinds.len())].as_str().unwrap_or("null"),
            _ if map.contains_key("properties") => "object",
            _ => ["string", "integer", "object", "array", "null"][self.below(5)],
        };
        match kind {
            "object" => self.object(map, depth),
            "array" => self.array(map, depth),
            "string" => {
                let least = map.get("minLength").and_then(Value::as_u64).unwrap_or(0);
                let extra = self.below(3);
                Value::from("x".repeat(usize::try_from(least).unwrap_or(0) + extra))
            }
            "integer" | "number" => self.number(map, kind),
            "boolean" => Value::from(self.below(2) == 0),
            _ => Value::Null,
        }
    }

    fn number(&mut self, map: &Map<String, Value>, kind: &str) -> Value {
        let bound = |key: &str| map.get(key).and_then(Value::as_i64);
        let near = bound("minimum")
            .or(bound("exclusiveMinimum").map(|it| it + 1))
            .or(bound("maximum"))
            .or(bound("exclusiveMaximum").map(|it| it - 1))
            .unwrap_or(3);
        let step = i64::try_from(self.below(2)).unwrap_or(0);
        match kind {
            "number" if self.below(2) == 0 => Value::from(near as f64 + 0.5),
            _ => Value::from(near + step),
        }
    }

    fn object(&mut self, map: &Map<String, Value>, depth: usize) -> Value {
        let required: Vec<&str> = required(map).collect();
        let mut object = Map::new();
        for (name, child) in map
            .get("properties")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
        {
            if required.contains(&name.as_str()) || self.below(3) == 0 && depth < 5 {
                let value = self.of(child, depth + 1);
                object.insert(name.clone(), value);
            }
        }
        for name in required {
            object.entry(name).or_insert(json!("any"));
        }
        match map.get("additionalProperties") {
            Some(Value::Bool(false)) | None => {}
            Some(rest) if self.below(2) == 0 => {
                let value = self.of(rest, depth + 1);
                object.insert("another_key".to_owned(), value);
            }
            Some(_) => {}
        }
        Value::Object(object)
    }

    fn array(&mut self, map: &Map<String, Value>, depth: usize) -> Value {
        let mut items = Vec::new();
        for child in map
            .get("prefixItems")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            items.push(self.of(child, depth + 1));
        }
        let least = map.get("minItems").and_then(Value::as_u64).unwrap_or(0);
        let wanted = usize::try_from(least).unwrap_or(0) + self.below(2);
        if map.get("items") != Some(&Value::Bool(false)) {
            let free = Value::Bool(true);
            let child = map.get("items").unwrap_or(&free);
            while items.len() < wanted {
                items.push(self.of(child, depth + 1));
            }
        }
        Value::Array(items)
    }
}
