use serde_json::Value;

use super::Lines;

const TEXT: &str = r#"{
  "tools": [
    {"name": "a, \"b\": [",
     "input/Schema": {

       "type~": "object"}},
    [1,
     -2.5e3, true, [
     null]],
    {}
  ], "last"
  :
  "x"
}"#;

#[test]
fn every_value_is_found_on_the_line_on_which_it_begins() {
    let lines = Lines::of(TEXT);
    for (pointer, line) in [
        ("", 1),
        ("/tools", 2),
        ("/tools/0", 3),
        ("/tools/0/name", 3),
        ("/tools/0/input~1Schema", 4),
        ("/tools/0/input~1Schema/type~0", 6),
        ("/tools/1", 7),
        ("/tools/1/0", 7),
        ("/tools/1/1", 8),
        ("/tools/1/3", 8),
        ("/tools/1/3/0", 9),
        ("/tools/2", 10),
        ("/last", 13),
    ] {
        assert_eq!(lines.of_value(pointer), line, "{pointer}");
    }
}

#[test]
fn what_is_not_there_is_on_the_line_of_what_it_would_stand_in() {
    let lines = Lines::of(TEXT);
    assert_eq!(lines.of_value("/tools/0/input~1Schema/required/3"), 4);
    assert_eq!(lines.of_value("/other"), 1);
    assert_eq!(Lines::default().of_value("/other"), 1);
}

#[test]
fn no_place_is_missed_and_none_is_made_up() {
    fn count(value: &Value) -> usize {
        match value {
            Value::Object(map) => 1 + map.values().map(count).sum::<usize>(),
            Value::Array(items) => 1 + items.iter().map(count).sum::<usize>(),
            _ => 1,
        }
    }
    let value: Value = serde_json::from_str(TEXT).unwrap();
    let lines = Lines::of(TEXT);
    assert_eq!(lines.0.len(), count(&value));
    for pointer in lines.0.keys() {
        assert!(value.pointer(pointer).is_some(), "{pointer}");
    }
}

#[test]
fn text_that_is_no_json_ends_too() {
    for text in [
        "\"open",
        "}}]]",
        "{\"a\" \"b\" 1 [",
        "\u{feff}{\n\"a\": \"\u{e9}\\",
        "",
    ] {
        assert!(Lines::of(text).of_value("/a") >= 1, "{text}");
    }
}

#[test]
fn values_under_a_long_key_take_no_more_than_their_share_and_count_as_what_they_stand_in() {
    let key = "k".repeat(1 << 20);
    let text = format!(
        "{{\n\"{key}\":\n[\n{}1],\n\"last\": 1}}",
        "1,\n".repeat(199)
    );
    let lines = Lines::of(&text);
    let taken: usize = lines.0.keys().map(String::len).sum();
    assert!((60 << 20..=64 << 20).contains(&taken), "{taken}");
    assert_eq!(lines.of_value(&format!("/{key}/20")), 24);
    assert_eq!(
        lines.of_value(&format!("/{key}/199")),
        3,
        "the line of the list"
    );
    assert_eq!(
        lines.of_value("/last"),
        204,
        "what is short is found after all"
    );
}
