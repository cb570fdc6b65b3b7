use tool_core::{
    Action, Capability, Decision, Facts, Identity, Namespace, Policy, Request, Resource, Source,
    ToolName,
};
use tool_permission::{Layer, Rule, RulePolicy};

use crate::{decision, policy, ruling};

#[test]
fn no_rule_asks() {
    assert_eq!(decision(&policy([]), "fetch", ["a"]), Decision::Ask);
    let other = policy([Rule::allow("search", "*")]);
    assert_eq!(decision(&other, "fetch", ["a"]), Decision::Ask);
}

#[test]
fn deny_beats_ask_beats_allow() {
    let policy = policy([
        Rule::allow("fetch", "*"),
        Rule::deny("fetch", "c*"),
        Rule::ask("fetch", "?b*"),
    ]);
    assert_eq!(decision(&policy, "fetch", ["a"]), Decision::Allow);
    assert_eq!(decision(&policy, "fetch", ["ab"]), Decision::Ask);
    assert_eq!(decision(&policy, "fetch", ["cb"]), Decision::Deny);
}

#[test]
fn one_denied_resource_denies_even_after_one_that_asks() {
    let policy = policy([Rule::allow("fetch", "good"), Rule::deny("fetch", "bad")]);
    assert_eq!(
        decision(&policy, "fetch", ["unknown", "bad"]),
        Decision::Deny
    );
    assert_eq!(
        decision(&policy, "fetch", ["good", "unknown"]),
        Decision::Ask
    );
    assert_eq!(
        decision(&policy, "fetch", ["good", "good"]),
        Decision::Allow
    );
}

#[test]
fn the_ruling_names_the_rule_with_its_file_and_line() {
    let text = "version = 1\n\n[[rule]]\neffect = \"deny\"\naction = \"fetch\"\nresource = \"*\"\nreason = \"offline\"\n";
    let policy = RulePolicy::new([Layer::parse("policy.toml", text).unwrap()]);
    let ruling = ruling(&policy, "fetch", ["a"]);
    assert_eq!(ruling.because, "deny fetch * (policy.toml:3)");
    assert_eq!(ruling.reason.as_deref(), Some("offline"));
}

#[test]
fn the_action_star_is_every_action() {
    let policy = policy([Rule::deny("*", "secret*"), Rule::allow("fetch", "*")]);
    assert_eq!(decision(&policy, "fetch", ["secrets"]), Decision::Deny);
    assert_eq!(decision(&policy, "anything", ["secret"]), Decision::Deny);
    assert_eq!(decision(&policy, "fetch", ["page"]), Decision::Allow);
}

#[test]
fn a_call_without_a_rule_is_left_to_a_tool_that_asks_itself() {
    let policy = policy([Rule::deny("call", "github/*"), Rule::ask("call", "echo")]);
    let facts = Facts::new();
    let gate = |tool: &str, asserts| {
        let resources = [Resource::from(tool)];
        let mut request = Request::new(Action::CALL, resources, &facts);
        request.asserts = asserts;
        policy.judge(&request).decision
    };
    assert_eq!(gate("grep", true), Decision::Allow);
    assert_eq!(gate("grep", false), Decision::Ask);
    assert_eq!(gate("echo", true), Decision::Ask);
    assert_eq!(gate("github/list", true), Decision::Deny);
}

#[test]
fn only_the_question_for_the_call_is_left_to_the_tool() {
    let policy = policy([]);
    let facts = Facts::new();
    let mut request = Request::new(Action::new("write"), [Resource::from("a")], &facts);
    request.asserts = true;
    assert_eq!(policy.judge(&request).decision, Decision::Ask);
}

#[test]
fn a_capability_is_governed_when_a_rule_speaks_of_it() {
    let speaks = policy([Rule::deny("external_net", "*")]);
    assert!(speaks.governs(&Capability::ExternalNet));
    assert!(!speaks.governs(&Capability::UserData));
    assert!(policy([Rule::ask("*", "*")]).governs(&Capability::Other("print".to_owned())));
}

