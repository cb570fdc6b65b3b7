//! Labelled cases as people run them from files.

use tool_permission::{CaseError, LabelledCase};

#[test]
fn every_labelled_case_comes_out_as_labelled() {
    let lines = include_str!("data/command-cases.jsonl").lines();
    let paths = include_str!("data/path-cases.jsonl").lines();
    let mut tried = 0;
    for line in lines.chain(paths) {
        let case = LabelledCase::parse(line).unwrap();
        let base = tempfile::tempdir().unwrap();
        let verdict = case.run(&base.path().canonicalize().unwrap()).unwrap();
        assert!(verdict.is_right(), "{verdict:?}");
        tried += 1;
    }
    assert_eq!(tried, 156 + 22);
}

#[test]
fn a_wrong_label_is_told_with_what_decided() {
    let case = r#"{"id":"x","rules":[{"effect":"deny","action":"shell","resource":"rm *"}],
        "command":"rm a > b","expect":"allow","parts":{"argv":[["ls"]],"redirects":[],"opaque":true}}"#;
    let verdict = LabelledCase::parse(case)
        .unwrap()
        .run("/x".as_ref())
        .unwrap();
    assert!(!verdict.decided && !verdict.is_right());
    assert!(verdict.ruling.because.contains("deny shell rm *"));
    assert_eq!(verdict.differences.len(), 4, "{:?}", verdict.differences);
}

#[test]
fn what_is_no_case_is_refused() {
    let form = LabelledCase::parse(r#"{"id":"x","rules":[],"expect":"allow","comand":"ls"}"#);
    assert!(matches!(form, Err(CaseError::Form(_))));
    let none = LabelledCase::parse(r#"{"id":"x","rules":[],"expect":"allow"}"#);
    assert!(matches!(none, Err(CaseError::Subject(_))));
    let outside = r#"{"id":"x","rules":[],"action":"read","path":"a","setup":[{"file":"../a"}],"expect":"ask"}"#;
    let base = tempfile::tempdir().unwrap();
    let outside = LabelledCase::parse(outside).unwrap().run(base.path());
    assert!(matches!(outside, Err(CaseError::Outside(_))));
}
