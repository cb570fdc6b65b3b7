//! Random arguments that fit, spelled as models misspell them: they come back as they were meant,
//! and are never taken for something else.

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use tool_core::Arguments;

use crate::prop_schemas::{cases, is_same};
use crate::tools::{self, against};

/// A schema, and a value that fits it.
#[derive(Clone, Debug)]
struct Meant {
    schema: Value,
    value: Value,
}

fn meant(schema: Value, value: Value) -> Meant {
    Meant { schema, value }
}

fn leaf() -> impl Strategy<Value = Meant> {
    let whole = -1000_i64..1000;
    prop_oneof![
        whole
            .clone()
            .prop_map(|n| meant(json!({"type": "integer"}), json!(n))),
        (-1e6..1e6).prop_map(|n: f64| meant(json!({"type": "number"}), json!(n))),
        any::<bool>().prop_map(|b| meant(json!({"type": "boolean"}), json!(b))),
        "[a-z0-9{}\"]{0,6}".prop_map(|s| meant(json!({"type": "string"}), json!(s))),
        whole
            .clone()
            .prop_map(|n| meant(json!({"$ref": "#/$defs/whole"}), json!(n))),
        whole.clone().prop_map(|n| meant(
            json!({"anyOf": [{"type": "integer"}, {"type": "null"}]}),
            json!(n)
        )),
        whole.clone().prop_map(|n| meant(
            json!({"allOf": [{"type": ["integer", "string"]}, {"type": ["integer", "null"]}]}),
            json!(n)
        )),
        prop::sample::select(vec![1, 2, 3])
            .prop_map(|n| meant(json!({"enum": [1, 2, 3]}), json!(n))),
        (0_i64..9).prop_map(|n| {
            let tagged = |tag: &str, key: &str, kind: &str| {
                json!({
                    "type": "object", "required": ["tag", key], "additionalProperties": false,
                    "properties": {"tag": {"const": tag}, key: {"type": kind}},
                })
            };
            let forms = [
                tagged("n", "whole", "integer"),
                tagged("b", "flag", "boolean"),
            ];
            meant(json!({"oneOf": forms}), json!({"tag": "n", "whole": n}))
        }),
        whole.prop_map(|n| meant(json!({"type": ["integer", "string"]}), json!(n))),
    ]
}

/// Objects with one required and one absent property, arrays, and leaves.
fn any_meant() -> impl Strategy<Value = Meant> {
    leaf().prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            object(inner.clone()),
            (inner, 1_usize..4).prop_map(|(item, length)| {
                let items = vec![item.value; length];
                meant(json!({"type": "array", "items": item.schema}), json!(items))
            }),
        ]
    })
}

fn object(inner: impl Strategy<Value = Meant>) -> impl Strategy<Value = Meant> {
    let keys = prop::sample::subsequence(vec!["a", "b", "c", "d~/e"], 1..4);
    (
        keys,
        prop::collection::vec(inner, 4),
        any::<bool>(),
        any::<bool>(),
    )
        .prop_map(|(keys, parts, closed, required)| {
            let (mut properties, mut value) = (Map::new(), Map::new());
            for (key, part) in keys.iter().zip(parts) {
                properties.insert((*key).to_owned(), part.schema);
                value.insert((*key).to_owned(), part.value);
            }
            properties.insert("absent".to_owned(), json!({"type": "boolean"}));
            let required = if required { keys } else { Vec::new() };
            let schema = json!({
                "type": "object", "properties": properties, "required": required,
                "additionalProperties": !closed,
            });
            meant(schema, Value::Object(value))
        })
}

/// Every place of a value, the root left out.
fn places(value: &Value, path: &str, found: &mut Vec<String>) {
    let mut below = |path: String, value: &Value| {
        places(value, &path, found);
        found.push(path);
    };
    match value {
        Value::Object(map) => map.iter().for_each(|(key, value)| {
            let key = key.replace('~', "~0").replace('/', "~1");
            below(format!("{path}/{key}"), value);
        }),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .for_each(|(index, value)| below(format!("{path}/{index}"), value)),
        _ => {}
    }
}

/// What is done to what was meant, before it is sent.
#[derive(Clone, Debug)]
struct Slips {
    text_at: Option<prop::sample::Index>,
    null_at: Option<prop::sample::Index>,
    wrapped: u8,
}

fn slips() -> impl Strategy<Value = Slips> {
    let place = || proptest::option::of(any::<prop::sample::Index>());
    (place(), place(), 0_u8..6).prop_map(|(text_at, null_at, wrapped)| Slips {
        text_at,
        null_at,
        wrapped,
    })
}

