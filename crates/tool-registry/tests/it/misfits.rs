//! Arguments that are JSON and do not fit the tool: what the model is told.

use serde_json::{Value, json};
use tool_core::{Context, InvalidArguments, Issue, Tool};

use crate::tools::{against, invalid, one_issue, refusal, settle};

#[tokio::test]
async fn nothing_is_refused_where_an_argument_is_required() {
    let schema =
        json!({"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]});
    let (settled, runs) = against(schema, "").await;
    assert!(matches!(one_issue(&settled), Issue::Missing { key, .. } if key == "q"));
    assert_eq!(runs, 0);
}

#[derive(Debug, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
struct Whole {
    n: i64,
}

#[tokio::test]
async fn a_number_that_loses_a_digit_is_no_i64_and_is_refused_with_its_path() {
    for number in ["1.00000000000000000001", "9007199254740993.0", "1e300"] {
        let tool = Tool::new(
            "Takes a whole number",
            |input: Whole, _: Context| async move { Ok(input) },
        );
        let settled = settle(tool, &format!(r#"{{"n":{number}}}"#)).await;
        assert!(matches!(one_issue(&settled), Issue::Constraint { path, .. } if path == "/n"));
    }
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Narrow {
    #[expect(dead_code, reason = "only decoded")]
    deep: Vec<Port>,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Port {
    #[expect(dead_code, reason = "only decoded")]
    #[serde(rename = "a/b~c")]
    port: std::net::IpAddr,
}

#[tokio::test]
async fn what_only_the_decoder_refuses_has_a_pointer_and_no_value() {
    let tool = Tool::new(
        "Takes addresses",
        |_: Narrow, _: Context| async move { Ok(()) },
    );
    let settled = settle(tool, r#"{"deep":[{"a/b~c":"::1"},{"a/b~c":"canary"}]}"#).await;
    assert!(
        matches!(one_issue(&settled), Issue::Constraint { path, .. } if path == "/deep/1/a~1b~0c")
    );
    assert!(!format!("{settled:?}{}", settled.text()).contains("canary"));
}

#[tokio::test]
async fn a_misspelt_key_gets_the_nearest_name() {
    let schema = json!({
        "type": "object",
        "properties": {"path": {"type": "string"}, "dry_run": {"type": "boolean"}},
        "additionalProperties": false
    });
    for (key, nearest) in [
        ("pth", Some("path")),
        ("Path", Some("path")),
        ("dryrun", Some("dry_run")),
        ("dry-run", Some("dry_run")),
        ("recursive", None),
    ] {
        let (settled, runs) = against(schema.clone(), format!(r#"{{"{key}":1}}"#)).await;
        let Issue::UnknownKey { nearest: got, .. } = one_issue(&settled) else {
            panic!("expected an unknown key");
        };
        assert_eq!(got.as_deref(), nearest, "{key}");
        assert_eq!(runs, 0);
    }
    // A key that was given already is not what the caller misspelt.
    let (settled, _) = against(schema, r#"{"path":"x","pth":"y"}"#).await;
    assert!(matches!(
        one_issue(&settled),
        Issue::UnknownKey { nearest: None, .. }
    ));
}

#[tokio::test]
async fn a_misspelt_key_gets_the_nearest_name_in_nested_recursive_and_combined_schemas() {
    let node = json!({
        "type": "object",
        "properties": {"value": {"type": "integer"}, "next": {"$ref": "#/$defs/node"}},
        "additionalProperties": false,
        "$defs": {"node": {
            "type": "object",
            "properties": {"value": {"type": "integer"}, "next": {"$ref": "#/$defs/node"}},
            "additionalProperties": false
        }}
    });
    let (settled, _) = against(node, r#"{"next":{"next":{"valeu":1}}}"#).await;
    assert!(
        settled
            .text()
            .contains(r#"in /next/next (did you mean "value"?)"#),
        "{}",
        settled.text()
    );

    let combined = json!({
        "type": "object",
        "properties": {"own": {"type": "integer"}},
        "oneOf": [
            {"properties": {"first": {"type": "integer"}}, "required": ["first"]},
            {"properties": {"second": {"type": "integer"}}, "required": ["second"]}
        ],
        "unevaluatedProperties": false
    });
    let (settled, _) = against(combined, r#"{"own":1,"second":1,"frist":1}"#).await;
    assert!(
        settled.text().contains(r#"(did you mean "first"?)"#),
        "{}",
        settled.text()
    );
}

#[tokio::test]
async fn a_name_as_long_as_a_book_is_refused_without_a_suggestion() {
    let schema = json!({
        "type": "object",
        "properties": {"path": {"type": "string"}},
        "additionalProperties": false
    });
    let (settled, _) = against(schema, format!(r#"{{"{}":1}}"#, "p".repeat(1_000_000))).await;
    assert!(matches!(
        one_issue(&settled),
        Issue::UnknownKey { nearest: None, .. }
    ));
    assert!(
        settled.text().len() < 1_000,
        "{} bytes",
        settled.text().len()
    );
}

#[tokio::test]
async fn at_most_ten_issues_are_given_and_the_rest_is_counted() {
    let schema = json!({"type": "object", "additionalProperties": {"type": "integer"}});
    for (wrong, shown) in [(1, 1), (10, 10), (11, 10), (500, 10)] {
        let arguments: serde_json::Map<_, _> =
            (0..wrong).map(|n| (format!("k{n}"), json!("x"))).collect();
        let (settled, _) = against(schema.clone(), Value::Object(arguments)).await;
        assert_eq!(invalid(&settled).issues().len(), shown);
        if wrong > shown {
            let rest = format!("and {} more", wrong - shown);
            assert!(settled.text().contains(&rest), "{}", settled.text());
        }
    }
    assert_eq!(InvalidArguments::MAX_ISSUES, 10);
}

#[tokio::test]
async fn each_kind_of_misfit_names_its_place_and_what_was_expected() {
    let schema = json!({
        "type": "object",
        "properties": {
            "s": {"type": "string", "minLength": 2, "maxLength": 3, "pattern": "^a"},
            "n": {"type": ["integer", "null"], "minimum": 1, "exclusiveMaximum": 9},
            "e": {"enum": ["red", 2]},
            "c": {"const": "only"},
            "l": {"type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": 2},
            "o": {"anyOf": [
                {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
                {"type": "null"}
            ]}
        }
    });
    for (arguments, text) in [
        (r#"{"s":1}"#, "expected string at /s, got integer"),
        (r#"{"s":"a"}"#, "expected at least 2 characters at /s"),
        (r#"{"s":"abcd"}"#, "expected at most 3 characters at /s"),
        (r#"{"s":"bb"}"#, "expected a string that matches ^a at /s"),
        (r#"{"n":0}"#, "expected at least 1 at /n"),
        (r#"{"n":9}"#, "expected less than 9 at /n"),
        (r#"{"n":1.5}"#, "expected null or integer at /n, got number"),
        (r#"{"e":"blue"}"#, r#"expected one of "red", 2 at /e"#),
        (r#"{"c":"other"}"#, r#"expected one of "only" at /c"#),
        (r#"{"l":[]}"#, "expected at least 1 items at /l"),
        (r#"{"l":[1,2,3]}"#, "expected at most 2 items at /l"),
        (r#"{"l":[1,"x"]}"#, "expected integer at /l/1, got string"),
        (r#"{"o":{"a":"x"}}"#, "expected integer at /o/a, got string"),
        (r#"{"o":{}}"#, r#"missing key "a" in /o"#),
    ] {
        let (settled, runs) = against(schema.clone(), arguments).await;
        assert_eq!(refusal(&settled).to_string(), text, "{arguments}");
        assert_eq!(settled.text(), text);
        assert_eq!(runs, 0);
    }
}

#[tokio::test]
async fn of_thousands_of_misfits_only_those_that_are_read_are_looked_at_closely() {
    let words: Vec<_> = (0..500)
        .map(|number| format!("a_rather_long_word_{number}"))
        .collect();
    let keys: serde_json::Map<String, Value> =
        words.iter().map(|word| (word.clone(), json!({}))).collect();
    let closed = json!({"type": "object", "properties": keys, "additionalProperties": false});
    let of = |items: Value| json!({"type": "object", "properties": {"list": {"type": "array", "items": items}}});
    let either = json!({"anyOf": [{"type": "null"}, {"type": "array", "items": {"enum": words}}]});
    let misspelt = |number| format!("a_rather_lng_word_{number}");
    let texts: Vec<_> = (0..4_000).map(misspelt).collect();
    let objects: Vec<_> = texts.iter().map(|word| json!({word: 1})).collect();
    // Each is compared with hundreds of words: closely for all of them it takes minutes.
    for (schema, list) in [
        (of(json!({"enum": words})), json!(texts)),
        (of(either), json!([texts])),
        (of(closed), json!(objects)),
    ] {
        let (settled, runs) = against(schema, json!({"list": list}).to_string()).await;
        assert_eq!(runs, 0);
        let text = settled.text();
        assert!(
            text.contains("a_rather_long_word_9") && text.ends_with(" more"),
            "{text}"
        );
        assert_eq!(
            invalid(&settled).issues().len(),
            InvalidArguments::MAX_ISSUES
        );
    }
}

#[tokio::test]
async fn no_name_is_passed_over_that_is_near() {
    let names: Vec<_> = (0..60_usize)
        .map(|number| {
            let stem = ["read", "write_file", "Größe", "list_all_of_the_entries"][number % 4];
            format!("{stem}{}", "x".repeat(number / 8))
        })
        .collect();
    let keys: serde_json::Map<String, Value> =
        names.iter().map(|name| (name.clone(), json!({}))).collect();
    let schema = json!({"type": "object", "properties": keys, "additionalProperties": false});
    for name in &names {
        let letters: Vec<char> = name.chars().collect();
        let (head, tail) = letters.split_at(letters.len() / 2);
        let text = |letters: &[char]| letters.iter().collect::<String>();
        let swapped: Vec<char> = [&head[..1], &tail[..1], &head[1..], &tail[1..]].concat();
        for given in [
            format!("{}Q{}", text(head), text(tail)),
            format!("{}{}", text(head), text(&tail[1..])),
            text(&swapped).to_uppercase(),
        ] {
            let reach = (given.chars().count() / 3).max(2);
            let near = |known: &&String| {
                strsim::osa_distance(&given.to_lowercase(), &known.to_lowercase()) <= reach
            };
            let expected = names.iter().any(|known| near(&known)) && !names.contains(&given);
            let (settled, _) = against(schema.clone(), json!({given.as_str(): 1})).await;
            if names.contains(&given) {
                continue;
            }
            let Issue::UnknownKey { nearest, .. } = one_issue(&settled) else {
                panic!("expected an unknown key")
            };
            assert_eq!(nearest.is_some(), expected, "{given}");
        }
    }
}
