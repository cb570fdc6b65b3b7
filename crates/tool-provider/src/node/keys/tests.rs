use std::borrow::Cow;

use serde_json::Value;

use super::{KNOWN, Keys, key_of};
use crate::node::Slot;

#[test]
fn a_keyword_that_is_known_is_not_copied() {
    for name in KNOWN {
        assert!(matches!(key_of(name), Cow::Borrowed(_)), "{name}");
    }
    assert_eq!(key_of("x-unknown"), "x-unknown");
}

#[test]
fn keywords_stand_sorted_and_each_once_in_whatever_order_they_come() {
    let mut keys = Keys::default();
    for (number, name) in ["type", "$ref", "x", "items", "type", "additionalProperties"]
        .into_iter()
        .enumerate()
    {
        keys.insert(key_of(name), Slot::Plain(number.into()));
    }
    keys.or_insert("x", Slot::Plain(9.into()));
    keys.or_insert("not", Slot::Plain(7.into()));
    let is =
        |slot: Option<&Slot>, number: u64| matches!(slot, Some(Slot::Plain(it)) if *it == number);
    assert!(is(keys.get("type"), 4) && is(keys.get("x"), 2) && is(keys.get("not"), 7));
    assert!(matches!(
        keys.remove("items"),
        Some(Slot::Plain(Value::Number(_)))
    ));
    assert!(keys.remove("items").is_none() && !keys.has("items"));
    let names: Vec<&str> = keys.keys().map(|key| &**key).collect();
    assert_eq!(names, ["$ref", "additionalProperties", "not", "type", "x"]);
}
