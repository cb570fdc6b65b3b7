//! Conditions on arguments, and rules for agents, their children and sessions.

use proptest::prelude::*;
use serde_json::{Value, json};
use tool_core::{Action, Decision, Facts, Policy as _, Request, Resource};
use tool_permission::{Effect, Layer, LoadErrorKind, Rule, RulePolicy};

use crate::policy;

fn call(policy: &RulePolicy, arguments: Option<&Value>) -> Decision {
    let facts = Facts::new();
    let mut request = Request::new(Action::CALL, [Resource::from("db/query")], &facts);
    request.set_arguments(arguments);
    policy.judge(&request).decision
}

fn of_agent(policy: &RulePolicy, agent: &str, name: &str) -> Decision {
    let facts = Facts::new().agent(agent).session("s");
    let request = Request::new(Action::new("fetch"), [Resource::from(name)], &facts);
    policy.judge(&request).decision
}

#[test]
fn a_condition_sees_the_value_under_its_pointer() {
    let allow = |pointer: &str, pattern: &str| {
        policy([Rule::allow("call", "db/query").argument(pointer, pattern)])
    };
    for (pointer, pattern, holds) in [
        ("/sql", "SELECT *", true),
        ("/sql", "select *", false),
        ("/limit", "5", true),
        ("/ratio", "2", true),
        ("/ratio", "2.0", true),
        ("/dry~1run", "true", true),
        ("/to/1", "b", true),
        ("/to", "[\"a\",\"b\"]", true),
        ("/to", "*\"b\"*", true),
        ("/none", "null", true),
        ("/absent", "*", false),
        ("", "*SELECT*", true),
    ] {
        let arguments = json!({
            "sql": "SELECT 1", "limit": 5, "ratio": 2.0, "dry/run": true, "to": ["a", "b"],
            "none": null,
        });
        let expected = if holds {
            Decision::Allow
        } else {
            Decision::Ask
        };
        let decided = call(&allow(pointer, pattern), Some(&arguments));
        assert_eq!(decided, expected, "{pointer} {pattern}");
    }
}

#[test]
fn arguments_that_are_not_known_allow_nothing_and_make_a_deny_ask() {
    let drops = || Rule::deny("call", "db/query").argument("/sql", "DROP *");
    let denies = policy([Rule::allow("call", "*"), drops()]);
    assert_eq!(call(&denies, None), Decision::Ask);
    assert_eq!(
        call(&denies, Some(&json!({"sql": "DROP x"}))),
        Decision::Deny
    );
    assert_eq!(
        call(&denies, Some(&json!({"sql": "SELECT"}))),
        Decision::Allow
    );
    let allows = policy([Rule::allow("call", "*").argument("/sql", "*")]);
    assert_eq!(call(&allows, None), Decision::Ask);
}

