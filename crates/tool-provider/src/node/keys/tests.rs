use serde_json::{Value, json};

use super::{Keys, Marks};
use crate::node::{Plain, Slot};

fn number(number: u64) -> Slot<'static> {
    Slot::Plain(Plain::Made(Box::new(number.into())))
}

#[test]
fn keywords_stand_sorted_and_each_once_in_whatever_order_they_come() {
    let given = json!(true);
    let first = ["$ref", "type", "x"].map(|name| (name, Slot::Plain(Plain::Given(&given))));
    let mut keys = Keys::of_sorted(first.into());
    for (name, at) in ["items", "type", "additionalProperties"]
        .into_iter()
        .zip(3..)
    {
        keys.insert(name, number(at));
    }
    keys.or_insert("x", number(9));
    keys.or_insert("not", number(7));
    let is = |slot: Option<&Slot<'_>>, wanted: Value| matches!(slot, Some(Slot::Plain(it)) if **it == wanted);
    assert!(is(keys.get("type"), json!(4)) && is(keys.get("not"), json!(7)));
    assert!(is(keys.get("x"), given.clone()));
    assert!(is(keys.remove("items").as_ref(), json!(3)));
    assert!(keys.remove("items").is_none() && !keys.has("items"));
    let names: Vec<&str> = keys.keys().collect();
    assert_eq!(names, ["$ref", "additionalProperties", "not", "type", "x"]);
}

#[test]
fn a_keyword_is_found_whatever_others_share_its_mark_and_not_once_it_is_gone() {
    let names = [
        "", "allOf", "anyOf", "enum", "maximum", "minimum", "oneOf", "x",
    ];
    for (gone, name) in names.into_iter().enumerate() {
        let mut keys = Keys::of_sorted(names.map(|name| (name, number(1))).into());
        assert!(keys.remove(name).is_some());
        for (at, name) in names.into_iter().enumerate() {
            assert_eq!(keys.has(name), at != gone, "{name}");
        }
        keys.retain(|key, _| key == "enum");
        assert_eq!(keys.has("enum"), name != "enum");
        assert!(!keys.has("oneOf"));
        keys.clear();
        assert!(!keys.has("enum"));
    }
}

#[test]
fn only_annotations_are_left_once_the_last_keyword_that_constrains_is_gone() {
    let make = || Keys::of_sorted(["title", "type"].map(|name| (name, number(1))).into());
    let mut keys = make();
    assert!(!keys.annotate());
    assert!(keys.remove("type").is_some());
    assert!(keys.annotate() && keys.has("title"));
    let mut keys = make();
    keys.retain(|key, _| key != "type");
    assert!(keys.annotate() && keys.has("title"));
}

#[test]
fn a_keyword_that_shares_the_mark_of_an_annotation_is_none() {
    assert_eq!(Marks::of("titne"), Marks::of("title"));
    let keys = Keys::of_sorted(vec![("titne", number(1))]);
    assert!(!keys.annotate());
}
