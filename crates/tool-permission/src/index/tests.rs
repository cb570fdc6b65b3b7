use std::cell::Cell;

use super::Index;
use crate::subject::Subject;
use crate::{Effect, Rule};

/// How many rules a lookup tries.
fn tried(rules: impl IntoIterator<Item = Rule>, subject: &Subject) -> usize {
    let index = Index::new(rules.into_iter().collect(), None, None);
    let tried = Cell::new(0);
    index.first(Effect::Deny, "act", subject, |_, _| {
        tried.set(tried.get() + 1);
        false
    });
    tried.get()
}

fn many(resource: impl Fn(usize) -> String) -> impl Iterator<Item = Rule> {
    (0..10_000).map(move |at| Rule::deny("act", resource(at)))
}

#[test]
fn a_lookup_tries_only_rules_that_start_or_end_like_the_subject() {
    let name = Subject::name("git push origin");
    assert_eq!(tried(many(|at| format!("git push origin{at}")), &name), 0);
    assert_eq!(tried(many(|at| format!("git pull *{at}*")), &name), 0);
    assert_eq!(tried(many(|at| format!("*origin{at}")), &name), 0);
    assert_eq!(tried(many(|at| format!("{at}*origin")), &name), 10_000);
    assert_eq!(tried(many(|at| format!("g*n{at}")), &name), 0);
    let others = many(|at| format!("host{at}/*"));
    assert_eq!(tried(others.chain([Rule::deny("act", "git *")]), &name), 1);
}

#[test]
fn rules_of_other_actions_and_effects_are_not_tried() {
    let name = Subject::name("a");
    let rules = [
        Rule::allow("act", "*"),
        Rule::deny("other", "*"),
        Rule::deny("*", "a"),
    ];
    assert_eq!(tried(rules, &name), 1);
}

#[test]
fn an_unknown_part_lets_every_rule_be_tried_that_it_could_become() {
    let mut words = Subject::no_words();
    words.push_text("git");
    words.push_border();
    words.push_unknown();
    let rules = ["git push", "git *", "rm *", "* push", "git", "gitk"];
    let rules = rules.map(|resource| Rule::deny("act", resource));
    // Not `rm *`, and neither what only starts like the known word.
    assert_eq!(tried(rules, &words), 4);
}
