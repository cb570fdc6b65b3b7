//! From what was delivered to valid input: JSON with one reading, validated, or a clear refusal.

use proptest::prelude::*;
use serde_json::{Value, json};
use tool_core::{Arguments, Call, Context, Facts, InvalidArguments, Issue, Tool};

use crate::ports::{Count, open};
use crate::tools::{invalid, mirror, output, refusal, settle};

/// Settles a call of a tool that takes any object, and returns how often it ran.
async fn any(arguments: impl Into<Arguments>) -> (tool_core::Settlement, usize) {
    against(json!({"type": "object"}), arguments).await
}

async fn against(schema: Value, arguments: impl Into<Arguments>) -> (tool_core::Settlement, usize) {
    let (registry, runs) = (open().build(), Count::default());
    let _tool = registry
        .register([("tool", mirror(schema, &runs))])
        .unwrap();
    let call = Call::new("tool", arguments);
    let settled = registry.snapshot().settle(call, &Facts::new()).await;
    (settled, runs.get())
}

#[track_caller]
fn one_issue(settled: &tool_core::Settlement) -> &Issue {
    let issues = invalid(settled).issues();
    assert_eq!(issues.len(), 1, "{issues:?}");
    &issues[0]
}

#[tokio::test]
async fn nothing_blank_text_and_null_are_an_empty_object_and_recorded() {
    for nothing in ["", " \n\t", "null", " null "] {
        let (settled, _) = any(nothing).await;
        assert_eq!(output(&settled), &json!({}), "{nothing:?}");
        assert_eq!(settled.repairs.len(), 1, "{nothing:?}");
        assert_eq!(settled.repairs[0].rule, "empty_arguments");
    }
    let (settled, _) = any(Value::Null).await;
    assert_eq!(output(&settled), &json!({}));
    assert_eq!(settled.repairs.len(), 1);

    let (settled, _) = any("{}").await;
    assert!(settled.repairs.is_empty());
}

