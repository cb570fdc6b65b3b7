//! The files of the record of calls, listed and verified.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::deadline::until;
use crate::invocation::wait;
use crate::killed::processes;
use crate::leaving::signal;
use crate::stdio_client::StdioClient;
use crate::workbench::Workbench;

/// The files of lines, the oldest first.
fn files(bench: &Workbench) -> Vec<PathBuf> {
    let entries = fs::read_dir(bench.state().join("audit")).unwrap();
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|end| end == "jsonl"));
    files.sort();
    files
}

fn listed(bench: &Workbench) -> Vec<Value> {
    let listed = bench.tool(&["--json", "audit", "list"]).end().succeeded();
    listed.json()["files"].as_array().unwrap().clone()
}

/// What a verification finds, which ends with this status.
#[track_caller]
fn found(bench: &Workbench, code: i32) -> Vec<Value> {
    let verified = bench
        .tool(&["--json", "audit", "verify"])
        .end()
        .with_code(code);
    let document = verified.json();
    assert_eq!(document["ok"], code == 0);
    let files = document["files"].as_array().unwrap();
    files.iter().map(|file| file["finding"].clone()).collect()
}

#[test]
fn files_of_the_record_are_listed_and_one_that_was_changed_or_is_gone_is_found() {
    let bench = Workbench::with_a_repository();
    let none = bench.tool(&["audit", "list"]).end().succeeded();
    none.says(&["no call was put on record"]);
    let none = bench.tool(&["audit", "verify"]).end().with_code(2);
    none.says(&["there is no audit log in ", "either no call was ever made"]);

    for _ in 0..3 {
        bench.call("read", &json!({"path": "README.md"}));
    }
    let listed = listed(&bench);
    let numbers: Vec<_> = listed.iter().map(|it| it["number"].clone()).collect();
    assert_eq!(numbers, [1, 2, 3]);
    for (file, path) in listed.iter().zip(files(&bench)) {
        assert_eq!(file["name"], path.file_name().unwrap().to_str().unwrap());
        assert_eq!(
            (&file["state"], &file["lines"]),
            (&json!("closed"), &json!(1))
        );
        assert_eq!(file["folder"], listed[0]["folder"]);
    }
    assert_eq!(found(&bench, 0), ["whole"; 3]);
    let table = bench.tool(&["audit", "verify"]).end().succeeded();
    assert_eq!(table.text().lines().count(), 3);
    table.says(&["3 files are whole"]);

    let [first, second, _] = &files(&bench)[..] else {
        panic!("three calls were made");
    };
    let text = fs::read_to_string(first).unwrap();
    fs::write(first, text.replace("completed", "cancelled")).unwrap();
    fs::remove_file(second).unwrap();
    assert_eq!(found(&bench, 1), ["changed", "missing", "whole"]);
    let table = bench.tool(&["audit", "verify"]).end().with_code(1);
    assert!(table.text().contains("  changed  "), "{}", table.text());
    table.says(&["1 of 3 files are whole; 2 were changed or are gone"]);

    // What was taken away is not told as if it had never been.
    let folder = bench.state().join("audit");
    let away = bench.state().join("away");
    fs::rename(&folder, &away).unwrap();
    let none = bench.tool(&["audit", "verify"]).end().with_code(2);
    none.says(&["or it was taken away"]);
    // Nor is another folder in its place taken for a whole one.
    bench.call("read", &json!({"path": "README.md"}));
    let table = bench.tool(&["audit", "verify"]).end().succeeded();
    table.says(&["1 of 4 files are whole; 3 elsewhere"]);
    fs::remove_dir_all(&folder).unwrap();
    fs::write(&folder, "").unwrap();
    let none = bench.tool(&["audit", "verify"]).end().with_code(2);
    none.says(&["the audit log could not be looked at"]);
}

#[test]
fn what_a_gateway_left_that_was_killed_is_closed_by_the_next_start() {
    let bench = Workbench::with_a_repository();
    let mut client = StdioClient::start(bench.open(&["serve"]));
    client.call("read", json!({"path": "README.md"}));
    let open = until("the file in the index", || {
        let listed = listed(&bench);
        listed.first().map(|file| file["state"].clone())
    });
    assert_eq!(open, "open");
    assert_eq!(found(&bench, 0), ["open"]);
    let gateway = processes(client.pid())[2];
    signal("KILL", &[gateway.to_string()]);
    assert!(wait(client.child()).is_some());
    assert_eq!(found(&bench, 0), ["unfinished"]);

    bench.call("read", &json!({"path": "README.md"}));
    let states: Vec<_> = listed(&bench)
        .iter()
        .map(|file| (file["state"].clone(), file["lines"].clone()))
        .collect();
    let expected = [("abandoned", 1), ("closed", 1)];
    assert_eq!(
        states,
        expected.map(|(state, lines)| (json!(state), json!(lines)))
    );
    assert_eq!(found(&bench, 0), ["whole"; 2]);
}

#[test]
fn a_gateway_that_ends_leaves_its_files_closed() {
    let bench = Workbench::with_a_repository();
    let mut client = StdioClient::start(bench.open(&["serve"]));
    client.call("read", json!({"path": "README.md"}));
    client.close_stdin();
    assert!(client.ended().success());
    assert_eq!(found(&bench, 0), ["whole"]);
    assert_eq!(listed(&bench)[0]["state"], "closed");
}
