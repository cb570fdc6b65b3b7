//! The files of this workspace are small, finished, and know no machine.

use xtask::{Finding, Rule, Workspace, listed, rules};

#[track_caller]
fn holds(rule: &[Rule]) {
    let findings = rules::tidy(&Workspace::here()).expect("the workspace can be read");
    let of_rules: Vec<Finding> = findings
        .into_iter()
        .filter(|finding| rule.contains(&finding.rule))
        .collect();
    assert!(of_rules.is_empty(), "\n{}\n", listed(&of_rules));
}

#[test]
fn every_file_holds_one_noun_and_is_named_after_it() {
    holds(&[Rule::LongFile, Rule::VagueName]);
}

#[test]
fn nothing_is_unfinished_or_switched_off() {
    holds(&[Rule::Unfinished]);
}

#[test]
fn no_file_knows_the_machine_it_was_written_on() {
    holds(&[Rule::Surroundings]);
}

#[test]
fn no_test_waits_for_time_to_pass() {
    holds(&[Rule::Sleep]);
}

#[test]
fn every_exception_has_a_reason_and_excuses_something() {
    holds(&[Rule::Exception]);
}
