//! Output is what its value would be, whether one was made of it or not.

use std::collections::{BTreeMap, HashMap};

use proptest::prelude::*;
use serde::ser::{SerializeMap as _, Serializer};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value, json};
use tool_core::Output;

/// Encodes, and holds the output against the value that serde_json makes. Whether no value was
/// made.
fn encoded(output: &impl Serialize) -> bool {
    let value = serde_json::to_value(output).unwrap();
    let output = Output::encode(output).unwrap();
    assert_eq!(output.to_string(), value.to_string());
    assert_eq!(format!("{output:#}"), format!("{value:#}"));
    assert_eq!(serde_json::to_string(&output).unwrap(), value.to_string());
    assert_eq!(output.as_text(), value.as_str());
    assert_eq!(output.is_null(), value.is_null());
    let is_plain = output.plain().is_some();
    if let Some(plain) = output.plain() {
        assert_eq!(plain.to_json(), value.to_string());
    }
    assert_eq!(output.value(), &value);
    assert_eq!(output, Output::from(value.clone()));
    assert_eq!(output.clone().into_value(), value);
    // One that nobody has asked for yet is made of the parts.
    assert_eq!(Output::encode(&value).unwrap().into_value(), value);
    is_plain
}

#[derive(Serialize)]
struct Unsorted {
    zeta: u8,
    alpha: Option<char>,
    inner: Inner,
}

#[derive(Serialize)]
struct Inner(f32);

#[derive(Serialize)]
struct Unit;

#[derive(Serialize)]
enum Every {
    Unit,
    Newtype(i64),
    Struct { b: bool, a: () },
}

#[test]
fn output_of_the_simple_sort_is_not_made_a_value() {
    assert!(encoded(&Unsorted {
        zeta: 7,
        alpha: Some('ä'),
        inner: Inner(0.1),
    }));
    assert!(encoded(&Every::Unit));
    assert!(encoded(&Every::Newtype(i64::MIN)));
    assert!(encoded(&Every::Struct { b: true, a: () }));
    assert!(encoded(&(1_u64, "two", [3.5, f64::NAN], u64::MAX)));
    assert!(encoded(&Unit));
    assert!(encoded(&""));
    assert!(encoded(&HashMap::from([("b", 1), ("c", 2), ("a", 3)])));
    assert!(encoded(&BTreeMap::from([(
        Key("k".to_owned()),
        None::<u8>
    )])));
}

#[derive(PartialEq, Eq, PartialOrd, Ord, Serialize)]
struct Key(String);

/// Writes a key twice.
struct Twice;

impl Serialize for Twice {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("a", &1)?;
        map.serialize_entry("b", &2)?;
        map.serialize_entry("a", &3)?;
        map.end()
    }
}

struct Bytes;

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(b"ab")
    }
}

#[derive(Serialize)]
enum Tuple {
    Pair(u8, u8),
}

#[derive(Serialize)]
#[serde(rename = "$private")]
struct Named {
    a: u8,
}

#[test]
fn output_of_any_other_sort_is_the_value_itself() {
    assert!(!encoded(&Twice));
    assert!(!encoded(&Bytes));
    assert!(!encoded(&Tuple::Pair(1, 2)));
    assert!(!encoded(&u128::from(u64::MAX)));
    assert!(!encoded(&BTreeMap::from([(1, 2), (10, 3), (9, 4)])));
    assert!(!encoded(&BTreeMap::from([(true, 2)])));
    assert!(!encoded(&Named { a: 1 }));
    let deep = (0..65).fold(Value::Null, |inner, _| Value::Array(vec![inner]));
    assert!(!encoded(&deep));
}

#[test]
fn large_output_becomes_a_value_at_once_so_that_nobody_holds_it_twice() {
    assert!(encoded(&"a".repeat(60_000)));
    assert!(!encoded(&"a".repeat(70_000)));
    assert!(encoded(&vec![0; 60_000]));
    assert!(!encoded(&vec![0; 70_000]));
}

#[test]
fn output_without_a_json_form_is_refused_as_serde_json_refuses_it() {
    let refused = |encoded: Result<Output, serde_json::Error>| encoded.unwrap_err().to_string();
    assert_eq!(
        refused(Output::encode(&u128::MAX)),
        serde_json::to_value(u128::MAX).unwrap_err().to_string()
    );
    let keyed = HashMap::from([((1, 2), 3)]);
    assert_eq!(
        refused(Output::encode(&keyed)),
        serde_json::to_value(&keyed).unwrap_err().to_string()
    );
    let some = BTreeMap::from([(Some("a"), 1)]);
    assert_eq!(
        Output::encode(&some).map(Output::into_value).ok(),
        serde_json::to_value(&some).ok()
    );
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Typed {
    rows: Vec<BTreeMap<String, Option<i16>>>,
    kind: Kind,
    share: f64,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "kind")]
enum Kind {
    One { n: u32 },
    Other { text: String },
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(|it| Number::from_f64(it).map_or(Value::Null, Value::Number)),
        ".{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map("[a-c\"é]{0,3}", inner, 0..6)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn any_output_is_what_its_value_is(
        value in any_value(),
        rows in prop::collection::vec(
            prop::collection::btree_map("[a-z]{0,4}", any::<Option<i16>>(), 0..4), 0..4),
        kind in prop_oneof![
            any::<u32>().prop_map(|n| Kind::One { n }),
            ".{0,6}".prop_map(|text| Kind::Other { text }),
        ],
        share in any::<f64>(),
    ) {
        encoded(&value);
        let rest = value.as_object().cloned().unwrap_or_default();
        encoded(&Typed { rows, kind, share, rest });
    }
}

#[test]
fn an_output_is_equal_to_its_value() {
    assert_eq!(Output::from(json!([1])), json!([1]));
    assert_ne!(Output::encode(&[1, 2]).unwrap(), json!([1]));
}
