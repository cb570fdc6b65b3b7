//! `--json`, everywhere: one document on standard output.

use serde_json::{Value, json};

use crate::workbench::Workbench;

#[test]
fn every_command_prints_one_document() {
    let bench = Workbench::with_a_repository();
    let settled = bench.call("shell", &json!({"command": "seq 1 80000"}));
    let id = settled["retained"][0]["id"].as_str().unwrap();
    for (args, code) in [
        (&["list"][..], 0),
        (&["call", "grep", r#"{"pattern":"fn"}"#], 0),
        (&["call", "grep", "{"], 1),
        (&["call", "grp"], 1),
        (&["call", "shell", r#"{"command":"exit 3"}"#], 0),
        (&["output", "list"], 0),
        (&["output", "read", id], 0),
        (&["output", "read", id, "--offset", "400000"], 0),
        (&["output", "read", id, "--all"], 0),
    ] {
        let ended = bench.open(args).args(["--json"]).end().with_code(code);
        assert!(ended.json().is_object(), "{args:?}");
        assert_eq!(
            ended.text().lines().count(),
            1,
            "{args:?}: one line in a pipe"
        );
        assert_eq!(ended.stderr, "", "{args:?}");
    }
}

#[test]
fn a_settlement_is_whole() {
    let bench = Workbench::with_a_repository();
    let found = bench.call("grep", &json!({"pattern": "fn main"}));
    let expected = json!({
        "tool": "grep",
        "outcome": "completed",
        "isError": false,
        "reason": null,
        "content": [{"type": "text", "text": "src/main.rs:3:fn main() {"}],
        "structured": {
            "matches": [{"path": "src/main.rs", "line": 3, "text": "fn main() {"}],
            "files_searched": 3,
            "truncated": false,
        },
        "retained": [],
        "repairs": [],
    });
    assert_eq!(found, expected);
}

#[test]
fn an_image_is_there_with_its_bytes() {
    /// A file of the PNG format, as far as anybody here looks.
    const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0";
    let bench = Workbench::new();
    std::fs::write(bench.root().join("dot.png"), PNG).unwrap();
    let read = bench.call("read", &json!({"path": "dot.png"}));
    let image = read["content"]
        .as_array()
        .unwrap()
        .iter()
        .find(|block| block["type"] == "image");
    let image = image.unwrap_or_else(|| panic!("no image: {read}"));
    assert_eq!(image["mimeType"], "image/png");
    assert_eq!(image["data"], "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAA=");
}

#[test]
fn a_list_is_the_same_in_every_run_and_sorted() {
    let bench = Workbench::new();
    let first = bench.tool(&["list", "--json"]).end().succeeded();
    let second = bench.tool(&["list", "--json"]).end().succeeded();
    assert_eq!(first.text(), second.text());
    let document = first.json();
    let names: Vec<_> = document["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(name)
        .collect();
    assert_eq!(
        names,
        [
            "edit",
            "glob",
            "grep",
            "read",
            "read_output",
            "shell",
            "write"
        ]
    );
    assert_eq!(document["servers"], json!([]));
}

fn name(tool: &Value) -> &str {
    tool["name"].as_str().unwrap()
}

#[test]
fn what_is_retained_is_listed_newest_first() {
    let bench = Workbench::new();
    for last in ["70000", "80000"] {
        bench.call("shell", &json!({"command": format!("seq 1 {last}")}));
    }
    let listed = bench.tool(&["output", "list", "--json"]).end().json();
    let outputs = listed["outputs"].as_array().unwrap();
    let lines: Vec<_> = outputs
        .iter()
        .map(|output| output["lines"].as_u64())
        .collect();
    assert_eq!(lines, [Some(80_000), Some(70_000)]);
    assert_eq!(outputs[0]["tool"], "shell");
    assert!(
        outputs[0]["digest"]
            .as_str()
            .unwrap()
            .starts_with("xxh3-128:"),
        "{listed}"
    );

    let shown = bench.tool(&["output", "list"]).end().succeeded();
    let first = shown.text().lines().next().unwrap();
    assert!(
        first.starts_with(outputs[0]["id"].as_str().unwrap()),
        "{first}"
    );
    assert!(first.ends_with("80000 lines  shell"), "{first}");
}
