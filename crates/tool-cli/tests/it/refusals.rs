//! What is refused has not run, and says so clearly.

use serde_json::json;

use crate::stdio_client::StdioClient;
use crate::workbench::Workbench;

const DENY: &str = r#"version = 1

[[rule]]
effect = "allow"
action = "shell"
resource = "*"

[[rule]]
effect = "deny"
action = "shell"
resource = "touch *"
reason = "files are made with write"

[[rule]]
effect = "deny"
action = "write"
resource = "locked/**"
"#;

const TOUCH: &str = r#"{"command":"touch ran"}"#;

#[test]
fn deny_refuses_before_anything_runs() {
    let bench = Workbench::new();
    bench.file("deny.toml", DENY);
    let call = |name: &str, arguments: &str| {
        bench
            .tool(&["--policy", "deny.toml", "call", name, arguments])
            .end()
    };
    call("shell", r#"{"command":"true"}"#).succeeded();
    let refused = call("shell", TOUCH).with_code(1);
    refused.says(&["refused: shell: ", "deny shell touch *", "(deny.toml:8)"]);
    // One denied part denies the line.
    call("shell", r#"{"command":"true && touch ran"}"#).with_code(1);
    call("shell", r#"{"command":"echo $(touch ran)"}"#).with_code(1);
    assert!(!bench.has("ran"));

    let refused = call("write", r#"{"path":"locked/file","content":"x"}"#).with_code(1);
    refused.says(&["refused: write: ", "deny write locked/**", "(deny.toml:14)"]);
    assert!(!bench.has("locked"));
}

#[test]
fn a_model_reads_the_reason_of_a_deny_and_never_where_it_stands() {
    let bench = Workbench::new();
    bench.file("deny.toml", DENY);
    let mut client = StdioClient::start(bench.tool(&["serve", "--policy", "deny.toml"]));
    let refused = client.call("shell", json!({"command": "touch ran"}));
    assert_eq!(refused["isError"], true);
    let text = refused["content"][0]["text"].as_str().unwrap();
    assert_eq!(
        text,
        "permission for shell was denied: files are made with write"
    );
    assert!(!bench.has("ran"));
}

#[test]
fn ask_with_nobody_there_refuses() {
    let bench = Workbench::new();
    let refused = bench.tool(&["call", "shell", TOUCH]).end().with_code(1);
    refused.says(&[
        "refused: shell: ",
        "nobody is there to ask",
        "--policy FILE",
        "--config",
    ]);
    let refused = bench
        .tool(&["call", "shell", TOUCH, "--json"])
        .end()
        .with_code(1);
    assert_eq!(refused.json()["reason"]["kind"], "denied");
    assert!(!bench.has("ran"));

    let write = r#"{"path":"made","content":"x"}"#;
    bench
        .tool(&["call", "write", write])
        .end()
        .with_code(1)
        .says(&["nobody is there to ask"]);
    assert!(!bench.has("made"));

    bench.in_root(".env", "SECRET=1");
    let refused = bench
        .tool(&["call", "read", r#"{"path":".env"}"#])
        .end()
        .with_code(1);
    assert!(!refused.says(&["refused: read: "]).text().contains("SECRET"));
}

#[test]
fn a_call_that_is_wrong_is_refused_with_what_to_do() {
    let bench = Workbench::with_a_repository();
    let cases = [
        ("grp", "{}", "there is no tool \"grp\"; did you mean grep?"),
        (
            "shell",
            r#"{"command":"touch ran""#,
            "the arguments end too early",
        ),
        (
            "shell",
            r#"{"command":touch ran}"#,
            "the arguments are not JSON, at line 1 column",
        ),
        ("shell", r#""touch ran""#, "object"),
        (
            "shell",
            r#"["touch ran"]"#,
            "expected an object with the arguments, got array",
        ),
        (
            "shell",
            r#"{"command":7}"#,
            "expected string at /command, got integer",
        ),
        (
            "shell",
            r#"{"comand":"touch ran"}"#,
            "unknown key \"comand\" (did you mean \"command\"?)",
        ),
        (
            "shell",
            r#"{"command":"touch ran","cdw":"src"}"#,
            "unknown key \"cdw\" (did you mean \"cwd\"?)",
        ),
        ("shell", "{}", "missing key \"command\""),
        (
            "shell",
            r#"{"command":"true","command":"touch ran"}"#,
            "key \"command\" stands twice",
        ),
        (
            "shell",
            r#"{"command":"touch ran","timeout_ms":0}"#,
            "/timeout_ms",
        ),
    ];
    for (name, arguments, text) in cases {
        let refused = bench.open(&["call", name, arguments]).end().with_code(1);
        assert!(refused.stdout.is_empty(), "{name} {arguments}: {refused:?}");
        refused.says(&[&format!("refused: {name}: "), text]);
        let refused = bench
            .open(&["call", name, arguments, "--json"])
            .end()
            .with_code(1)
            .json();
        assert_eq!(
            (&refused["outcome"], &refused["isError"]),
            (&json!("refused"), &json!(true))
        );
        let said = refused["content"][0]["text"].as_str().unwrap();
        assert!(said.contains(text), "{name} {arguments}: {said}");
    }
    assert!(!bench.has("ran"), "nothing ran");
}

#[test]
fn what_is_wrong_never_repeats_a_supplied_value() {
    let bench = Workbench::new();
    let canary = "hunter2canary";
    for arguments in [
        json!({"command": {"secret": canary}}),
        json!({"command": "true", "timeout_ms": canary}),
        json!({"path": canary}),
    ] {
        let arguments = arguments.to_string();
        let refused = bench
            .open(&["call", "shell", &arguments, "--json", "-vv"])
            .end();
        let refused = refused.with_code(1);
        assert!(!refused.text().contains(canary), "{refused:?}");
        assert!(!refused.stderr.contains(canary), "{refused:?}");
    }
}

#[test]
fn one_refused_call_leaves_the_next_alone() {
    let bench = Workbench::with_a_repository();
    let mut client = StdioClient::start(bench.tool(&["serve"]));
    for wrong in [json!({"pattern": 7}), json!({}), json!({"pattern": "("})] {
        let refused = client.call("grep", wrong);
        assert_eq!(refused["isError"], true, "{refused}");
    }
    let unknown = client.call("grp", json!({}));
    assert_eq!(unknown["code"], -32602, "{unknown}");
    let found = client.call("grep", json!({"pattern": "fn main"}));
    assert_eq!(found["content"][0]["text"], "src/main.rs:3:fn main() {");
}
