//! The canonical form and its digest.

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use tool_core::{Digest, canonical_json};

#[test]
fn a_digest_is_sha_256() {
    assert_eq!(
        Digest::of(b"").to_string(),
        "sha-256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    );
    assert_eq!(
        Digest::of(b"abc").hex(),
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    );
    assert_eq!(Digest::of(b"abc").as_bytes()[..2], [0xba, 0x78]);
}

#[test]
fn moving_a_character_from_one_part_to_the_next_gives_another_digest() {
    let parts: [&[&str]; 6] = [
        &["ab", "c"],
        &["a", "bc"],
        &["abc"],
        &["abc", ""],
        &["", "abc"],
        &["ab", "c", ""],
    ];
    let mut digests: Vec<_> = parts.into_iter().map(Digest::of_parts).collect();
    digests.sort();
    digests.dedup();
    assert_eq!(digests.len(), 6);
}

#[test]
fn canonical_json_sorts_keys_by_their_bytes_at_every_level_and_keeps_lists() {
    let value = json!({"é": 1, "z": {"b": [3, {"y": 1, "x": 2}], "a": null}, "Z": "\"\n"});
    assert_eq!(
        canonical_json(&value),
        r#"{"Z":"\"\n","z":{"a":null,"b":[3,{"x":2,"y":1}]},"é":1}"#
    );
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        proptest::bool::ANY.prop_map(Value::from),
        proptest::num::i64::ANY.prop_map(Value::from),
        // Eighths are written and read exactly.
        proptest::num::i32::ANY.prop_map(|n| json!(f64::from(n) / 8.0)),
        ".{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::Array),
            prop::collection::btree_map(".{0,4}", inner, 0..5)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// The same value, its keys put in the other way round.
fn turned(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let turned = map
                .iter()
                .rev()
                .map(|(key, value)| (key.clone(), turned(value)));
            Value::Object(turned.collect::<Map<_, _>>())
        }
        Value::Array(items) => Value::Array(items.iter().map(turned).collect()),
        leaf => leaf.clone(),
    }
}

proptest! {
    #[test]
    fn canonical_json_reads_back_as_the_same_value(value in values()) {
        let text = canonical_json(&value);
        prop_assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
    }

    #[test]
    fn the_order_of_keys_changes_neither_form_nor_digest(value in values()) {
        let other = turned(&value);
        prop_assert_eq!(canonical_json(&value), canonical_json(&other));
        prop_assert_eq!(Digest::of_json(&value), Digest::of_json(&other));
    }

    #[test]
    fn different_values_have_different_forms(one in values(), other in values()) {
        prop_assert_eq!(one == other, canonical_json(&one) == canonical_json(&other));
    }
}
