//! `tool lint`: saved lists, and what people and programs are told of them.

use serde_json::{Value, json};

use crate::workbench::Workbench;

/// A tool that some providers refuse, and one that nobody does.
pub(crate) fn entries() -> Value {
    json!([
        {
            "name": "open",
            "description": "Opens something.",
            "inputSchema": {
                "type": "object",
                "properties": {"route": {"type": "string"}, "file": {"type": "string"}},
                "anyOf": [{"required": ["route"]}, {"required": ["file"]}],
            },
        },
        {
            "name": "look",
            "description": "Looks.",
            "inputSchema": {
                "type": "object",
                "properties": {"at": {"type": "string"}},
                "required": ["at"],
            },
        },
    ])
}

#[test]
fn people_are_told_by_tool_with_rule_place_and_fix() {
    let bench = Workbench::new();
    bench.file("tools.json", &json!({"tools": entries()}).to_string());
    let ended = bench
        .bare(&["lint", "tools.json", "--profile", "anthropic"])
        .end()
        .with_code(1);
    assert_eq!(
        ended.text(),
        "open (tools.json)\n  \
         refused   anthropic/root-combinator: `anyOf` stands at the root\n            \
         at /inputSchema/anyOf\n            \
         for anthropic; here, the alternatives became one object that takes them all\n            \
         fix: Write one object with all properties, and say in the description which belong together.\n\
         \n\
         2 tools: anthropic refuses 1 (1 refusal, 0 constraints given up, 0 notes)\n"
    );
    assert_eq!(ended.stderr, "");
}

#[test]
fn a_list_that_nobody_refuses_ends_with_success() {
    let bench = Workbench::new();
    let text = json!([entries()[1]]).to_string();
    let ended = bench
        .bare(&["lint", "-", "--profile", "gemini", "--profile", "kimi"])
        .stdin(text)
        .end()
        .succeeded();
    assert_eq!(
        ended.text(),
        "1 tool, and none is refused (0 refusals, 0 constraints given up, 0 notes)\n"
    );
}

#[test]
fn a_list_is_read_in_each_form_that_it_is_saved_in() {
    let bench = Workbench::new();
    for document in [
        entries(),
        json!({"tools": entries()}),
        json!({"jsonrpc": "2.0", "id": 1, "result": {"tools": entries()}}),
    ] {
        let ended = bench
            .bare(&["lint", "-", "--json", "--profile", "openai-chat"])
            .stdin(document.to_string())
            .end()
            .with_code(1);
        let found = &ended.json()["sources"][0]["findings"];
        assert_eq!(found[0]["rule"], "openai/root-combinator");
        assert_eq!(found[0]["tool"], "open");
        assert_eq!(found[0]["path"], "/inputSchema/anyOf");
        assert_eq!(found[0]["handling"], "given_up");
        assert_eq!(found.as_array().map(Vec::len), Some(1));
    }
}

#[test]
fn json_counts_by_level_and_what_is_told_can_be_limited() {
    let bench = Workbench::new();
    bench.file("tools.json", &entries().to_string());
    let summary = |args: &[&str]| {
        let ended = bench.bare(&["lint", "tools.json", "--json"]).args(args);
        ended.end().json()["summary"].clone()
    };
    let all = summary(&["--profile", "gemini", "--profile", "mcp"]);
    assert_eq!(all["tools"], 2);
    let notes = |summary: &Value| summary["notes"].as_u64().unwrap();
    assert!(notes(&summary(&[])) > 0);
    let refused = summary(&["--level", "refused"]);
    assert_eq!((notes(&refused), refused["givenUp"].as_u64()), (0, Some(0)));
    assert!(refused["refused"].as_u64().unwrap() > 0);
}

#[test]
fn what_cannot_be_read_names_the_thing_and_the_way_out() {
    let bench = Workbench::new();
    bench.file("words.json", "tools");
    bench.file("other.json", r#"{"prompts":[]}"#);
    bench.file(
        "error.json",
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"m"}}"#,
    );
    for (args, says) in [
        (
            &["lint"][..],
            "nothing is named to lint; give a file, or servers with --mcp-config",
        ),
        (
            &["lint", "nowhere.json"],
            "there is no file \"nowhere.json\"; for a server of that name",
        ),
        (
            &["lint", "words.json"],
            "words.json is not readable as JSON: ",
        ),
        (
            &["lint", "other.json"],
            "other.json holds no list of tools; give the result of tools/list",
        ),
        (
            &["lint", "error.json"],
            "error.json is an answer that reports an error; ",
        ),
        (
            &["lint", "other.json", "--profile", "gemeni"],
            "invalid value 'gemeni'",
        ),
        (
            &["lint", "other.json", "--json", "--sarif"],
            "cannot be used with",
        ),
    ] {
        let ended = bench.bare(args).end().with_code(2);
        assert!(ended.stderr.contains(says), "{args:?}: {}", ended.stderr);
        assert_eq!(ended.text(), "", "{args:?}");
    }
}

#[test]
fn hopeless_entries_end_no_lint() {
    let bench = Workbench::new();
    let entries =
        json!([null, 7, {}, {"name": []}, {"name": "x\u{1b}[31m", "inputSchema": {"$ref": 1}}]);
    let ended = bench
        .bare(&["lint", "-"])
        .stdin(entries.to_string())
        .end()
        .with_code(1);
    assert!(
        ended.text().contains("entry 0 (standard input)\n"),
        "{}",
        ended.text()
    );
    assert!(
        ended.text().contains("definition/not-an-object"),
        "{}",
        ended.text()
    );
    assert!(!ended.text().contains('\u{1b}'), "{}", ended.text());
}
