//! Where the arguments of a call may come from.

use crate::workbench::Workbench;

const GREP: &str = r#"{"pattern":"fn main"}"#;
const FOUND: &str = "src/main.rs:3:fn main() {\n";

#[test]
fn arguments_come_from_the_command_line_a_file_or_standard_input() {
    let bench = Workbench::with_a_repository();
    bench.file("grep.json", &format!("\n{GREP}\n"));
    let call = |arguments: &str| bench.tool(&["call", "grep", arguments]);
    assert_eq!(call(GREP).end().succeeded().text(), FOUND);
    assert_eq!(call("@grep.json").end().succeeded().text(), FOUND);
    assert_eq!(call("-").stdin(GREP).end().succeeded().text(), FOUND);
}

#[test]
fn large_arguments_pass_through_standard_input() {
    let bench = Workbench::new();
    let content = "0123456789".repeat(300_000);
    bench.file(
        "allow.toml",
        "version = 1\n[[rule]]\neffect = \"allow\"\naction = \"write\"\nresource = \"**\"\n",
    );
    let arguments = serde_json::json!({"path": "large.txt", "content": content}).to_string();
    let call = bench
        .tool(&["call", "write", "-", "--policy", "allow.toml"])
        .stdin(arguments);
    call.end().succeeded();
    assert!(std::fs::read_to_string(bench.root().join("large.txt")).unwrap() == content);
}

#[test]
fn no_arguments_are_an_empty_object() {
    let bench = Workbench::new();
    bench
        .tool(&["call", "grep"])
        .end()
        .with_code(1)
        .says(&["missing key \"pattern\""]);
    let empty = bench
        .tool(&["call", "grep", "-"])
        .stdin("")
        .end()
        .with_code(1);
    empty.says(&["refused: grep: "]);
}

#[test]
fn what_is_read_is_no_longer_a_name_of_a_file() {
    let bench = Workbench::new();
    bench.file("twice.json", "@grep.json");
    bench.file("grep.json", GREP);
    let refused = bench
        .tool(&["call", "grep", "@twice.json"])
        .end()
        .with_code(1);
    refused.says(&["the arguments are not JSON"]);
}

#[test]
fn a_time_limit_ends_the_call() {
    let bench = Workbench::new();
    let call = [
        "call",
        "shell",
        r#"{"command":"sleep 600"}"#,
        "--timeout",
        "1",
    ];
    let ended = bench.open(&call).end().with_code(1);
    ended.says(&["timed_out: shell: the call took longer than 1 second"]);
    let ended = bench
        .open(&[&call[..], &["--json"]].concat())
        .end()
        .with_code(1);
    assert_eq!(ended.json()["outcome"], "timed_out");
}
