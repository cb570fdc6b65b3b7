use proptest::prelude::*;
use serde_json::{Map, Value, json};
use tool_core::{Plain, Schema, Spoken};

use super::Plan;
use crate::validator::Validator;

const KEYS: [&str; 4] = ["a", "b", "c/d", "e~f"];

fn key() -> impl Strategy<Value = &'static str> {
    prop::sample::select(KEYS.to_vec())
}

fn object(values: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    prop::collection::vec((key(), values), 0..4).prop_map(|members| {
        let members = members.into_iter();
        Value::Object(
            members
                .map(|(key, value)| (key.to_owned(), value))
                .collect(),
        )
    })
}

fn instance() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        (-4_i64..5).prop_map(Value::from),
        prop::sample::select(vec![
            json!(u64::MAX),
            json!(i64::MIN),
            json!(0.5),
            json!(2.0)
        ]),
        prop::sample::select(vec!["", "x", "y", "ää", "longer", "5"]).prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            object(inner.clone()),
            prop::collection::vec(inner, 0..4).prop_map(Value::Array),
        ]
    })
}

/// A type, alone or beside another.
fn types() -> impl Strategy<Value = Value> {
    let names = [
        "null", "boolean", "integer", "number", "string", "array", "object",
    ];
    let name = || prop::sample::select(names.to_vec());
    prop_oneof![
        3 => name().prop_map(Value::from),
        1 => (name(), name()).prop_filter_map("a type stands once", |(one, other)| {
            (one != other).then(|| json!([one, other]))
        }),
    ]
}

/// A keyword with what it says, understood by plans or not.
fn keyword(inner: BoxedStrategy<Value>) -> impl Strategy<Value = (&'static str, Value)> {
    let size = || (0_u64..4).prop_map(Value::from);
    let texts = prop::sample::subsequence(vec!["x", "y", "ää"], 1..3);
    let names = prop::sample::subsequence(KEYS.to_vec(), 0..3);
    let forms = prop::collection::vec(inner.clone(), 1..3).prop_map(Value::Array);
    prop_oneof![
        4 => types().prop_map(|types| ("type", types)),
        3 => object(inner.clone()).prop_map(|said| ("properties", said)),
        2 => names.prop_map(|names| ("required", json!(names))),
        2 => inner.clone().prop_map(|said| ("additionalProperties", said)),
        2 => inner.prop_map(|said| ("items", said)),
        1 => size().prop_map(|said| ("minItems", said)),
        1 => size().prop_map(|said| ("maxItems", said)),
        1 => size().prop_map(|said| ("minLength", said)),
        1 => size().prop_map(|said| ("maxLength", said)),
        1 => (-3_i64..4).prop_map(|said| ("minimum", json!(said))),
        1 => (-3_i64..4).prop_map(|said| ("maximum", json!(said))),
        1 => texts.prop_map(|texts| ("enum", json!(texts))),
        1 => Just(("const", json!("x"))),
        1 => Just(("const", json!(1))),
        1 => Just(("enum", json!(["x", 1]))),
        2 => forms.prop_map(|said| ("anyOf", said)),
        1 => Just(("pattern", json!("^x"))),
        1 => Just(("minProperties", json!(1))),
        1 => Just(("format", json!("date"))),
        1 => Just(("description", json!("words"))),
    ]
}

fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        1 => Just(json!(true)),
        1 => Just(json!(false)),
        4 => types().prop_map(|types| json!({"type": types})),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop::collection::vec(keyword(inner), 1..5).prop_map(|keywords| {
            let keywords = keywords.into_iter();
            let map: Map<_, _> = keywords
                .map(|(keyword, said)| (keyword.to_owned(), said))
                .collect();
            Value::Object(map)
        })
    })
}

