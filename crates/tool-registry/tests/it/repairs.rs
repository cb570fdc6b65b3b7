//! Arguments that are put right: by which rules, for whom, and who is told.

use serde_json::{Value, json};
use tool_core::{
    Call, Context, Decision, EventKind, Facts, NobodyToAsk, Permission, RepairRule, Repairs,
    Settlement, Tool, Validation,
};
use tool_registry::{Registry, RegistryBuilder};

use crate::ports::{Count, Log, Rules, open, rule};
use crate::tools::{any, invalid, mirror, output};

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "n": {"type": "integer"},
            "flag": {"type": "boolean"},
            "text": {"type": "string"},
        },
        "additionalProperties": false,
    })
}

/// Arguments that need each rule, and nothing else, with what they come to.
fn one_each() -> [(RepairRule, &'static str, Value); 8] {
    [
        (RepairRule::EmptyArguments, "", json!({})),
        (
            RepairRule::CodeFence,
            "```json\n{\"n\":1}\n```",
            json!({"n": 1}),
        ),
        (
            RepairRule::ClosingTag,
            "{\"n\":1}</tool_call>",
            json!({"n": 1}),
        ),
        (
            RepairRule::EncodedArguments,
            r#""{\"n\":1}""#,
            json!({"n": 1}),
        ),
        (
            RepairRule::InjectedKey,
            r#"{"n":1,"_meta":{}}"#,
            json!({"n": 1}),
        ),
        (RepairRule::EncodedValue, r#"{"n":"1"}"#, json!({"n": 1})),
        (RepairRule::NullOptional, r#"{"n":null}"#, json!({})),
        (RepairRule::WholeNumber, r#"{"n":1.0}"#, json!({"n": 1})),
    ]
}

async fn settle_in(registry: RegistryBuilder, tool: Tool, arguments: &str) -> Settlement {
    let registry = registry.injected_keys(["_meta"]).build();
    let _tool = registry.register([("tool", tool)]).unwrap();
    let call = Call::new("tool", arguments);
    registry.snapshot().settle(call, &Facts::new()).await
}

fn tool() -> Tool {
    mirror(schema(), &Count::default())
}

#[tokio::test]
async fn each_rule_repairs_on_its_own_and_is_on_record() {
    for (rule, sent, wanted) in one_each() {
        let only = open().repairs(Repairs::NONE.with(rule));
        let settled = settle_in(only, tool(), sent).await;
        assert_eq!(output(&settled), &wanted, "{rule}");
        let [repair] = settled.repairs.as_slice() else {
            panic!("expected one repair: {:?}", settled.repairs);
        };
        assert_eq!(repair.rule, rule);
    }
}

#[tokio::test]
async fn without_its_rule_nothing_is_repaired() {
    for (rule, sent, _) in one_each() {
        let others = open().repairs(Repairs::ALL.without(rule));
        let settled = settle_in(others, tool(), sent).await;
        assert!(settled.repairs.is_empty(), "{rule}");
        if rule == RepairRule::WholeNumber {
            // The schema takes it as it is.
            assert_eq!(output(&settled)["n"].to_string(), "1.0");
        } else {
            assert!(!invalid(&settled).issues().is_empty(), "{rule}");
        }
    }
}

#[tokio::test]
async fn the_rules_of_a_tool_stand_for_those_of_the_registry() {
    let sent = r#"{"n":"1"}"#;
    let strict = tool().repairs(Repairs::NONE);
    assert!(
        !invalid(&settle_in(open(), strict, sent).await)
            .issues()
            .is_empty()
    );
    let lenient = tool().repairs(Repairs::ALL);
    let settled = settle_in(open().repairs(Repairs::NONE), lenient, sent).await;
    assert_eq!(output(&settled), &json!({"n": 1}));
}

#[tokio::test]
async fn the_model_is_told_what_to_send_otherwise_with_places_and_no_values() {
    let sent = r#"{"n":"4711","flag":"true","text":null}"#;
    let settled = settle_in(open(), tool(), sent).await;
    let note = settled
        .content
        .last()
        .and_then(|block| block.as_text())
        .unwrap();
    assert_eq!(
        note,
        "[the arguments were repaired: send the value itself, not a string that holds it, at /flag, /n; \
         leave the key out instead of sending null at /text]"
    );
    // A block of its own: the result stays as it is.
    assert_eq!(settled.content.len(), 2);
    assert_eq!(output(&settled), &json!({"flag": true, "n": 4711}));

    let silent = settle_in(open().repair_notes(false), tool(), sent).await;
    assert_eq!(silent.content.len(), 1);
    assert_eq!(silent.repairs.len(), 3);
}

#[tokio::test]
async fn nothing_is_said_to_the_model_of_what_is_not_its_own_doing() {
    for sent in ["", r#"{"n":1.0}"#, r#"{"_meta":1}"#] {
        let settled = settle_in(open(), tool(), sent).await;
        assert_eq!(settled.repairs.len(), 1, "{sent}");
        assert_eq!(settled.content.len(), 1, "{sent}");
    }
}

#[tokio::test]
async fn a_note_names_three_places_of_a_rule_and_escapes_them() {
    let schema = json!({"type": "object", "additionalProperties": {"type": "integer"}});
    let sent = json!({"a\u{1b}[2J": "1", "b": "2", "c": "3", "d": "4", "e": "5"}).to_string();
    let settled = settle_in(open(), mirror(schema, &Count::default()), &sent).await;
    let note = settled
        .content
        .last()
        .and_then(|block| block.as_text())
        .unwrap();
    assert!(note.contains(r"/a\u{1b}[2J, /b, /c and 2 more"), "{note}");
}

#[tokio::test]
async fn every_repair_is_told_as_an_event_and_none_of_a_refused_call() {
    let log = Log::default();
    let told = log.clone();
    let registry = open().events(move |event: &tool_core::Event<'_>| {
        if let EventKind::Repaired(repair) = &event.kind {
            told.write(format!("{} {}", repair.rule, repair.path));
        }
    });
    settle_in(registry, tool(), "```\n{\"n\":\"1\"}\n```").await;
    assert_eq!(log.lines(), ["code_fence ", "encoded_value /n"]);

    let log = Log::default();
    let told = log.clone();
    let registry = open().events(move |event: &tool_core::Event<'_>| {
        if matches!(event.kind, EventKind::Repaired(_)) {
            told.write("repaired");
        }
    });
    let settled = settle_in(registry, tool(), r#"{"n":"1","flag":"maybe"}"#).await;
    assert!(settled.repairs.is_empty() && log.lines().is_empty());
    assert!(settled.content.len() == 1);
}

#[tokio::test]
async fn policy_and_handler_see_the_value_that_was_put_right() {
    let log = Log::default();
    let seen = log.clone();
    let policy = Rules(move |request: &tool_core::Request<'_>| {
        seen.write(request.arguments().unwrap().to_string());
        rule(Decision::Allow)
    });
    let registry = Registry::builder().permission(Permission::new(policy, NobodyToAsk));
    let settled = settle_in(registry, tool(), r#"{"n":"1"}"#).await;
    assert_eq!(output(&settled), &json!({"n": 1}));
    assert_eq!(log.lines(), [r#"{"n":1}"#]);
}

#[tokio::test]
async fn a_schema_that_is_only_advertised_repairs_nothing_inside() {
    let tool = tool().validation(Validation::Advertise);
    let settled = settle_in(open(), tool.clone(), r#"{"n":"1","flag":null,"x":1.0}"#).await;
    assert_eq!(
        output(&settled).to_string(),
        r#"{"flag":null,"n":"1","x":1.0}"#
    );
    assert!(settled.repairs.is_empty());
    let settled = settle_in(open(), tool, "```json\n{\"n\":\"1\"}\n```").await;
    assert_eq!(output(&settled), &json!({"n": "1"}));
    assert_eq!(settled.repairs.len(), 1);
}

#[derive(Debug, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
struct Counted {
    count: i64,
    limit: Option<u8>,
}

#[tokio::test]
async fn a_whole_number_spelled_with_a_fraction_is_decoded_as_an_integer() {
    for sent in [
        r#"{"count":1.0,"limit":2e0}"#,
        r#"{"count":"1.0","limit":"2"}"#,
        r#"{"count":10e-1,"limit":0.2e1}"#,
    ] {
        let tool = Tool::new("Counts", |input: Counted, _: Context| async move {
            Ok(format!("{} {:?}", input.count, input.limit))
        });
        let settled = settle_in(open(), tool.into(), sent).await;
        assert_eq!(output(&settled), &json!("1 Some(2)"), "{sent}");
    }
}

#[tokio::test]
async fn a_number_that_is_no_integer_to_the_schema_stays_as_it_is() {
    let schema = json!({
        "type": "object",
        "properties": {"n": {"type": "number"}, "any": {}, "either": {"type": ["integer", "number"]}},
    });
    let sent = r#"{"any":1.0,"either":2.0,"n":3.0}"#;
    let settled = settle_in(open(), mirror(schema, &Count::default()), sent).await;
    assert_eq!(output(&settled).to_string(), sent);
    assert!(settled.repairs.is_empty());
}

#[tokio::test]
async fn more_places_than_a_thousand_are_refused_as_they_came() {
    let schema = json!({
        "type": "object",
        "properties": {"l": {"type": "array", "items": {"type": "integer"}}},
    });
    for (count, runs) in [(1_000, true), (1_001, false)] {
        let sent = json!({"l": vec!["1"; count]}).to_string();
        let settled = settle_in(open(), mirror(schema.clone(), &Count::default()), &sent).await;
        assert_eq!(settled.outcome.as_str() == "completed", runs, "{count}");
        assert_eq!(settled.repairs.len(), if runs { count } else { 0 });
    }
}

#[tokio::test]
async fn a_schema_that_branches_without_end_is_looked_at_for_a_bounded_time() {
    let branch = json!({"type": "object", "properties": {"k": {"$ref": "#/$defs/node"}}});
    let schema = json!({
        "type": "object",
        "properties": {"k": {"$ref": "#/$defs/node"}, "n": {"type": "integer"}},
        "$defs": {"node": {"anyOf": vec![branch; 8]}},
    });
    let deep = format!("{}1{}", r#"{"k":"#.repeat(100), "}".repeat(100));
    let sent = format!(r#"{{"k":{deep},"n":"x"}}"#);
    let settled = settle_in(open(), mirror(schema, &Count::default()), &sent).await;
    assert!(!invalid(&settled).issues().is_empty());
}

#[tokio::test]
async fn lines_and_columns_of_what_is_wrong_inside_of_a_fence_are_those_of_the_whole() {
    let (settled, _) = any("```json\n{\n  \"a\": ?}\n```").await;
    assert!(
        settled.text().contains("line 3 column 8"),
        "{}",
        settled.text()
    );
}

#[tokio::test]
async fn a_wrapped_text_that_is_cut_anywhere_inside_is_never_run() {
    let object = r#"{"n":1,"text":"a}\"b"}"#;
    let encoded = Value::from(object).to_string();
    for (whole, ends) in [
        (format!("```json\n{object}\n```"), usize::MAX),
        (format!("```{object}```</tool_call>"), object.len() + 6),
        (format!("{object}</invoke></parameter>"), object.len()),
        (encoded, usize::MAX),
    ] {
        for (end, _) in whole.char_indices().skip(1) {
            let settled = settle_in(open(), tool(), &whole[..end]).await;
            let ran = settled.output();
            // Once the object is whole, a tag that follows is only a tag.
            assert!(ran.is_none() || end >= ends, "{}", &whole[..end]);
            assert!(ran.is_none_or(|ran| ran["text"] == "a}\"b"));
        }
        let settled = settle_in(open(), tool(), &whole).await;
        assert_eq!(output(&settled)["n"], 1, "{whole}");
    }
}

#[test]
fn rules_are_a_set_that_prints_its_members() {
    let rules: Repairs = [RepairRule::CodeFence, RepairRule::InjectedKey]
        .into_iter()
        .collect();
    assert_eq!(format!("{rules:?}"), "{CodeFence, InjectedKey}");
    assert_eq!(
        rules
            .without(RepairRule::CodeFence)
            .without(RepairRule::InjectedKey),
        Repairs::NONE
    );
    assert_eq!(
        RepairRule::ALL.into_iter().collect::<Repairs>(),
        Repairs::ALL
    );
    assert_eq!(Repairs::default(), Repairs::ALL);
}

#[tokio::test]
async fn no_key_is_removed_where_looking_for_what_is_unknown_need_not_end() {
    let closed = |dialect: &str| {
        json!({
            "$schema": dialect,
            "type": "object",
            "properties": {"next": {"$ref": "#"}},
            "additionalProperties": false,
        })
    };
    for (dialect, removed) in [
        ("http://json-schema.org/draft-07/schema#", true),
        ("http://json-schema.org/draft-04/schema#", false),
    ] {
        let tool = mirror(closed(dialect), &Count::default());
        let settled = settle_in(open(), tool, r#"{"next":{},"_meta":{}}"#).await;
        assert_eq!(
            settled.is_error(),
            !removed,
            "{dialect}: {}",
            settled.text()
        );
    }
}