#[test]
fn a_file_states_conditions_and_examples_with_arguments() {
    let file = |conditions: &str, examples: &str| {
        let text = format!(
            "version = 1\n[[rule]]\neffect = \"allow\"\naction = \"call\"\n\
             resource = \"db/query\"\narguments = {conditions}\n{examples}\n"
        );
        Layer::parse("policy.toml", &text)
    };
    let selects = r#"{ "/sql" = "SELECT *" }"#;
    let right = r#"match = ["db/query", { resource = "db/query", arguments = { sql = "SELECT 1" } }]
        not_match = [{ resource = "db/query", arguments = { sql = "DROP" } }]"#;
    let layer = file(selects, right).unwrap();
    assert_eq!(
        layer.rules()[0].to_string(),
        "allow call db/query [/sql=SELECT *]"
    );
    let wrong = r#"match = [{ resource = "db/query", arguments = { sql = "DROP" } }]"#;
    assert_eq!(
        file(selects, wrong).unwrap_err().kind(),
        LoadErrorKind::Example
    );
    for (conditions, kind) in [
        (r#"{ sql = "x" }"#, LoadErrorKind::Value),
        (r#"{ "/a~2" = "x" }"#, LoadErrorKind::Value),
        ("{}", LoadErrorKind::Value),
        (r#"{ "/a" = 1 }"#, LoadErrorKind::Value),
        ("3", LoadErrorKind::Value),
    ] {
        assert_eq!(
            file(conditions, "").unwrap_err().kind(),
            kind,
            "{conditions}"
        );
    }
    let unknown = r#"match = [{ resource = "x", argument = {} }]"#;
    assert_eq!(
        file(selects, unknown).unwrap_err().kind(),
        LoadErrorKind::Key
    );
}

#[test]
fn a_layer_of_an_agent_or_a_session_holds_for_that_alone() {
    let layer = || Layer::new("narrow", [Rule::allow("fetch", "*")]).unwrap();
    let agents = RulePolicy::new([layer().of_agent("a*")]);
    assert_eq!(of_agent(&agents, "a*", "x"), Decision::Allow);
    assert_eq!(
        of_agent(&agents, "ab", "x"),
        Decision::Ask,
        "an id is no pattern"
    );

    let sessions = RulePolicy::new([]);
    sessions.start_session("s", layer());
    assert_eq!(of_agent(&sessions, "a", "x"), Decision::Allow);
    let more = Layer::new("more", [Rule::deny("memory_read", "*")]).unwrap();
    sessions.start_session("s", more);
    assert_eq!(of_agent(&sessions, "a", "x"), Decision::Allow);
    assert!(sessions.governs(&tool_core::Capability::MemoryRead));
    sessions.end_session(&"s".into());
    assert_eq!(of_agent(&sessions, "a", "x"), Decision::Ask);
    let of_other = RulePolicy::new([layer().of_session("t")]);
    assert_eq!(of_agent(&of_other, "a", "x"), Decision::Ask);
}

#[test]
fn a_question_of_a_rule_is_never_told_as_one_that_no_rule_is_about() {
    let asks = || Layer::new("p", [Rule::ask("fetch", "x")]).unwrap();
    let facts = Facts::new().agent("child").session("s");
    let both = |first, other| {
        let resources = [Resource::from(first), Resource::from(other)];
        Request::new(Action::new("fetch"), resources, &facts)
    };

    let of_parent = RulePolicy::new([asks().of_agent("parent")]);
    of_parent.start_child("child", "parent");
    assert_eq!(
        of_parent.judge(&both("x", "x")).rule(),
        Some("ask fetch x (p)")
    );

    let policy = RulePolicy::new([asks()]);
    for (first, other) in [("x", "other"), ("other", "x")] {
        let ruling = policy.judge(&both(first, other));
        assert_eq!(ruling.decision, Decision::Ask);
        assert_eq!(ruling.rule(), Some("ask fetch x (p)"));
    }
}

proptest! {
    #[test]
    fn a_child_gets_what_it_and_all_it_works_for_get(
        effects in prop::collection::vec(
            prop_oneof![Just(None), Just(Some(Effect::Allow)), Just(Some(Effect::Ask)), Just(Some(Effect::Deny))],
            3,
        ),
        circle in any::<bool>(),
    ) {
        let agents = ["child", "parent", "root"];
        let layers = agents.iter().zip(&effects).filter_map(|(agent, effect)| {
            let rule = Rule::new((*effect)?, "fetch", "*");
            Some(Layer::new(*agent, [rule]).unwrap().of_agent(*agent))
        });
        let policy = RulePolicy::new(layers);
        let own = agents.map(|agent| of_agent(&policy, agent, "x"));
        policy.start_child("child", "parent");
        policy.start_child("parent", "root");
        if circle {
            policy.start_child("root", "child");
        }
        prop_assert_eq!(of_agent(&policy, "child", "x"), own.into_iter().max().unwrap());
        policy.end_child(&"child".into());
        prop_assert_eq!(of_agent(&policy, "child", "x"), own[0]);
    }
}