/// How many are tried: `TOOL_PROPERTY_CASES` of them, else 512.
fn cases() -> u32 {
    let wanted = std::env::var("TOOL_PROPERTY_CASES").ok();
    wanted.and_then(|cases| cases.parse().ok()).unwrap_or(512)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn a_plan_says_what_the_validator_says_or_nothing(
        schema in schema(),
        instances in prop::collection::vec(instance(), 8),
    ) {
        let plan = Plan::of(&schema);
        let compiled = jsonschema::options().offline().build(&schema).unwrap();
        let validator = Schema::new(schema.clone()).ok();
        let validator = validator.and_then(|schema| Validator::compile(&schema).ok());
        for instance in instances {
            let valid = compiled.is_valid(&instance);
            if let Some(fits) = plan.fits(&instance) {
                prop_assert_eq!(fits, valid, "{} against {}", &instance, &schema);
            }
            let text = instance.to_string();
            if let Some(plain) = Plain::read(&text)
                && let Some(fits) = plan.fits(&plain)
            {
                prop_assert_eq!(fits, valid, "{} against {}", text, &schema);
            }
            if let Some(validator) = &validator
                && instance.is_object()
                && !valid
            {
                let why = validator.why_not(&instance);
                let as_read = validator.why_not_as_read(&Spoken::from(instance.clone()));
                prop_assert_eq!(as_read, why.clone(), "{} against {}", text, &schema);
                if let Some(plain) = Plain::read(&text) {
                    let as_read = validator.why_not_as_read(&Spoken::from(plain));
                    prop_assert_eq!(as_read, why, "{} against {}", text, &schema);
                }
            }
        }
    }
}

#[test]
fn a_flat_object_of_scalars_is_decided_without_the_validator() {
    let plan = Plan::of(&json!({
        "type": "object",
        "properties": {
            "path": {"type": "string", "minLength": 1},
            "limit": {"type": ["integer", "null"], "minimum": 0, "maximum": 9},
            "mode": {"enum": ["fast", "whole"]},
            "odd": {"pattern": "^a"},
        },
        "required": ["path"],
        "additionalProperties": false,
    }));
    let fits = |text: &str| plan.fits(&Plain::read(text).unwrap());
    assert_eq!(fits(r#"{"path":"a"}"#), Some(true));
    assert_eq!(fits(r#"{"mode":"fast","path":"a","limit":9}"#), Some(true));
    assert_eq!(fits(r#"{"path":""}"#), Some(false));
    assert_eq!(fits(r#"{"limit":1}"#), Some(false));
    assert_eq!(fits(r#"{"path":"a","limit":10}"#), Some(false));
    assert_eq!(fits(r#"{"path":"a","mode":"slow"}"#), Some(false));
    assert_eq!(fits(r#"{"path":"a","more":1}"#), Some(false));
    assert_eq!(fits(r#"{"path":"a","odd":"b"}"#), None);
    assert_eq!(fits("[]"), Some(false));
}

#[test]
fn one_misfit_is_named_without_the_validator() {
    let plan = Plan::of(&json!({
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "limits": {"type": "array", "items": {"type": "integer"}},
            "a/b": {"type": "object", "properties": {"c": {"type": "null"}}},
        },
        "required": ["path"],
        "additionalProperties": false,
    }));
    let said = |text: &str| {
        plan.misfit(&Plain::read(text).unwrap())
            .map(|said| said.to_string())
    };
    let of_type = |text: &str| said(text).unwrap();
    assert_eq!(
        of_type(r#"{"path":[1]}"#),
        "expected string at /path, got array"
    );
    assert_eq!(
        of_type(r#"{"path":"a","limits":[1,"x"]}"#),
        "expected integer at /limits/1, got string"
    );
    assert_eq!(
        of_type(r#"{"path":"a","a/b":{"c":1}}"#),
        "expected null at /a~1b/c, got integer"
    );
    assert_eq!(of_type(r#"{"limits":[]}"#), "missing key \"path\"");
    assert_eq!(said(r#"{"path":"a"}"#), None, "it fits");
    assert_eq!(said(r#"{"path":1,"limits":1}"#), None, "two");
    assert_eq!(said(r#"{"limits":1}"#), None, "two of two sorts");
    assert_eq!(
        said(r#"{"path":"a","pathh":1}"#),
        None,
        "what was meant is not looked for"
    );
}

#[test]
fn a_schema_of_another_dialect_is_left_to_the_validator() {
    let old = "http://json-schema.org/draft-07/schema#";
    let plan = Plan::of(&json!({"$schema": old, "type": "object"}));
    assert_eq!(plan.fits(&json!({})), None);
}
