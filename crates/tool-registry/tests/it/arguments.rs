//! From what was delivered to JSON with one reading, or a clear refusal.

use proptest::prelude::*;
use serde_json::{Value, json};
use tool_core::{Call, Facts, Issue, RepairRule, Unrepresentable};

use crate::tools::{any, invalid, one_issue, output};

#[tokio::test]
async fn nothing_blank_text_and_null_are_an_empty_object_and_recorded() {
    for nothing in ["", " \n\t", "null", " null "] {
        let (settled, _) = any(nothing).await;
        assert_eq!(output(&settled), &json!({}), "{nothing:?}");
        assert_eq!(settled.repairs.len(), 1, "{nothing:?}");
        assert_eq!(settled.repairs[0].rule, RepairRule::EmptyArguments);
    }
    let (settled, _) = any(Value::Null).await;
    assert_eq!(output(&settled), &json!({}));
    assert_eq!(settled.repairs.len(), 1);

    let (settled, _) = any("{}").await;
    assert!(settled.repairs.is_empty());
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
            matches!(one_issue(&settled), Issue::DuplicateKey { key, .. } if key == "a"),
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
        let Issue::Unrepresentable { what, .. } = one_issue(&settled) else {
            panic!("expected a refusal for depth");
        };
        assert!(*what == Unrepresentable::Depth, "{what}");
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
        let Issue::Unrepresentable { what, .. } = one_issue(&settled) else {
            panic!("expected a refusal for range");
        };
        assert!(*what == Unrepresentable::Number, "{what}");
        assert_eq!(runs, 0, "{digits}");
    }
    // A number that is spelled with a fraction or an exponent is no integer to begin with, and
    // digits in a text are text.
    let (settled, _) = any(r#"{"a":1e300,"b":"18446744073709551616","c":1.5}"#).await;
    assert_eq!(output(&settled)["b"], "18446744073709551616");
}

#[tokio::test]
async fn numbers_with_a_fraction_are_kept_to_the_last_digit() {
    for digits in [
        "-937832561.7520492",
        "0.1",
        "9007199254740991.5",
        "1.7976931348623157e308",
    ] {
        let (settled, _) = any(format!(r#"{{"n":{digits}}}"#)).await;
        let exact: f64 = digits.parse().unwrap();
        assert_eq!(output(&settled)["n"].as_f64(), Some(exact), "{digits}");
    }
}

#[tokio::test]
async fn numbers_out_of_range_are_refused_as_such() {
    for text in [
        r#"{"n":1e400}"#,
        r#"{"n":-1e999}"#,
        r#"{"a":"1e400","n":[1,2e308]}"#,
    ] {
        let (settled, runs) = any(text).await;
        let Issue::Unrepresentable { what, .. } = one_issue(&settled) else {
            panic!("expected a refusal for range: {text}");
        };
        assert!(*what == Unrepresentable::Number, "{what}");
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
        let Issue::Unrepresentable { what, .. } = one_issue(&settled) else {
            panic!(
                "expected a refusal for a surrogate: {text}: {:?}",
                invalid(&settled)
            );
        };
        assert!(*what == Unrepresentable::Surrogate, "{what}");
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
        proptest::bool::ANY.prop_map(Value::Bool),
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

#[tokio::test]
async fn a_value_of_any_depth_is_refused_and_crashes_nothing() {
    let mut value = json!({});
    for _ in 0..200_000 {
        value = Value::Object([("a".to_owned(), value)].into_iter().collect());
    }
    let registry = crate::ports::open().build();
    let _echo = registry.register([("echo", crate::tools::echo())]).unwrap();
    let settling = registry
        .snapshot()
        .settle(Call::new("echo", value), &Facts::new());
    let settled = settling.approvals(tool_registry::Approvals::Suspend).await;
    assert_eq!(
        settled.text(),
        "the arguments are nested deeper than 128 levels"
    );
}
