use serde_json::{Map, Value};

use super::Entries;

#[test]
fn entries_come_in_the_order_of_their_keys_and_each_object_takes_away_its_own() {
    let mut names = [
        "type",
        "description",
        "descriptions",
        "descript",
        "",
        "a",
        "a\u{0}",
        "a\u{0}b",
        "$ref",
        "\u{e9}t\u{e9}",
        "properties",
        "\u{1f600}",
        "zzzzzzzz",
        "zzzzzzzzz",
        "ab",
        "abc",
        "abcd",
        "abcd\u{0}",
        "abce",
        "abcde",
        "abcdea",
        "abcdz",
        "abcdab",
        "abcdabz",
        "abcdef",
        "bcd",
        "abcdefg",
    ];
    let map: Map<String, Value> = names
        .iter()
        .map(|name| ((*name).to_owned(), Value::Null))
        .collect();
    let mut entries = Entries::default();
    let outer = entries.push(&map);
    let inner = entries.push(&map);
    names.sort_unstable();
    for range in [outer.clone(), inner.clone()] {
        let keys: Vec<&str> = range
            .filter_map(|at| entries.get(at))
            .map(|(key, _)| key)
            .collect();
        assert_eq!(keys, names);
    }
    entries.pop(&inner);
    assert!(entries.get(inner.start).is_none() && entries.get(outer.start).is_some());
}
