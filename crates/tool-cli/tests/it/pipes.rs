//! Standard output that is a pipe, and one that closes early.

use serde_json::json;

use crate::invocation::Invocation;
use crate::workbench::Workbench;

/// Keeps half a megabyte, and gives its id.
#[track_caller]
fn retained(bench: &Workbench) -> String {
    let settled = bench.call("shell", &json!({"command": "seq 1 80000"}));
    settled["retained"][0]["id"].as_str().unwrap().to_owned()
}

#[test]
fn a_reader_who_has_read_enough_ends_the_program_quietly() {
    let bench = Workbench::new();
    let id = retained(&bench);
    for args in [
        &["output", "read", &id, "--all"][..],
        &["output", "read", &id, "--all", "--json"],
        &["list", "--json"],
    ] {
        let line = format!(
            "{} | head -c 1 && exit ${{PIPESTATUS[0]}}",
            bench.tool(args).line()
        );
        let ended = Invocation::new("bash", &bench)
            .args(["-c", &line])
            .end()
            .succeeded();
        assert_eq!(ended.stdout.len(), 1, "{args:?}: {ended:?}");
        assert_eq!(ended.stderr, "", "{args:?}");
    }
}

#[test]
fn output_in_a_pipe_has_no_escape_codes_and_keeps_its_bytes() {
    let bench = Workbench::new();
    bench.in_root("odd.txt", "\u{1b}[31mred\u{1b}[0m\r\n");
    let read = bench
        .tool(&["call", "read", r#"{"path":"odd.txt"}"#])
        .end()
        .succeeded();
    assert_eq!(read.text(), "\u{1b}[31mred\u{1b}[0m\r\n");
    assert_eq!(read.stderr, "");

    let id = retained(&bench);
    for args in [
        &["--help"][..],
        &["list"],
        &["list", "-vv"],
        &["call", "grep", r#"{"pattern":7}"#],
        &["call", "shell", r#"{"command":"printf 12345; sleep 0.3"}"#],
        &["output", "list"],
        &["output", "read", &id],
        &["nothing"],
    ] {
        let ended = bench.open(args).end();
        assert!(!ended.text().contains('\u{1b}'), "{args:?}: {ended:?}");
        assert!(!ended.stderr.contains('\u{1b}'), "{args:?}: {ended:?}");
    }
}

#[test]
fn results_go_to_standard_output_and_everything_else_to_standard_error() {
    let bench = Workbench::with_a_repository();
    let found = bench
        .tool(&["call", "grep", r#"{"pattern":"fn main"}"#])
        .end()
        .succeeded();
    assert_eq!(
        (found.text(), &*found.stderr),
        ("src/main.rs:3:fn main() {\n", "")
    );
    let empty = bench.tool(&["output", "list"]).end().succeeded();
    assert_eq!(
        (empty.text(), &*empty.stderr),
        ("", "nothing is retained\n")
    );
    let refused = bench.tool(&["call", "grp"]).end().with_code(1);
    assert_eq!(refused.text(), "");
}
