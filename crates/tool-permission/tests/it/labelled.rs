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
        "command":"x=1; rm a > b","expect":"allow","parts":{"argv":[["ls"]],"opaque":true,
        "redirects":[{"op":">","path":"c"}],"assign":[["x","2"]]}}"#;
    let verdict = LabelledCase::parse(case)
        .unwrap()
        .run("/x".as_ref())
        .unwrap();
    assert!(!verdict.decided && !verdict.is_right());
    assert!(verdict.ruling.because.contains("deny shell rm *"));
    // A command and a file that are missing, others that were found, the line, the assignments.
    assert_eq!(verdict.differences.len(), 6, "{:?}", verdict.differences);
}

#[test]
fn any_decision_that_a_label_names_is_right() {
    let right = |also: &str| {
        let case =
            format!(r#"{{"id":"x","rules":[],"command":"ls","expect":"deny","also":{also}}}"#);
        let case = LabelledCase::parse(&case).unwrap();
        case.run("/x".as_ref()).unwrap().is_right()
    };
    assert!(right(r#"["ask"]"#) && !right("[]"));
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
