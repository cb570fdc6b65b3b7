use std::os::unix::ffi::OsStrExt;

use serde_json::{Value, json};
use tool_core::Resource;

use crate::fixture::{Room, done, failure};

async fn found(room: &Room, input: Value) -> Value {
    done(&room.tool("glob"), input).await.structured["paths"].clone()
}

#[tokio::test]
async fn a_pattern_is_for_names_without_a_slash_and_for_paths_with_one() {
    let room = Room::new();
    for path in ["a.rs", "src/b.rs", "src/deep/c.rs", "src/d.txt"] {
        room.put(path, "");
    }
    for (pattern, expected) in [
        ("*.rs", json!(["a.rs", "src/b.rs", "src/deep/c.rs"])),
        ("/*.rs", json!(["a.rs"])),
        ("./*.rs", json!(["a.rs"])),
        ("src/*.rs", json!(["src/b.rs"])),
        ("src/**", json!(["src/b.rs", "src/d.txt", "src/deep/c.rs"])),
        (
            "**",
            json!(["a.rs", "src/b.rs", "src/d.txt", "src/deep/c.rs"]),
        ),
        (
            "**/*.{rs,txt}",
            json!(["a.rs", "src/b.rs", "src/d.txt", "src/deep/c.rs"]),
        ),
        ("[bc].rs", json!(["src/b.rs", "src/deep/c.rs"])),
        ("?.txt", json!(["src/d.txt"])),
        ("nothing", json!([])),
    ] {
        assert_eq!(
            found(&room, json!({"pattern": pattern})).await,
            expected,
            "{pattern}"
        );
    }
    assert_eq!(
        found(&room, json!({"pattern": "deep/*", "path": "src"})).await,
        json!(["src/deep/c.rs"])
    );
}

#[tokio::test]
async fn ignore_files_hold_from_the_workspace_down_and_the_nearest_wins() {
    let room = Room::new();
    room.put(".gitignore", "*.log\n/target/\nbuild\n");
    room.put(".git/config", "");
    room.put(".git/info/exclude", "*.local\n");
    for path in [
        "a.log",
        "a.local",
        "a.txt",
        ".hidden/x.txt",
        "target/t.txt",
        "sub/target/t.txt",
        "build/b.txt",
        "sub/build/b.txt",
        "sub/a.log",
        "sub/keep.log",
        "sub/only.here",
        "other/only.here",
    ] {
        room.put(path, "");
    }
    room.put("sub/.gitignore", "!keep.log\nonly.*\n");
    assert_eq!(
        found(&room, json!({"pattern": "**"})).await,
        json!([
            ".gitignore",
            ".hidden/x.txt",
            "a.txt",
            "other/only.here",
            "sub/.gitignore",
            "sub/keep.log",
            "sub/target/t.txt"
        ])
    );
    // From inside, the rules above hold as well, and what is named is looked into.
    assert_eq!(
        found(&room, json!({"pattern": "**", "path": "sub"})).await,
        json!(["sub/.gitignore", "sub/keep.log", "sub/target/t.txt"])
    );
    assert_eq!(
        found(&room, json!({"pattern": "**", "path": "target"})).await,
        json!(["target/t.txt"])
    );
}

#[tokio::test]
async fn an_ignore_file_outside_the_workspace_has_no_say() {
    let room = Room::new();
    std::fs::write(room.path("../.gitignore"), "*\n").unwrap();
    room.put("a.txt", "");
    assert_eq!(
        found(&room, json!({"pattern": "*"})).await,
        json!(["a.txt"])
    );
}

#[tokio::test]
async fn links_are_found_and_not_followed() {
    let room = Room::new();
    room.put("real/a.txt", "");
    std::os::unix::fs::symlink("real", room.path("link")).unwrap();
    std::os::unix::fs::symlink("..", room.path("real/up")).unwrap();
    assert_eq!(
        found(&room, json!({"pattern": "**"})).await,
        json!(["link", "real/a.txt", "real/up"])
    );
}

#[tokio::test]
async fn paths_beyond_the_limit_are_counted() {
    let room = Room::new();
    for n in 0..7 {
        room.put(&format!("{n}.txt"), "");
    }
    let tool = room.tool("glob");
    let found = done(&tool, json!({"pattern": "*.txt", "limit": 2})).await;
    assert_eq!(
        found.texts(),
        [
            "0.txt\n1.txt",
            "[5 more files match; narrow the pattern or the path]"
        ]
    );
    assert_eq!(
        found.structured,
        json!({"paths": ["0.txt", "1.txt"], "more": 5})
    );
    let found = done(&tool, json!({"pattern": "*.md"})).await;
    assert_eq!(found.texts(), ["[no file matches]"]);
}

#[tokio::test]
async fn odd_names_cannot_forge_lines() {
    let room = Room::new();
    room.put("a\nb.txt", "");
    room.put("tab\t.txt", "");
    std::fs::write(
        room.path("")
            .join(std::ffi::OsStr::from_bytes(b"bad\xff.txt")),
        "",
    )
    .unwrap();
    assert_eq!(
        done(&room.tool("glob"), json!({"pattern": "*"}))
            .await
            .texts(),
        ["\"a\\nb.txt\"\nbad\u{fffd}.txt\n\"tab\\t.txt\""]
    );
}

#[tokio::test]
async fn bad_patterns_and_folders_are_failures() {
    let room = Room::new();
    room.put("src/file", "");
    let glob = room.tool("glob");
    for (input, text) in [
        (
            json!({"pattern": "a[b"}),
            "the file pattern is not valid: unclosed character class; missing ']'",
        ),
        (
            json!({"pattern": ""}),
            "the file pattern is empty; \"**\" is for every file",
        ),
        (
            json!({"pattern": "*", "path": "scr"}),
            "folder scr does not exist; did you mean src?",
        ),
        (
            json!({"pattern": "*", "path": "src/file"}),
            "src/file is a file; name the folder to look in",
        ),
    ] {
        assert_eq!(failure(&glob, input).await, text);
    }
}

#[tokio::test]
async fn policy_is_asked_to_read_the_folder() {
    let room = Room::new();
    room.put("src/a", "");
    let glob = room.tool("glob");
    done(&glob, json!({"pattern": "*"})).await;
    done(&glob, json!({"pattern": "*.rs", "path": "src"})).await;
    let asked = room.policy.asked();
    let root = room.workspace.root();
    assert_eq!(asked.len(), 2);
    assert_eq!(
        (asked[0].action.as_str(), asked[1].action.as_str()),
        ("read", "read")
    );
    assert_eq!(asked[0].resources, [Resource::path(root, ".")]);
    assert_eq!(asked[1].resources, [Resource::path(root, "src")]);
    assert_eq!(json!(asked[1].metadata), json!({"pattern": "*.rs"}));
}

#[tokio::test]
async fn a_tree_that_is_deep_is_walked_to_its_end() {
    let room = Room::new();
    let deep = vec!["d"; 300].join("/");
    room.put(&format!("{deep}/leaf.txt"), "");
    let found = found(&room, json!({"pattern": "leaf.txt"})).await;
    assert_eq!(found, json!([format!("{deep}/leaf.txt")]));
}
