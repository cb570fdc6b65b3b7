//! Arguments that are read without making a value of them.

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use proptest::prelude::*;
use schemars::JsonSchema;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value, json};
use tool_core::{Context, Plain, Spoken, Tool};

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "\\PC{0,6}".prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::Array),
            prop::collection::btree_map("[a-c\"\\\\]{0,2}", inner, 0..5)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn what_is_read_plainly_is_what_every_parser_reads(value in value(), spaced in any::<bool>()) {
        let text = if spaced {
            serde_json::to_string_pretty(&value).unwrap()
        } else {
            value.to_string()
        };
        if let Some(plain) = Plain::read(&text) {
            prop_assert_eq!(plain.to_value(), serde_json::from_str::<Value>(&text).unwrap());
            prop_assert_eq!(plain.to_json(), serde_json::to_string(&plain).unwrap());
        }
    }

    #[test]
    fn text_that_is_read_plainly_is_json(
        text in r#"[\[{]?["\\atn:,0-9eE.+ -]{0,8}(true|null|"a")?[\]}"]{0,2}"#,
    ) {
        if let Some(plain) = Plain::read(&text) {
            prop_assert_eq!(Some(plain.to_value()), serde_json::from_str(&text).ok());
        }
    }
}

#[test]
fn ordinary_arguments_are_read_plainly() {
    for text in [
        r#"{"a": 19, "b": 23}"#,
        r#" {"text":"one\ntwo \u00e4","list":[1,-2,0.5],"none":null,"flag":true} "#,
        "{}",
        "[]",
        "0",
        "-1.5e3",
        "18446744073709551615",
        "-9223372036854775808",
    ] {
        let plain = Plain::read(text);
        if text == "-1.5e3" {
            assert_eq!(plain, None, "it is spelled like a fraction and has none");
        } else {
            let value: Value = serde_json::from_str(text).unwrap();
            assert_eq!(plain.map(|plain| plain.to_value()), Some(value), "{text}");
        }
    }
}

#[test]
fn what_has_more_than_one_reading_is_left_to_the_strict_reader() {
    let deep = "[".repeat(17) + &"]".repeat(17);
    let wide: Map<String, Value> = (0..17).map(|n| (n.to_string(), json!(n))).collect();
    let wide = Value::Object(wide).to_string();
    for text in [
        "",
        " ",
        "{",
        r#"{"a":1"#,
        r#"{"a":1}}"#,
        r#"{"a":1,}"#,
        r#"{"a":1,"a":1}"#,
        r#"{"a":1,"\u0061":1}"#,
        r#"{a:1}"#,
        "[1 2]",
        "[1,]",
        "1.0",
        "1e3",
        "-0",
        "01",
        "-",
        "1.",
        "18446744073709551616",
        "-9223372036854775809",
        "nul",
        "truer",
        "\"a\nb\"",
        r#""\ud800""#,
        r#""\"#,
        &deep,
        &wide,
    ] {
        assert_eq!(Plain::read(text), None, "{text}");
    }
}

#[derive(Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
struct Everything {
    number: Option<i64>,
    small: u8,
    half: f32,
    flag: bool,
    sign: Option<char>,
    list: Vec<Wrapped>,
    pair: Option<(i32, String)>,
    by_number: HashMap<u64, i8>,
    by_name: BTreeMap<String, Unit>,
    mode: Mode,
    either: Either,
    any: Value,
    #[schemars(with = "Value")]
    ordered: Ordered,
    #[schemars(with = "Value")]
    #[serde(deserialize_with = "forgiving")]
    forgiven: HashMap<u64, i8>,
    #[serde(flatten)]
    rest: BTreeMap<String, Value>,
}

#[derive(Debug, Default, Deserialize, Serialize, JsonSchema)]
struct Wrapped(u16);

#[derive(Debug, Default, Deserialize, Serialize, JsonSchema)]
struct Unit;

#[derive(Debug, Default, Deserialize, Serialize, JsonSchema)]
enum Mode {
    #[default]
    Fast,
    Named {
        name: String,
    },
    Counted(u8),
}

#[derive(Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(untagged)]
enum Either {
    Number(i64),
    Texts(Vec<String>),
    #[default]
    Nothing,
}

