//! The official SDKs' clients, over both transports.

use serde_json::{Value, json};

use crate::peers::{Peers, Sdk};
use crate::serving::Serving;
use crate::workbench::Workbench;

const PYTHON: [Sdk; 2] = [Sdk::Python, Sdk::PythonLegacy];

#[test]
fn the_typescript_client_works_over_stdio() {
    if let Some(peers) = Peers::node("the_typescript_client_works_over_stdio") {
        over_stdio(&peers, Sdk::TypeScript);
    }
}

#[test]
fn the_typescript_client_works_over_http() {
    if let Some(peers) = Peers::node("the_typescript_client_works_over_http") {
        over_http(&peers, &[Sdk::TypeScript]);
    }
}

#[test]
fn the_python_client_works_over_stdio() {
    if let Some(peers) = Peers::python("the_python_client_works_over_stdio") {
        for sdk in PYTHON {
            over_stdio(&peers, sdk);
        }
    }
}

#[test]
fn the_python_client_works_over_http() {
    if let Some(peers) = Peers::python("the_python_client_works_over_http") {
        over_http(&peers, &PYTHON);
    }
}

#[track_caller]
fn over_stdio(peers: &Peers, sdk: Sdk) {
    let bench = Workbench::with_a_repository();
    let results = peers.over_stdio(&bench, sdk, bench.tool(&["serve"]), steps());
    check(&bench, sdk, &results);
}

#[track_caller]
fn over_http(peers: &Peers, sdks: &[Sdk]) {
    let bench = Workbench::with_a_repository();
    let serving = Serving::start(bench.tool(&["serve"]));
    for sdk in sdks {
        let results = peers.over_http(&bench, *sdk, serving.url(), steps());
        check(&bench, *sdk, &results);
    }
}

fn steps() -> Value {
    json!([
        {"do": "list"},
        {"do": "call", "name": "grep", "arguments": {"pattern": "fn main"}},
        {"do": "call", "name": "shell", "arguments": {"command": "touch ran"}},
        {"do": "call", "name": "grep", "arguments": {"pattern": 7}},
        {"do": "call", "name": "grep", "arguments": {"pattern": "fn main", "pth": "src"}},
        {"do": "call", "name": "read", "arguments": {"path": "absent.txt"}},
        {"do": "call", "name": "grp", "arguments": {}},
    ])
}

#[track_caller]
fn check(bench: &Workbench, sdk: Sdk, results: &[Value]) {
    let [list, found, denied, typed, misspelt, failed, unknown] = results else {
        panic!("{sdk:?}: seven steps, {results:?}");
    };
    let names: Vec<_> = list
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| &tool["name"])
        .collect();
    let built_in = [
        "edit",
        "glob",
        "grep",
        "read",
        "read_output",
        "shell",
        "write",
    ];
    assert_eq!(names, built_in, "{sdk:?}");
    assert!(list[2]["outputSchema"].is_object(), "{sdk:?}: {list}");
    assert_eq!(list[2]["annotations"]["readOnlyHint"], true, "{sdk:?}");

    let found = &found["result"];
    assert_eq!(found["isError"], false, "{sdk:?}: {found}");
    assert_eq!(
        found["content"],
        json!([{"type": "text", "text": "src/main.rs:3:fn main() {"}])
    );
    let matched = json!([{"path": "src/main.rs", "line": 3, "text": "fn main() {"}]);
    assert_eq!(found["structuredContent"]["matches"], matched, "{sdk:?}");

    let expected = [
        (denied, "permission for shell was denied"),
        (typed, "expected string at /pattern, got integer"),
        (misspelt, "unknown key \"pth\" (did you mean \"path\"?)"),
        (failed, "absent.txt does not exist"),
    ];
    for (step, text) in expected {
        let result = &step["result"];
        assert_eq!(result["isError"], true, "{sdk:?}: {step}");
        let said = result["content"][0]["text"].as_str().unwrap();
        assert!(
            said.contains(text),
            "{sdk:?}: \"{text}\" is missing in \"{said}\""
        );
    }
    assert!(!bench.has("ran"), "{sdk:?}: what was denied did not run");

    assert_eq!(unknown["error"]["code"], -32602, "{sdk:?}: {unknown}");
    let said = unknown["error"]["message"].as_str().unwrap();
    assert!(said.contains("did you mean grep?"), "{sdk:?}: {said}");
}
