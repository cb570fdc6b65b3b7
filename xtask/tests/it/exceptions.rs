//! The list of exceptions.

use xtask::{Exceptions, Finding, Rule};

use crate::says;

fn finding() -> Finding {
    Finding::new(Rule::Sleep, "tests/a.rs", "wait for the event").at(7)
}

fn list(reason: &str) -> Exceptions {
    let text =
        format!("[[exception]]\nrule = \"sleep\"\npath = \"tests/a.rs\"\nreason = \"{reason}\"\n");
    Exceptions::parse(&text).unwrap()
}

#[test]
fn an_exception_with_a_reason_excuses_its_rule_in_its_file() {
    says(&list("time is the subject").apply(vec![finding()]), "");
}

#[test]
fn it_excuses_no_other_rule_and_no_other_file() {
    let other = Finding::new(Rule::LongFile, "tests/a.rs", "too long");
    says(
        &list("time is the subject").apply(vec![finding(), other]),
        "long file: tests/a.rs: too long",
    );
}

#[test]
fn an_exception_needs_a_reason() {
    says(
        &list(" ").apply(vec![finding()]),
        "exception: xtask/exceptions.toml: \"sleep\" for tests/a.rs has no reason",
    );
}

#[test]
fn an_exception_that_excuses_nothing_is_found() {
    says(
        &list("time is the subject").apply(Vec::new()),
        "exception: xtask/exceptions.toml: \"sleep\" for tests/a.rs excuses nothing; take it out",
    );
}