impl Slips {
    /// The value that is sent, before it is wrapped, and the place that became text.
    fn slipped(&self, meant: &Value) -> (Value, Option<String>) {
        let mut sent = meant.clone();
        if let Some(at) = &self.null_at {
            let mut found = vec![];
            places(&sent, "", &mut found);
            found.push(String::new());
            found.retain(|path| sent.pointer(path).is_some_and(|one| one.get("a").is_some()));
            if !found.is_empty() {
                let path: &String = at.get(&found);
                let object = sent.pointer_mut(path).unwrap();
                object["absent"] = Value::Null;
            }
        }
        let mut found = vec![];
        places(&sent, "", &mut found);
        found.retain(|path| !sent.pointer(path).unwrap().is_string());
        let text_at = self.text_at.as_ref().filter(|_| !found.is_empty());
        let text_at = text_at.map(|at| at.get(&found).clone());
        if let Some(place) = text_at.as_ref().and_then(|path| sent.pointer_mut(path)) {
            *place = Value::String(place.to_string());
        }
        (sent, text_at)
    }

    fn wrap(&self, sent: &Value) -> Arguments {
        let text = sent.to_string();
        Arguments::Text(match self.wrapped {
            0 => return Arguments::from(sent.clone()),
            1 => format!("```json\n{text}\n```"),
            2 => format!("{text}\n</parameter></invoke>"),
            3 => Value::String(text).to_string(),
            _ => text,
        })
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn what_was_meant_is_run_and_nothing_else(
        meant in object(any_meant()),
        slips in slips(),
    ) {
        let mut schema = meant.schema.clone();
        schema["$defs"] = json!({"whole": {"type": "integer"}});
        prop_assert!(jsonschema::draft202012::is_valid(&schema, &meant.value), "{schema}");
        let (sent, text_at) = slips.slipped(&meant.value);
        let taken = jsonschema::draft202012::is_valid(&schema, &sent);
        let wrapped = matches!(slips.wrapped, 1..=3);

        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let (settled, runs) = runtime.block_on(against(schema.clone(), slips.wrap(&sent)));
        prop_assert_eq!(runs, 1, "{} for {} of {}", settled.text(), sent, schema);
        let executed = settled.output().unwrap();
        // Text where text is taken is text, whatever else is put right.
        let mut wanted = meant.value.clone();
        if let Some(place) = text_at.as_ref().and_then(|path| wanted.pointer_mut(path)) {
            *place = Value::String(place.to_string());
        }
        if !jsonschema::draft202012::is_valid(&schema, &wanted) {
            wanted = meant.value.clone();
        }
        prop_assert!(is_same(executed, &wanted), "{executed} for {sent} of {schema}");
        prop_assert_eq!(settled.repairs.is_empty(), taken && !wrapped, "{:?}", settled.repairs);
        for repair in &settled.repairs {
            let known = repair.path.is_empty() || sent.pointer(&repair.path).is_some()
                || meant.value.pointer(&repair.path).is_some()
                || repair.path.ends_with("/absent");
            prop_assert!(known, "{:?}", repair);
        }
    }

    #[test]
    fn text_of_any_pieces_is_run_whole_or_refused(pieces in prop::collection::vec(
        prop::sample::select(vec![
            "```", "json", "\n", " ", "{", "}", "[", "]", "\"a\"", "\"", "\\", ":", ",", "1", "null",
            "</tool_call>", "</invoke>", "\u{e9}", "\\ud800", "1e400", "{\"a\":1}", "{}",
        ]),
        0..12,
    )) {
        let text = pieces.concat();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let (settled, runs) = runtime.block_on(tools::any(text.as_str()));
        match settled.outcome.as_str() {
            "completed" => {
                let executed = settled.output().unwrap();
                let plain = serde_json::from_str::<Value>(&text).ok();
                let unchanged = plain.filter(Value::is_object).is_none_or(|sent| sent == *executed);
                // What is run is spelled in the text, or the text is as good as none.
                let spelled = text.replace(['\n', ' '], "");
                let spelled = spelled.contains(&executed.to_string())
                    || executed == &json!({}) && ["", "null"].contains(&spelled.as_str());
                prop_assert!(unchanged && spelled && runs == 1, "{text:?}: {executed}");
            }
            outcome => prop_assert!(outcome == "refused" && runs == 0, "{text:?}: {outcome}"),
        }
    }
}
