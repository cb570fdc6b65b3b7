//! Which servers there are, and what they are asked.

use std::path::Path;

use serde_json::{Value, json};

use super::Place;

/// A server, how it is started, and calls that give the same each time.
pub(super) struct Kind {
    pub(super) name: &'static str,
    pub(super) words: fn(&Place) -> Vec<String>,
    pub(super) calls: fn(&Place) -> Vec<(&'static str, Value)>,
}

pub(super) const KINDS: &[Kind] = &[
    Kind {
        name: "everything",
        words: |place| node(place, "@modelcontextprotocol/server-everything", &[]),
        calls: |_| {
            vec![
                ("echo", json!({"message": "hello"})),
                ("get-sum", json!({"a": 2, "b": 3})),
                ("get-tiny-image", json!({})),
                ("get-structured-content", json!({"location": "New York"})),
            ]
        },
    },
    Kind {
        name: "filesystem",
        words: |place| {
            let folder = text(&place.folder);
            node(place, "@modelcontextprotocol/server-filesystem", &[&folder])
        },
        calls: |place| {
            let folder = text(&place.folder);
            let notes = text(&place.folder.join("notes.txt"));
            vec![
                ("list_directory", json!({"path": folder})),
                ("read_text_file", json!({"path": notes})),
                ("read_text_file", json!({"path": "/etc/hostname"})),
            ]
        },
    },
    Kind {
        name: "memory",
        words: |place| node(place, "@modelcontextprotocol/server-memory", &[]),
        calls: |_| {
            vec![
                ("read_graph", json!({})),
                ("search_nodes", json!({"query": "nobody"})),
            ]
        },
    },
    Kind {
        name: "thinking",
        words: |place| {
            node(
                place,
                "@modelcontextprotocol/server-sequential-thinking",
                &[],
            )
        },
        calls: |_| {
            let thought = json!({
                "thought": "one",
                "nextThoughtNeeded": false,
                "thoughtNumber": 1,
                "totalThoughts": 1,
            });
            vec![("sequentialthinking", thought)]
        },
    },
    Kind {
        name: "cyanheads-git",
        words: |place| node(place, "@cyanheads/git-mcp-server", &[]),
        calls: |place| {
            vec![(
                "git_branch",
                json!({"path": text(&place.folder), "mode": "list"}),
            )]
        },
    },
    Kind {
        name: "context7",
        words: |place| node(place, "@upstash/context7-mcp", &[]),
        // What it knows is elsewhere.
        calls: |_| Vec::new(),
    },
    Kind {
        name: "git",
        words: |place| python(place, "mcp-server-git", &[]),
        calls: |place| {
            let folder = text(&place.folder);
            vec![
                ("git_status", json!({"repo_path": folder})),
                ("git_log", json!({"repo_path": folder, "max_count": 1})),
                ("git_log", json!({"repo_path": "/nowhere"})),
            ]
        },
    },
    Kind {
        name: "fetch",
        words: |place| python(place, "mcp-server-fetch", &["--ignore-robots-txt"]),
        // It refuses this machine.
        calls: |_| vec![("fetch", json!({"url": "http://127.0.0.1:9/"}))],
    },
    Kind {
        name: "time",
        words: |place| python(place, "mcp-server-time", &["--local-timezone", "UTC"]),
        calls: |_| {
            let noon = json!({
                "source_timezone": "UTC",
                "time": "12:00",
                "target_timezone": "Asia/Tokyo",
            });
            vec![("convert_time", noon)]
        },
    },
    Kind {
        name: "excel",
        words: |place| python(place, "excel-mcp-server", &["stdio"]),
        calls: |place| {
            let none = text(&place.folder.join("none.xlsx"));
            vec![("describe_workbook", json!({"path": none}))]
        },
    },
    Kind {
        name: "slow",
        words: |place| fake(place, "slow"),
        calls: |_| vec![("echo", json!({"text": "after 11 s"}))],
    },
    Kind {
        name: "exits",
        words: |place| fake(place, "exits"),
        calls: |_| vec![("echo", json!({"text": "again"}))],
    },
    Kind {
        name: "noisy",
        words: |place| fake(place, "noisy"),
        calls: |_| vec![("echo", json!({"text": "in between"}))],
    },
];

fn node(place: &Place, package: &str, args: &[&str]) -> Vec<String> {
    let program = text(&place.node.join(package).join("dist/index.js"));
    words(&["node", &program], args)
}

fn python(place: &Place, program: &str, args: &[&str]) -> Vec<String> {
    words(&[&text(&place.python.join(program))], args)
}

fn fake(place: &Place, mode: &str) -> Vec<String> {
    let python = text(&place.python.join("python"));
    words(&[&python, &text(&place.fakes)], &[mode])
}

fn words(program: &[&str], args: &[&str]) -> Vec<String> {
    let words = program.iter().chain(args);
    words.map(|word| (*word).to_owned()).collect()
}

fn text(path: &Path) -> String {
    path.display().to_string()
}