/// Keys in the order in which they come.
#[derive(Debug, Default, Serialize)]
struct Ordered(Vec<String>);

impl<'de> Deserialize<'de> for Ordered {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Keys;
        impl<'de> Visitor<'de> for Keys {
            type Value = Ordered;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Ordered, A::Error> {
                let mut keys = Vec::new();
                while let Some((key, IgnoredAny)) = members.next_entry::<String, _>()? {
                    keys.push(format!("{key} of {:?}", members.size_hint()));
                }
                Ok(Ordered(keys))
            }
        }
        deserializer.deserialize_map(Keys)
    }
}

/// Makes nothing of every error.
fn forgiving<'de, D: Deserializer<'de>>(deserializer: D) -> Result<HashMap<u64, i8>, D::Error> {
    Ok(HashMap::deserialize(deserializer).unwrap_or_default())
}

/// What a tool makes of a text that is read plainly, and of its value.
fn both(text: &str) -> [Option<Value>; 2] {
    let tool = Tool::from(Tool::new(
        "Echo",
        |input: Everything, _: Context| async move { Ok(serde_json::to_value(&input)?) },
    ));
    let plain = Plain::read(text).unwrap();
    let value = plain.to_value();
    let executor = tool.executor();
    let spoken = Spoken::from(plain);
    [executor.prepare(&value), executor.prepare_spoken(&spoken)].map(|prepared| {
        let mut running = prepared.ok()?.run(Context::detached());
        futures_util::FutureExt::now_or_never(running.as_mut())?.ok()?;
        running.as_mut().encode().ok()?.output.map(Value::from)
    })
}

#[test]
fn a_type_reads_plain_arguments_as_it_reads_their_value() {
    let members = [
        r#""number":5"#,
        r#""number":null"#,
        r#""number":0.5"#,
        r#""small":255"#,
        r#""small":256"#,
        r#""half":1"#,
        r#""half":0.25"#,
        r#""flag":true"#,
        r#""flag":"true""#,
        r#""sign":"x""#,
        r#""sign":"xy""#,
        r#""list":[1,2]"#,
        r#""list":[70000]"#,
        r#""pair":[1,"a"]"#,
        r#""pair":[1]"#,
        r#""pair":[1,"a",2]"#,
        r#""by_number":{"7":1}"#,
        r#""by_number":{"x":1}"#,
        r#""by_name":{"a":null}"#,
        r#""by_name":{"a":1}"#,
        r#""mode":"Fast""#,
        r#""mode":"Slow""#,
        r#""mode":"Counted""#,
        r#""mode":{"Counted":3}"#,
        r#""mode":{"Named":{"name":"a\"b"}}"#,
        r#""either":-3"#,
        r#""either":["a","b"]"#,
        r#""either":null"#,
        r#""either":{}"#,
        r#""any":{"a":[1,0.5,"x",null,true]}"#,
        r#""ordered":{"a":1,"b":2,"ba":3}"#,
        r#""ordered":{"b":1,"é":2,"a":3,"B":[],"":4}"#,
        r#""forgiven":{"7":1}"#,
        r#""forgiven":{"x":1}"#,
        r#""forgiven":3"#,
        r#""else":[1]"#,
    ];
    let (mut read, mut refused) = (0, 0);
    for member in members {
        let [of_value, of_plain] = both(&format!("{{{member}}}"));
        assert_eq!(of_plain, of_value, "{member}");
        *(if of_plain.is_some() {
            &mut read
        } else {
            &mut refused
        }) += 1;
    }
    assert!(read > 15 && refused > 8, "{read} read, {refused} refused");
    assert_eq!(both(r#"["a"]"#), [None, None]);
}

#[test]
fn arguments_are_a_value_to_whoever_asks() {
    let spoken = Spoken::from(Plain::read(r#"{"a":[1]}"#).unwrap());
    assert!(std::ptr::eq(spoken.value(), spoken.value()));
    assert_eq!(spoken.value(), &json!({"a": [1]}));
    assert_eq!(spoken.into_value(), json!({"a": [1]}));
    let given = Spoken::from(json!({"b": 2}));
    assert!(given.plain().is_none());
    assert_eq!(given.into_value(), json!({"b": 2}));
}
