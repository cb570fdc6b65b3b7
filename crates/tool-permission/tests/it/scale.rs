use tool_core::Decision;
use tool_permission::{Pattern, Rule};

use crate::{decision, policy};

#[test]
fn ten_thousand_rules_decide_like_the_one_that_matches() {
    let rules = (0..10_000).map(|at| match at % 4 {
        0 => Rule::deny("fetch", format!("https://host{at}.example/*")),
        1 => Rule::allow("fetch", format!("*/file{at}")),
        2 => Rule::ask("fetch", format!("exact{at}")),
        _ => Rule::allow("fetch", format!("https://host{}*", at / 4)),
    });
    let policy = policy(rules);
    for (name, expected) in [
        ("https://host4.example/x", Decision::Deny),
        ("anywhere/file9", Decision::Allow),
        ("anywhere/file10", Decision::Ask),
        ("exact2", Decision::Ask),
        ("https://host2499", Decision::Allow),
        ("nowhere", Decision::Ask),
    ] {
        assert_eq!(decision(&policy, "fetch", [name]), expected, "{name}");
    }
}

#[test]
fn a_hostile_pattern_and_a_long_name_finish() {
    let name = "a".repeat(100_000);
    assert!(!Pattern::new("*a*a*a*b").matches(&name));
    assert!(Pattern::new("*a*a*a*a").matches(&name));
}
