//! How a run of steps and the sum of the tests read.

use xtask::{Error, Run, Totals, Verdict};

#[test]
fn every_step_is_tried_and_one_failure_fails_the_run() {
    let mut run = Run::default();
    let mut tried = Vec::new();
    run.step("broken", || {
        Err(Error::because("it could not start", "no such program"))
    });
    run.step("good", || {
        tried.push("good");
        Ok(Verdict::Passed)
    });
    run.step("absent", || {
        Ok(Verdict::Skipped("there is no node".to_owned()))
    });
    assert_eq!(tried, ["good"]);
    assert!(!run.passed());
    let table = run.to_string();
    let ends: Vec<&str> = table
        .lines()
        .map(|line| line.split_whitespace().nth(1).unwrap())
        .collect();
    assert_eq!(ends, ["FAILED", "ok", "skipped", "FAILED"], "{table}");
}

#[test]
fn a_skipped_step_does_not_fail_a_run() {
    let mut run = Run::default();
    run.step("absent", || {
        Ok(Verdict::Skipped("there is no node".to_owned()))
    });
    assert!(run.passed());
}

#[test]
fn totals_are_summed_over_all_binaries() {
    let mut totals = Totals::default();
    for line in [
        "running 3 tests",
        "test a ... ok",
        "test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 2 filtered out; finished in 0.00s",
        "test result: FAILED. 10 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.00s",
        "something printed test result: ok. 9 passed; 9 failed",
    ] {
        totals.read(line);
    }
    assert_eq!(totals.to_string(), "13 passed, 2 failed");
}

#[test]
fn an_error_is_shown_with_its_causes() {
    let error = Error::because(
        "it could not start",
        Error::because("inner", "no such program"),
    );
    assert_eq!(error.chain(), "it could not start: inner: no such program");
}
