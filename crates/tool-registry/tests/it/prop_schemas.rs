//! Random schemas and instances: what the validator accepts is run, and nothing else is.

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use tool_core::{Repair, RepairRule};

use crate::tools::against;

/// How many are tried: `TOOL_PROPERTY_CASES` of them, else 256.
pub(crate) fn cases() -> u32 {
    let wanted = std::env::var("TOOL_PROPERTY_CASES").ok();
    wanted.and_then(|cases| cases.parse().ok()).unwrap_or(256)
}

const KEYS: [&str; 4] = ["a", "b", "c", "with space"];

fn key() -> impl Strategy<Value = &'static str> {
    prop::sample::select(KEYS.to_vec())
}

/// A JSON value that is likely to meet a schema of these tests, or to miss it closely.
pub(crate) fn instance() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        (-3_i64..7).prop_map(Value::from),
        prop::sample::select(vec![0.5, 1.0, 1e30, -0.0]).prop_map(Value::from),
        "[ab]{0,4}".prop_map(Value::from),
        prop::sample::select(vec![
            "5",
            "true",
            "null",
            "1.0",
            "[1]",
            r#"{"a":2}"#,
            r#""a""#
        ])
        .prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            object(inner),
        ]
    })
}

fn object(values: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    prop::collection::btree_map(key(), values, 0..4).prop_map(|map| {
        let pairs = map.into_iter().map(|(key, value)| (key.to_owned(), value));
        Value::Object(pairs.collect())
    })
}

pub(crate) fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(true)),
        Just(json!({})),
        Just(json!({"$ref": "#/$defs/node"})),
        prop::sample::select(vec![
            "string", "integer", "number", "boolean", "null", "object"
        ])
        .prop_map(|kind| json!({"type": kind})),
        (-2_i64..3).prop_map(|least| json!({"type": "integer", "minimum": least})),
        (0_u64..4).prop_map(|most| json!({"type": "string", "maxLength": most})),
        Just(json!({"pattern": "^a"})),
        prop::collection::vec(instance(), 1..4).prop_map(|values| json!({"enum": values})),
        instance().prop_map(|value| json!({"const": value})),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        let many = || prop::collection::vec(inner.clone(), 1..3);
        prop_oneof![
            (properties(inner.clone()), any::<bool>()).prop_map(|(properties, open)| {
                json!({
                    "type": "object",
                    "properties": properties,
                    "additionalProperties": open
                })
            }),
            (
                properties(inner.clone()),
                prop::collection::vec(key(), 0..3)
            )
                .prop_map(|(properties, mut required)| {
                    required.sort_unstable();
                    required.dedup();
                    json!({"properties": properties, "required": required})
                }),
            inner
                .clone()
                .prop_map(|items| json!({"type": "array", "items": items})),
            many().prop_map(|branches| json!({"anyOf": branches})),
            many().prop_map(|branches| json!({"oneOf": branches})),
            many().prop_map(|branches| json!({"allOf": branches})),
            inner.clone().prop_map(|not| json!({"not": not})),
            many().prop_map(|items| json!({"prefixItems": items, "uniqueItems": true})),
        ]
    })
}

fn properties(schemas: impl Strategy<Value = Value>) -> impl Strategy<Value = Map<String, Value>> {
    prop::collection::btree_map(key(), schemas, 0..4).prop_map(|map| {
        let pairs = map.into_iter().map(|(key, value)| (key.to_owned(), value));
        pairs.collect()
    })
}

/// Whether two values are one, however their numbers are held.
pub(crate) fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one.as_f64() == other.as_f64(),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(a, b)| is_same(a, b))
        }
        (Value::Object(one), Value::Object(other)) => {
            let same = |(key, a): (&String, &Value)| other.get(key).is_some_and(|b| is_same(a, b));
            one.len() == other.len() && one.iter().all(same)
        }
        _ => one == other,
    }
}