#[test]
fn a_rule_of_a_source_holds_for_that_server_alone() {
    let policy = policy([Rule::allow("forget", "*").source("notes")]);
    let facts = Facts::new();
    let from = |source: Option<&Source>| {
        let mut request = Request::new(Action::new("forget"), [Resource::from("a")], &facts);
        request.source = source;
        policy.judge(&request).decision
    };
    let server = |name| Source::Server(Namespace::new(name).unwrap());
    assert_eq!(from(Some(&server("notes"))), Decision::Allow);
    assert_eq!(from(Some(&server("notes2"))), Decision::Ask);
    assert_eq!(from(Some(&Source::Host)), Decision::Ask);
    assert_eq!(from(None), Decision::Ask);
}

#[test]
fn a_rule_of_an_agent_holds_for_that_agent_alone() {
    let policy = policy([
        Rule::allow("fetch", "*"),
        Rule::deny("fetch", "*").agent("plan*"),
    ]);
    let by = |facts: &Facts| {
        policy
            .judge(&Request::new(
                Action::new("fetch"),
                [Resource::from("a")],
                facts,
            ))
            .decision
    };
    assert_eq!(by(&Facts::new().agent("planner")), Decision::Deny);
    assert_eq!(by(&Facts::new().agent("build")), Decision::Allow);
    assert_eq!(by(&Facts::new()), Decision::Allow);
}

#[test]
fn an_identity_is_the_resource_of_a_call() {
    let source = Source::Server(Namespace::new("github").unwrap());
    let tool = Identity::new(&source, ToolName::new("list issues").unwrap()).to_string();
    let policy = policy([Rule::allow("call", "github/*")]);
    assert_eq!(decision(&policy, "call", [&tool]), Decision::Allow);
    assert_eq!(decision(&policy, "call", ["list issues"]), Decision::Ask);
}

// "deny-all + allow read of retained output": as deny beats allow in any order, the two are
// different actions here.
#[test]
fn reading_back_an_output_is_an_action_of_its_own() {
    let policy = policy([Rule::deny("read", "*"), Rule::allow("output", "*")]);
    assert_eq!(decision(&policy, "output", ["out_8f2k"]), Decision::Allow);
    let facts = Facts::new();
    let path = [Resource::path("/ws", "/var/state/outputs/out_8f2k")];
    let request = Request::new(Action::new("read"), path, &facts);
    assert_eq!(policy.judge(&request).decision, Decision::Deny);
}

#[test]
fn a_rule_in_code_that_can_never_match_is_refused() {
    for (rule, way_out) in [
        (Rule::allow("two words", "*"), "one word"),
        (Rule::allow("file_*", "*"), "one word"),
        (Rule::allow("fetch", " "), "must not be blank"),
        (Rule::deny("read", "../secret"), "write where it leads"),
        (Rule::deny("read", "secret/"), "write \"secret/**\""),
        (Rule::deny("external", "secret"), "absolute or with `~`"),
        (Rule::deny("fetch", "*").sticky(), "leave it out"),
    ] {
        let error = Layer::new("built in", [rule]).unwrap_err().to_string();
        assert!(error.starts_with("built in: rule \""), "{error}");
        assert!(error.contains(way_out), "{error}");
    }
}

#[test]
fn only_what_rules_settle_by_names_is_decided_at_once() {
    let rules = [
        Rule::allow("fetch", "a"),
        Rule::deny("fetch", "b"),
        Rule::ask("fetch", "c"),
        Rule::allow("read", "*"),
    ];
    let policy = policy(rules);
    let facts = Facts::new();
    let at_once = |action: &'static str, resource: Resource| {
        let request = Request::new(Action::new(action), [resource], &facts);
        let decided = policy.decide_at_once(&request)?;
        Some(decided.unwrap().decision)
    };
    assert_eq!(at_once("fetch", "a".into()), Some(Decision::Allow));
    assert_eq!(at_once("fetch", "b".into()), Some(Decision::Deny));
    // An approval may answer it, and the file system has a say on a path.
    assert_eq!(at_once("fetch", "c".into()), None);
    assert_eq!(at_once("read", Resource::path("/repo", "a.rs")), None);
}