#[tokio::test]
async fn nothing_is_refused_where_an_argument_is_required() {
    let schema =
        json!({"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]});
    let (settled, runs) = against(schema, "").await;
    assert!(matches!(one_issue(&settled), Issue::Missing { key, .. } if key == "q"));
    assert_eq!(runs, 0);
}

#[tokio::test]
async fn a_key_that_stands_twice_is_refused_at_any_depth() {
    for text in [
        r#"{"a":1,"a":1}"#,
        r#"{"a":1,"\u0061":2}"#,
        r#"{"o":{"a":1,"b":2,"a":3}}"#,
        r#"{"l":[0,{"a":1,"a":2}]}"#,
    ] {
        let (settled, runs) = any(text).await;
        assert!(
            matches!(one_issue(&settled), Issue::DuplicateKey { key } if key == "a"),
            "{text}"
        );
        assert_eq!(runs, 0, "{text}");
    }
    let (settled, _) = any(r#"{"a":{"a":1},"b":{"a":1}}"#).await;
    assert_eq!(settled.outcome.as_str(), "completed");
}

#[tokio::test]
async fn text_that_is_cut_anywhere_is_refused_as_truncated_and_never_run() {
    let whole = r#"{"commands":["npm install","n\u00e4pm"],"n":-12.5e3,"t":true,"o":{"x":null}}"#;
    let (settled, runs) = any(whole).await;
    assert_eq!((settled.outcome.as_str(), runs), ("completed", 1));
    for end in 1..whole.len() {
        let (settled, runs) = any(&whole[..end]).await;
        assert!(
            matches!(
                one_issue(&settled),
                Issue::Syntax {
                    truncated: true,
                    ..
                }
            ),
            "{}",
            &whole[..end]
        );
        assert!(settled.text().contains("send the whole JSON object"));
        assert_eq!(runs, 0);
    }
}

#[tokio::test]
async fn other_spellings_of_json_are_refused() {
    for text in [
        "{'a':1}",
        "{a:1}",
        r#"{"a":1,}"#,
        r#"{"a":1} {}"#,
        r#"{"a":1}}"#,
        r#"{"a":1} run it"#,
        "{\"a\":1 /* one */}",
        r#"{"a":True}"#,
        r#"{"a":NaN}"#,
        r#"{"a":Infinity}"#,
        r#"{"a":01}"#,
        r#"{"a":+1}"#,
        "{\"a\":\"\n\"}",
        "\u{feff}{}",
    ] {
        let (settled, runs) = any(text).await;
        assert!(
            matches!(
                one_issue(&settled),
                Issue::Syntax {
                    truncated: false,
                    ..
                }
            ),
            "{text}: {:?}",
            invalid(&settled)
        );
        assert_eq!(runs, 0, "{text}");
    }
}

#[tokio::test]
async fn a_syntax_issue_names_line_and_column() {
    let (settled, _) = any("{\n  \"a\": ?}").await;
    let Issue::Syntax { line, column, .. } = one_issue(&settled) else {
        panic!("expected a syntax issue");
    };
    assert_eq!((*line, *column), (2, 8));
}

#[tokio::test]
async fn arguments_that_are_no_object_are_refused() {
    for (text, kind) in [
        ("[1]", "array"),
        ("1", "integer"),
        ("1.5", "number"),
        ("true", "boolean"),
        (r#""x""#, "string"),
    ] {
        let (settled, runs) = any(text).await;
        assert_eq!(one_issue(&settled), &Issue::NotObject { got: kind });
        assert_eq!(runs, 0);

        let value: Value = serde_json::from_str(text).unwrap();
        let (settled, _) = any(value).await;
        assert_eq!(one_issue(&settled), &Issue::NotObject { got: kind });
    }
}

#[tokio::test]
async fn nesting_of_128_levels_is_taken_and_129_are_refused() {
    let nested = |levels: usize| {
        let arrays = levels - 1;
        format!("{{\"x\":{}{}}}", "[".repeat(arrays), "]".repeat(arrays))
    };
    let (settled, _) = any(nested(128)).await;
    assert_eq!(settled.outcome.as_str(), "completed");
    for levels in [129, 130, 100_000] {
        let (settled, runs) = any(nested(levels)).await;
        let Issue::Unrepresentable { what } = one_issue(&settled) else {
            panic!("expected a refusal for depth");
        };
        assert!(what.contains("128 levels"), "{what}");
        assert_eq!(runs, 0);
    }
}

#[tokio::test]
async fn a_value_that_code_built_is_held_to_the_same_depth() {
    let nested = |levels: usize| {
        let mut value = json!([]);
        for _ in 2..levels {
            value = Value::Array(vec![value]);
        }
        Value::Object([("x".to_owned(), value)].into_iter().collect())
    };
    let (settled, _) = any(nested(128)).await;
    assert_eq!(settled.outcome.as_str(), "completed");
    for levels in [129, 1_000] {
        let (settled, runs) = any(nested(levels)).await;
        assert!(matches!(one_issue(&settled), Issue::Unrepresentable { .. }));
        assert_eq!(runs, 0);
    }
}

#[tokio::test]
async fn integers_are_kept_to_the_last_digit() {
    for digits in [
        "9007199254740993",
        "18446744073709551615",
        "-9223372036854775808",
        "0",
        "-0",
    ] {
        let (settled, _) = any(format!(r#"{{"n":{digits}}}"#)).await;
        let kept = output(&settled)["n"].to_string();
        assert_eq!(kept.trim_end_matches(".0"), digits);
    }
}

#[tokio::test]
async fn integers_that_cannot_be_kept_exactly_are_refused_never_rounded() {
    for digits in [
        "18446744073709551616",
        "-9223372036854775809",
        "123456789012345678901234567890",
    ] {
        let (settled, runs) = any(format!(r#"{{"s":"1","n":[{digits}]}}"#)).await;
        let Issue::Unrepresentable { what } = one_issue(&settled) else {
            panic!("expected a refusal for range");
        };
        assert!(what.contains("range"), "{what}");
        assert_eq!(runs, 0, "{digits}");
    }
    // A number that is spelled with a fraction or an exponent is no integer to begin with, and
    // digits in a text are text.
    let (settled, _) = any(r#"{"a":1e300,"b":"18446744073709551616","c":1.5}"#).await;
    assert_eq!(output(&settled)["b"], "18446744073709551616");
}

#[tokio::test]
async fn numbers_out_of_range_are_refused_as_such() {
    for text in [
        r#"{"n":1e400}"#,
        r#"{"n":-1e999}"#,
        r#"{"a":"1e400","n":[1,2e308]}"#,
    ] {
        let (settled, runs) = any(text).await;
        let Issue::Unrepresentable { what } = one_issue(&settled) else {
            panic!("expected a refusal for range: {text}");
        };
        assert!(what.contains("range"), "{what}");
        assert_eq!(runs, 0);
    }
}

#[tokio::test]
async fn a_lone_surrogate_is_refused_and_a_pair_is_one_character() {
    let (settled, _) = any(r#"{"s":"\ud83d\ude00","n":"a\u0000b"}"#).await;
    assert_eq!(output(&settled)["s"], "😀");
    assert_eq!(output(&settled)["n"], "a\0b");
    for text in [
        r#"{"s":"\ud800"}"#,
        r#"{"s":"\udc00x"}"#,
        r#"{"s":"\ud800\u0041"}"#,
        r#"{"s":"a\\\uD83Dx"}"#,
        r#"{"\udfff":1}"#,
    ] {
        let (settled, runs) = any(text).await;
        let Issue::Unrepresentable { what } = one_issue(&settled) else {
            panic!(
                "expected a refusal for a surrogate: {text}: {:?}",
                invalid(&settled)
            );
        };
        assert!(what.contains("surrogate"), "{what}");
        assert_eq!(runs, 0);
    }
}

#[tokio::test]
async fn other_syntax_errors_are_not_taken_for_what_cannot_be_held() {
    for text in [
        r#"{"s":"\x"}"#,
        r#"{"s":"\u12g4"}"#,
        r#"{"n":1.e5}"#,
        r#"{"a":1,} "\ud800""#,
    ] {
        let (settled, _) = any(text).await;
        assert!(
            matches!(
                one_issue(&settled),
                Issue::Syntax {
                    truncated: false,
                    ..
                }
            ),
            "{text}: {:?}",
            invalid(&settled)
        );
    }
}

#[derive(Debug, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
struct Whole {
    n: i64,
}

#[tokio::test]
async fn a_number_with_a_zero_fraction_is_no_i64_and_is_refused_with_its_path() {
    let tool = Tool::new(
        "Takes a whole number",
        |input: Whole, _: Context| async move { Ok(input) },
    );
    let settled = settle(tool, r#"{"n":1.0}"#).await;
    assert!(matches!(one_issue(&settled), Issue::Constraint { path, .. } if path == "/n"));
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
async fn the_value_validated_is_the_value_executed() {
    let arguments = r#"{"z":1,"a":[{"k":"v"}],"f":0.1,"t":"  kept  ","null":null}"#;
    let (settled, _) = any(arguments).await;
    assert_eq!(
        output(&settled),
        &serde_json::from_str::<Value>(arguments).unwrap()
    );
    assert!(settled.repairs.is_empty());
}

/// JSON values as models send them.
fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any_bool(),
        proptest::num::i64::ANY.prop_map(Value::from),
        proptest::num::u64::ANY.prop_map(Value::from),
        (-1e15..1e15).prop_map(|n: f64| json!(n)),
        ".{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::Array),
            prop::collection::btree_map(".{0,6}", inner, 0..6)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn any_bool() -> impl Strategy<Value = Value> {
    proptest::bool::ANY.prop_map(Value::Bool)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn text_and_value_of_the_same_json_reach_the_tool_alike(value in json_value()) {
        let value = json!({"value": value});
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let (text, _) = any(value.to_string()).await;
            let (direct, _) = any(value.clone()).await;
            assert_eq!(output(&text), &value);
            assert_eq!(output(&direct), &value);
        });
    }
}