/// A reference that leads to itself and nowhere else is no schema.
fn without_references(node: &Value) -> Value {
    let node = node
        .to_string()
        .replace(r##"{"$ref":"#/$defs/node"}"##, "{}");
    serde_json::from_str(&node).unwrap()
}

/// A text that the schema takes where another was decoded, if there is one.
fn text_taken_at(schema: &Value, executed: &Value, repairs: &[Repair]) -> Option<String> {
    let decoded = repairs
        .iter()
        .filter(|one| one.rule == RepairRule::EncodedValue);
    let texts = ["", "a", "b", "ab", "ba", "aaaa", "5", "null", "[1]"];
    decoded
        .flat_map(|repair| texts.map(|text| (&repair.path, text)))
        .filter_map(|(path, text)| {
            let mut other = executed.clone();
            *other.pointer_mut(path)? = Value::from(text);
            jsonschema::draft202012::is_valid(schema, &other).then(|| format!("{text} at {path}"))
        })
        .next()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn what_the_schema_takes_is_run_as_it_came_and_what_is_repaired_fits(
        properties in properties(schema()),
        node in schema(),
        closed in any::<bool>(),
        arguments in object(instance()),
    ) {
        let node = without_references(&node);
        let schema = json!({
            "type": "object",
            "properties": properties,
            "additionalProperties": !closed,
            "$defs": {"node": node}
        });
        let accepts = jsonschema::draft202012::is_valid(&schema, &arguments);
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        for text in [true, false] {
            let delivered = if text {
                tool_core::Arguments::Text(arguments.to_string())
            } else {
                tool_core::Arguments::from(arguments.clone())
            };
            let (settled, runs) = runtime.block_on(against(schema.clone(), delivered));
            let executed = settled.output();
            if accepts {
                // How a number is held may change, and nothing else.
                let same = executed.is_some_and(|executed| is_same(executed, &arguments));
                prop_assert!(same && runs == 1, "{schema}: {:?}", settled.outcome.as_str());
                let numbers = settled.repairs.iter().all(|one| one.rule == RepairRule::WholeNumber);
                prop_assert!(numbers, "{schema}: {:?}", settled.repairs);
            } else if let Some(executed) = executed {
                // What was put right is on record, and fits.
                prop_assert!(jsonschema::draft202012::is_valid(&schema, executed), "{schema}");
                prop_assert!(!settled.repairs.is_empty(), "{schema}");
                prop_assert_eq!(runs, 1);
                prop_assert_eq!(text_taken_at(&schema, executed, &settled.repairs), None, "{}", schema);
            } else {
                // A refusal always says something, and at most ten things.
                let issues = crate::tools::invalid(&settled).issues();
                prop_assert!((1..=10).contains(&issues.len()), "{}", schema);
                prop_assert_eq!(runs, 0);
            }
        }
    }

    #[test]
    fn text_is_decoded_only_where_no_text_is_taken(
        place in schema(),
        other in schema(),
        text in prop::sample::select(vec!["5", "true", "null", "1.0", "[1]", r#"{"a":2}"#, "-1"]),
        deep in any::<bool>(),
    ) {
        let schema = json!({
            "type": "object",
            "properties": if deep {
                json!({"a": {"type": "array", "items": place}})
            } else {
                json!({"a": place})
            },
            "required": ["a"],
            "$defs": {"node": without_references(&other)}
        });
        let arguments = if deep { json!({"a": [text]}) } else { json!({"a": text}) };
        let accepts = jsonschema::draft202012::is_valid(&schema, &arguments);
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let (settled, runs) = runtime.block_on(against(schema.clone(), arguments.clone()));
        if let Some(executed) = settled.output() {
            prop_assert_eq!(executed == &arguments, accepts, "{}", schema);
            prop_assert!(jsonschema::draft202012::is_valid(&schema, executed), "{schema}");
            prop_assert_eq!(settled.repairs.is_empty(), accepts);
            prop_assert_eq!(text_taken_at(&schema, executed, &settled.repairs), None, "{}", schema);
        } else {
            prop_assert!(!accepts && runs == 0, "{schema}");
        }
    }
}
