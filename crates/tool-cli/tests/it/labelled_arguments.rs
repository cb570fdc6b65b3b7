//! `tool args test`: labelled arguments, and what becomes of them.

use serde_json::json;

use crate::workbench::Workbench;

const RIGHT: &str = r#"
{"id":"text","kind":"k","schema":{"type":"object","properties":{"n":{"type":"integer"}}},"raw":"{\"n\":\"5\"}","expect":{"value":{"n":5}},"repaired":true,"why":"w"}
{"id":"value","schema":{"type":"object","properties":{"n":{"type":"integer"}}},"raw":{"n":5},"expect":{"value":{"n":5}},"repaired":false}
{"id":"none","schema":{"type":"object"},"raw":null,"expect":{"value":{}},"repaired":true}
{"id":"key","schema":{"type":"object","properties":{"path":{}},"additionalProperties":false},"raw":"{\"pth\":1}","expect":{"refuse":"unknown_key","path":"/pth","hint":"path"},"repaired":false}
{"id":"strip","schema":{"type":"object","properties":{},"additionalProperties":false},"raw":"{\"_meta\":1}","options":{"strip_keys":["_meta"]},"expect":{"value":{}},"repaired":true}
"#;

#[test]
fn cases_that_end_as_labelled_succeed_with_their_rates() {
    let bench = Workbench::new();
    let ended = bench
        .bare(&["args", "test", "-"])
        .stdin(RIGHT)
        .end()
        .succeeded();
    assert_eq!(
        ended.text(),
        "5 of 5 cases as labelled; repaired 3 of 3 that should be, and 0 of 2 that should not\n"
    );
}

#[test]
fn json_tells_value_repairs_and_issues_of_every_case() {
    let bench = Workbench::new();
    std::fs::write(bench.path().join("cases.jsonl"), RIGHT).unwrap();
    let ended = bench.bare(&["args", "test", "cases.jsonl", "--json"]).end();
    let document = ended.succeeded().json();
    assert_eq!(
        document["cases"][0],
        json!({
            "id": "text", "ok": true, "value": {"n": 5},
            "repairs": [{"path": "/n", "rule": "encoded_value"}],
        })
    );
    assert_eq!(
        document["cases"][3],
        json!({
            "id": "key", "ok": true, "repairs": [],
            "issues": [{
                "kind": "unknown_key", "path": "/pth", "hint": "path",
                "text": "unknown key \"pth\" (did you mean \"path\"?)",
            }],
        })
    );
    assert_eq!(
        document["summary"],
        json!({
            "cases": 5, "asLabelled": 5,
            "repairs": {"wanted": 3, "made": 3, "unwanted": 2, "false": 0},
        })
    );
}

#[test]
fn a_case_that_ends_otherwise_is_named_and_fails() {
    let bench = Workbench::new();
    for (expect, repaired, fault) in [
        (r#"{"value":{"n":6}}"#, "true", "ran with another value"),
        (
            r#"{"value":{"n":5}}"#,
            "false",
            "was repaired, and should run as it is",
        ),
        (
            r#"{"refuse":"type"}"#,
            "false",
            "ran, and should be refused",
        ),
    ] {
        let case = format!(
            r#"{{"id":"c","schema":{{"type":"object","properties":{{"n":{{"type":"integer"}}}}}},"raw":"{{\"n\":\"5\"}}","expect":{expect},"repaired":{repaired}}}"#
        );
        let ended = bench
            .bare(&["args", "test", "-"])
            .stdin(case)
            .end()
            .with_code(1);
        assert!(
            ended.text().starts_with(&format!("c: {fault}\n")),
            "{}",
            ended.text()
        );
    }
    let refused = |raw: &str, expect: &str| {
        let case = format!(
            r#"{{"id":"c","schema":{{"type":"object","required":["a"]}},"raw":{raw},"expect":{expect}}}"#
        );
        let ended = bench
            .bare(&["args", "test", "-"])
            .stdin(case)
            .end()
            .with_code(1);
        ended.text().to_owned()
    };
    assert!(refused("{}", r#"{"value":{}}"#).starts_with("c: was refused, and should run: "));
    assert!(refused("{}", r#"{"refuse":"type"}"#).starts_with("c: was refused otherwise: "));
    let misplaced = r#"{"refuse":"missing_required","path":"/b"}"#;
    assert!(refused("{}", misplaced).starts_with("c: was refused otherwise: "));
    let unhinted = r#"{"refuse":"missing_required","hint":"zz"}"#;
    assert!(refused("{}", unhinted).starts_with("c: does not offer \"zz\": "));
}

#[test]
fn a_schema_that_no_tool_can_have_is_a_fault_of_its_case() {
    let bench = Workbench::new();
    let case = r#"{"id":"c","schema":{"type":"string"},"raw":"{}","expect":{"value":{}}}"#;
    let ended = bench
        .bare(&["args", "test", "-"])
        .stdin(case)
        .end()
        .with_code(1);
    assert!(
        ended.text().contains("c: the schema cannot be used: "),
        "{}",
        ended.text()
    );
}

#[test]
fn a_file_that_holds_no_cases_is_a_mistake_and_names_the_line() {
    let bench = Workbench::new();
    let run = |text: &str| {
        bench
            .bare(&["args", "test", "-"])
            .stdin(text)
            .end()
            .with_code(2)
    };
    assert!(run("\n").stderr.contains("there is no case in -"));
    assert!(run("\n{]").stderr.contains("line 2 is no case"));
    let case = r#"{"id":"c","schema":{},"raw":"","expect":{}}"#;
    let said = run(case).stderr;
    assert!(
        said.contains("the case on line 1 expects neither a value nor a refusal"),
        "{said}"
    );
    bench
        .bare(&["args", "test", "nowhere.jsonl"])
        .end()
        .with_code(2)
        .says(&["nowhere.jsonl"]);
}
