//! A secret in what a tool prints: kept with the output, and nowhere else.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::stdio_client::StdioClient;
use crate::workbench::Workbench;

const CANARY: &str = "canary-7d41-secret";

/// Every path below a folder.
fn below(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.is_symlink() {
            below(&path, found);
        }
        found.push(path);
    }
}

#[test]
fn s2_a_secret_that_a_tool_prints_is_in_no_name_no_log_and_no_error() {
    let bench = Workbench::new();
    bench.in_root("secret", CANARY);
    let line = "cat secret; seq 1 20000; cat secret";
    let arguments = json!({"command": line}).to_string();
    let logged = |args: &[&str]| bench.open(args).env("TOOL_LOG", "trace").end();
    let called = logged(&["call", "shell", &arguments]);
    assert!(called.status.success(), "{}", called.stderr);
    assert!(called.text().contains(CANARY), "it is printed");
    assert!(!called.stderr.contains(CANARY), "{}", called.stderr);

    // Listed, looked for under a wrong id, and read after it was damaged.
    let listed = logged(&["output", "list", "--json"]);
    let id = listed.json()["outputs"][0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(!listed.text().contains(CANARY) && !listed.stderr.contains(CANARY));
    let mut paths = Vec::new();
    below(&bench.state(), &mut paths);
    assert!(paths.iter().any(|path| path.ends_with(&id)));
    for path in &paths {
        let relative = path.strip_prefix(bench.state()).unwrap();
        assert!(!relative.to_string_lossy().contains(CANARY), "{relative:?}");
        let holds = path.is_file()
            && fs::read(path)
                .unwrap()
                .windows(CANARY.len())
                .any(|window| window == CANARY.as_bytes());
        assert!(!holds || path.ends_with(&id), "{relative:?} holds it");
    }
    let output = paths.iter().find(|path| path.ends_with(&id)).unwrap();
    fs::write(output, CANARY).unwrap();
    let mut log = String::new();
    for args in [
        ["output", "read", &id],
        ["output", "read", "out_0123456789abcdef"],
        ["output", "search", &id],
    ] {
        let failed = logged(&[&args[..], &["x"][..usize::from(args[1] == "search")]].concat());
        assert!(!failed.status.success(), "{args:?}");
        assert!(!failed.stderr.contains(CANARY), "{}", failed.stderr);
        assert!(!failed.text().contains(CANARY), "{}", failed.text());
        log.push_str(&failed.stderr);
    }
    assert!(log.contains("an output is damaged"), "it is logged: {log}");
}

#[test]
fn s29_a_store_that_cannot_be_written_fails_the_call_and_nothing_else() {
    let bench = Workbench::new();
    bench.in_root("secret", CANARY);
    let mut client = StdioClient::start(bench.open(&["serve"]));
    let long = json!({"command": "cat secret; seq 1 20000; cat secret"});
    assert_eq!(client.call("shell", long.clone())["isError"], false);

    // Who may write everywhere, as root may, is not stopped by a mode: a folder is put in place.
    let state = bench.state();
    let moved = bench.path().join("moved");
    fs::rename(&state, &moved).unwrap();
    fs::create_dir(&state).unwrap();
    fs::set_permissions(&state, fs::Permissions::from_mode(0o500)).unwrap();
    // The store holds its own folder by its handle, so that it does not matter what its name means.
    assert_eq!(client.call("shell", long.clone())["isError"], false);
    fs::remove_dir(&state).unwrap();
    fs::remove_dir_all(&moved).unwrap();
    let failed = client.call("shell", long);
    assert_eq!(failed["isError"], true);
    let said = failed.to_string();
    assert!(!said.contains(CANARY), "nothing of it is shown: {said}");
    assert!(!said.contains("moved") && !said.contains("state"), "{said}");
    let short = client.call("shell", json!({"command": "echo still here"}));
    assert_eq!(short["content"][0]["text"], "still here\n");
}
