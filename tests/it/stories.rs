//! The programs under `examples/`, each run and held to what it prints.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

mod guide;

#[test]
fn grep_searches_asks_and_refuses() {
    let printed = run("grep");
    let expected = "\
completed: plan.txt:1: buy milk
plan.txt:2: buy bread
refused: permission for grep was denied: the diary is nobody's business
failed: there is no such file; look for another
";
    assert!(printed.starts_with(expected), "{printed}");
    assert!(
        printed.contains("unknown key \"txt\" (did you mean \"text\"?)"),
        "{printed}"
    );
    assert!(
        printed.ends_with("refused: there is no tool \"grab\"; did you mean grep?\n"),
        "{printed}"
    );
}

#[test]
fn overlay_shows_what_is_registered_and_what_was_captured() {
    let expected = "\
greet: HELLO, Ada!
greet: Hello, Ada!
greet: Hello, Ada!
polite__greet: How do you do, Ada!
polite__greet: there is no tool \"polite__greet\"
";
    assert_eq!(run("overlay"), expected);
}

#[test]
fn a_streamed_response_runs_its_calls_and_becomes_the_next_request() {
    let printed = run("model-stream");
    let (tools, rest) = printed.split_once('\n').unwrap();
    assert!(tools.contains(r#""required":["city","days"]"#), "{tools}");
    let expected = "\
text: Let me see.
settled: Oslo in 0 days: rain
finish: ToolCalls
next: {\"content\":\"Let me see.\",\"role\":\"assistant\"";
    assert!(rest.starts_with(expected), "{rest}");
    let answer =
        "next: {\"content\":\"Oslo in 0 days: rain\",\"role\":\"tool\",\"tool_call_id\":\"c1\"}\n";
    assert!(rest.ends_with(answer), "{rest}");
}

#[test]
fn gateway_serves_imported_built_in_and_own_tools() {
    let expected = "\
server broken: failed
server voice: ready
voice__shout: HELLO
reverse: olleh
read: one line
write: permission for write was denied; calling again will not change that
serving at http://127.0.0.1:";
    let printed = run("gateway");
    assert!(printed.starts_with(expected), "{printed}");
}

/// Builds an example as `cargo test --workspace` does, so that nothing is built twice, and runs it.
#[track_caller]
fn run(example: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let built = Command::new(env!("CARGO"))
        .current_dir(root)
        .args([
            "build",
            "--offline",
            "--quiet",
            "--workspace",
            "--all-features",
        ])
        .args(["--message-format", "json-render-diagnostics"])
        .args(["--example", example])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&built.stderr);
    assert!(built.status.success(), "{example} does not build: {said}");
    let program = program(example, &String::from_utf8(built.stdout).unwrap());

    let ran = Command::new(program).output().unwrap();
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{example} failed: {said}");
    String::from_utf8(ran.stdout).unwrap()
}

/// Where cargo says that it has put the example.
#[track_caller]
fn program(example: &str, messages: &str) -> String {
    let mut messages = messages
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let program = messages.find_map(|message| {
        let is_it =
            message["target"]["name"] == example && message["target"]["kind"][0] == "example";
        let program = message["executable"].as_str().filter(|_| is_it)?;
        Some(program.to_owned())
    });
    program.unwrap_or_else(|| panic!("cargo names no program {example}"))
}
