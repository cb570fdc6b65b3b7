use std::fs;
use std::sync::Arc;

use proptest::prelude::*;
use tool_core::{
    Action, BoxFuture, Context, Decision, Facts, NoResources, NobodyToAsk, Permission, Policy,
    PolicyError, Refusal, Request, Resource, Resources, Ruling,
};
use tool_permission::{Effect, Layer, LoadErrorKind, Rule, RulePolicy};

use crate::{policy, ruling};

fn any_rule() -> impl Strategy<Value = Rule> {
    let effect = prop_oneof![Just(Effect::Allow), Just(Effect::Ask), Just(Effect::Deny)];
    let action = prop_oneof![Just("fetch"), Just("send"), Just("*")];
    (effect, action, "[ab*? ]{0,4}[ab*]", any::<bool>()).prop_map(
        |(effect, action, resource, of_agent)| {
            let rule = Rule::new(effect, action, resource);
            if of_agent { rule.agent("build") } else { rule }
        },
    )
}

proptest! {
    #[test]
    fn law_13_shuffling_rules_changes_no_decision(
        (rules, shuffled) in prop::collection::vec(any_rule(), 0..12)
            .prop_flat_map(|rules| (Just(rules.clone()), Just(rules).prop_shuffle())),
        cut in 0_usize..12,
        name in "[ab ]{0,5}",
    ) {
        let cut = cut.min(shuffled.len());
        let (front, back) = shuffled.split_at(cut);
        let layers = [back, front].map(|rules| Layer::new("test", rules.to_vec()).unwrap());
        let (one, other) = (policy(rules.clone()), RulePolicy::new(layers));

        let facts = Facts::new().agent("build");
        let request = Request::new(Action::new("fetch"), [Resource::from(name.as_str())], &facts);
        let (a, b) = (one.judge(&request), other.judge(&request));
        prop_assert_eq!(&a, &b);

        // The oracle: the strictest of all rules that match, each tried on its own.
        let matching = rules.iter().filter(|rule| {
            ["fetch", "*"].contains(&rule.action()) && rule.resource().matches(&name)
        });
        let expected = matching
            .map(|rule| rule.effect().decision())
            .max()
            .unwrap_or(Decision::Ask);
        prop_assert_eq!(a.decision, expected);
    }
}

#[test]
fn law_13_a_layer_cannot_undo_a_deny() {
    let deny = || Layer::new("built in", [Rule::deny("fetch", "intranet/*")]).unwrap();
    let allow = || Layer::new("project", [Rule::allow("fetch", "*")]).unwrap();
    for layers in [[deny(), allow()], [allow(), deny()]] {
        let policy = RulePolicy::new(layers);
        let ruling = ruling(&policy, "fetch", ["intranet/wiki"]);
        assert_eq!(ruling.decision, Decision::Deny);
        assert_eq!(ruling.because, "deny fetch intranet/* (built in)");
    }
}

#[test]
fn law_14_a_policy_file_that_cannot_be_read_whole_is_not_loaded() {
    let folder = tempfile::tempdir().unwrap();
    let absent = Layer::load(folder.path().join("absent.toml")).unwrap_err();
    assert_eq!(absent.kind(), LoadErrorKind::Unreadable);

    let a_folder = Layer::load(folder.path()).unwrap_err();
    assert_eq!(a_folder.kind(), LoadErrorKind::Unreadable);

    let not_text = folder.path().join("not-text.toml");
    fs::write(&not_text, [0xff, 0xfe, b'a']).unwrap();
    let not_text = Layer::load(not_text).unwrap_err();
    assert_eq!(not_text.kind(), LoadErrorKind::Unreadable);
}

#[test]
fn law_14_a_file_cut_inside_a_rule_is_not_loaded() {
    let rule = "[[rule]]\neffect = \"allow\"\naction = \"read\"\nresource = \"**\"";
    let text = format!("version = 1\n{rule}\n{rule}");
    let second = text.len() - rule.len();
    for cut in second + 1..text.len() {
        assert!(
            Layer::parse("policy.toml", &text[..cut]).is_err(),
            "{}",
            &text[..cut]
        );
    }
}

#[test]
fn law_14_an_unknown_key_stops_the_load() {
    let text = "version = 1\n[[rule]]\neffect = \"allow\"\naction = \"read\"\nresource = \"**\"\nunless = \".env\"\n";
    let error = Layer::parse("policy.toml", text).unwrap_err();
    assert_eq!(error.kind(), LoadErrorKind::Key);
}

/// What cannot be written at all is a test of the compiler: `request_about_nothing` of `tool-core`.
#[test]
fn law_14_an_empty_resource_list_is_no_request() {
    assert_eq!(Resources::try_from(Vec::new()), Err(NoResources));
}

struct Broken;

impl Policy for Broken {
    fn decide<'a>(&'a self, _: &'a Request<'a>) -> BoxFuture<'a, Result<Ruling, PolicyError>> {
        Box::pin(async { Err(PolicyError::new("the rules are gone")) })
    }
}

#[tokio::test]
async fn law_14_a_policy_that_fails_denies() {
    let permission = Permission::new(Broken, NobodyToAsk);
    let refusal = permission
        .assert(&Context::detached(), "fetch", ["a"])
        .await
        .unwrap_err();
    let Refusal::Denied(denial) = &refusal else {
        panic!("{refusal:?}");
    };
    assert_eq!(
        denial.operator,
        "policy could not decide: the rules are gone"
    );
    assert!(!refusal.to_string().contains("the rules are gone"));
}

#[tokio::test]
async fn law_14_asking_with_nobody_there_denies() {
    let permission = policy([Rule::ask("fetch", "*"), Rule::allow("send", "*")]).headless();
    let cx = Context::detached();
    assert!(permission.assert(&cx, "send", ["a"]).await.is_ok());
    for action in ["fetch", "unknown"] {
        let refusal = permission.assert(&cx, action, ["a"]).await.unwrap_err();
        assert!(matches!(refusal, Refusal::Denied(_)), "{refusal:?}");
    }
}

#[tokio::test]
async fn law_14_a_denial_carries_the_reason_to_the_model_and_the_rule_to_the_operator() {
    let rule = Rule::deny("fetch", "*").reason("this project works offline");
    let permission = Permission::new(Arc::new(policy([rule])), NobodyToAsk);
    let refusal = permission
        .assert(&Context::detached(), "fetch", ["a"])
        .await
        .unwrap_err();
    assert!(refusal.to_string().contains("this project works offline"));
    assert!(!refusal.to_string().contains("(test)"));
    assert!(refusal.operator().contains("deny fetch * (test)"));
}
