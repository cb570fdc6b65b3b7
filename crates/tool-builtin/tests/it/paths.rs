use std::os::unix::fs::symlink;

use serde_json::json;
use tool_builtin::Workspace;
use tool_core::{Decision, Resource};

use crate::fixture::{Room, done, failure, refusal};

const OUTSIDE: &str = "the path leads outside the workspace; only the workspace is reachable, so name paths relative to it";

#[tokio::test]
async fn a_path_outside_is_a_failure_before_anybody_is_asked() {
    let room = Room::new();
    let outside = room.outside("secret.txt");
    for path in [
        "..",
        "../outside/secret.txt",
        "a/../../outside/secret.txt",
        "/etc/passwd",
        "/",
        "/..",
        "~",
        "~/notes",
        outside.to_str().unwrap(),
    ] {
        for tool in ["read", "write", "edit", "glob", "grep", "shell"] {
            let input = match tool {
                "write" => json!({"path": path, "content": "x"}),
                "edit" => json!({"path": path, "old_string": "secret", "new_string": "x"}),
                "read" => json!({"path": path}),
                "shell" => json!({"command": "true", "cwd": path}),
                _ => json!({"path": path, "pattern": "secret"}),
            };
            assert_eq!(
                failure(&room.tool(tool), input).await,
                OUTSIDE,
                "{tool} {path}"
            );
        }
    }
    assert_eq!(room.policy.asked(), []);
    assert_eq!(std::fs::read_to_string(outside).unwrap(), "secret canary\n");
}

#[tokio::test]
async fn an_absolute_path_inside_is_taken_as_relative() {
    let room = Room::new();
    room.put("src/a.txt", "text\n");
    let path = room.path("src/../src/./a.txt");
    let read = done(&room.tool("read"), json!({"path": path})).await;
    assert_eq!(read.texts(), ["text\n"]);
    assert_eq!(read.structured["path"], "src/a.txt");
    let asked = room.policy.asked().remove(0);
    assert_eq!(
        asked.resources,
        [Resource::path(room.workspace.root(), "src/a.txt")]
    );
}

#[tokio::test]
async fn a_root_may_be_spelled_through_a_link() {
    let room = Room::new();
    room.put("a.txt", "text\n");
    let link = room.outside("link");
    symlink(room.path(""), &link).unwrap();
    let workspace = Workspace::open(&link).unwrap();
    let tool = tool_builtin::read(&workspace, room.permission());
    for path in [link.join("a.txt"), workspace.root().join("a.txt")] {
        assert_eq!(done(&tool, json!({"path": path})).await.texts(), ["text\n"]);
    }
}

#[tokio::test]
async fn a_link_out_is_followed_by_no_tool_wherever_it_stands() {
    let room = Room::new();
    symlink(room.outside(""), room.path("absolute")).unwrap();
    symlink("../outside", room.path("relative")).unwrap();
    symlink("../outside/secret.txt", room.path("file")).unwrap();
    symlink("relative/../outside", room.path("chain")).unwrap();
    for path in [
        "absolute/secret.txt",
        "relative/secret.txt",
        "file",
        "chain/secret.txt",
    ] {
        for (tool, input) in [
            ("read", json!({"path": path})),
            ("write", json!({"path": path, "content": "x"})),
            (
                "edit",
                json!({"path": path, "old_string": "secret", "new_string": "x"}),
            ),
            ("grep", json!({"path": path, "pattern": "secret"})),
        ] {
            assert_eq!(
                failure(&room.tool(tool), input).await,
                format!(
                    "{path} is behind a symbolic link that leaves the workspace; only the workspace is reachable"
                ),
                "{tool}"
            );
        }
    }
    for (tool, input) in [
        ("glob", json!({"path": "absolute", "pattern": "*"})),
        ("grep", json!({"path": "relative", "pattern": "secret"})),
        ("read", json!({"path": "absolute"})),
        (
            "shell",
            json!({"command": "cat secret.txt", "cwd": "absolute"}),
        ),
        (
            "write",
            json!({"path": "absolute/new/file.txt", "content": "x"}),
        ),
    ] {
        let text = failure(&room.tool(tool), input).await;
        assert!(text.contains("leaves the workspace"), "{tool}: {text}");
    }
    let found = done(&room.tool("grep"), json!({"pattern": "secret"})).await;
    assert_eq!(found.structured["matches"], json!([]));
    assert_eq!(std::fs::read_dir(room.outside("")).unwrap().count(), 1);
    assert_eq!(
        std::fs::read_to_string(room.outside("secret.txt")).unwrap(),
        "secret canary\n"
    );
}

#[tokio::test]
async fn a_link_that_stays_inside_is_followed_absolute_or_not() {
    let room = Room::new();
    room.put("real/a.txt", "old\n");
    symlink("real", room.path("relative")).unwrap();
    symlink(room.path("real"), room.path("absolute")).unwrap();
    symlink("real/a.txt", room.path("file")).unwrap();
    for path in ["relative/a.txt", "absolute/a.txt", "file"] {
        let read = done(&room.tool("read"), json!({"path": path})).await;
        assert_eq!(read.structured["path"], "real/a.txt", "{path}");
    }
    let write = room.tool("write");
    let wrote = done(&write, json!({"path": "file", "content": "new\n"})).await;
    assert_eq!(wrote.texts(), ["replaced real/a.txt (4 bytes)"]);
    assert!(room.path("file").is_symlink());
    done(
        &write,
        json!({"path": "absolute/deep/b.txt", "content": "b\n"}),
    )
    .await;
    assert_eq!(room.get("real/a.txt"), "new\n");
    assert_eq!(room.get("real/deep/b.txt"), "b\n");
}

#[tokio::test]
async fn links_to_nothing_and_loops_are_named() {
    let room = Room::new();
    symlink("nowhere", room.path("dangling")).unwrap();
    symlink("loop", room.path("loop")).unwrap();
    let read = room.tool("read");
    assert_eq!(
        failure(&read, json!({"path": "dangling"})).await,
        "dangling is a symbolic link to nothing; remove the link or name its target"
    );
    assert_eq!(
        failure(&read, json!({"path": "loop"})).await,
        "loop is behind a loop of links"
    );
    let write = room.tool("write");
    assert_eq!(
        failure(&write, json!({"path": "dangling", "content": "x"})).await,
        "dangling is a symbolic link to nothing; remove the link or name its target"
    );
    assert_eq!(room.tree(), ["dangling", "loop"]);
}

#[tokio::test]
async fn paths_that_name_nothing_are_failures() {
    let room = Room::new();
    let read = room.tool("read");
    assert_eq!(
        failure(&read, json!({"path": ""})).await,
        "the path is empty; \".\" names the workspace itself"
    );
    assert_eq!(
        failure(&read, json!({"path": "a\0b"})).await,
        "the path holds a NUL character"
    );
    let long = "x".repeat(300);
    let text = failure(&read, json!({"path": long})).await;
    assert!(text.ends_with("cannot be used: invalid filename"), "{text}");
}

#[tokio::test]
async fn a_link_that_changes_while_permission_is_asked_is_not_followed() {
    let folder = tempfile::tempdir().unwrap();
    let swapped = folder.path().join("link");
    std::fs::write(folder.path().join("harmless"), "harmless").unwrap();
    std::fs::write(folder.path().join("other"), "other").unwrap();
    symlink("harmless", &swapped).unwrap();
    let room = Room::ruled(move |_| {
        std::fs::remove_file(&swapped).unwrap();
        symlink("other", &swapped).unwrap();
        Decision::Allow
    });
    let workspace = Workspace::open(folder.path()).unwrap();
    let read = tool_builtin::read(&workspace, room.permission());
    assert_eq!(
        failure(&read, json!({"path": "link"})).await,
        "link led elsewhere before permission was granted; look again"
    );
}

#[tokio::test]
async fn policy_is_asked_about_the_path_by_name_and_offered_it_alone() {
    let room = Room::new();
    room.put("src/a.txt", "text\n");
    done(&room.tool("read"), json!({"path": "./src//x/../a.txt"})).await;
    let asked = room.policy.asked();
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0].action, "read");
    assert_eq!(
        asked[0].resources,
        [Resource::path(room.workspace.root(), "src/a.txt")]
    );
    assert_eq!(asked[0].save, ["src/a.txt"]);
    assert!(asked[0].metadata.is_empty());
}

#[tokio::test]
async fn a_name_that_would_be_a_pattern_is_not_offered() {
    let room = Room::new();
    for name in ["*", "a?", "[x]", "{a,b}", "back\\slash", "**"] {
        room.put(name, "text\n");
        done(&room.tool("read"), json!({"path": name})).await;
        assert_eq!(room.policy.asked().pop().unwrap().save, [""; 0], "{name}");
    }
}

#[tokio::test]
async fn a_name_with_a_tilde_is_no_home_folder_to_policy() {
    let room = Room::new();
    room.put("~/notes", "text\n");
    done(&room.tool("read"), json!({"path": "./~/notes"})).await;
    let root = room.workspace.root();
    let asked = room.policy.asked().remove(0);
    assert_eq!(
        asked.resources,
        [Resource::path(root, root.join("~/notes"))]
    );
    assert_eq!(asked.save, [""; 0]);
}

#[tokio::test]
async fn a_denied_call_touches_nothing_and_tells_nothing() {
    let room = Room::ruled(|_| Decision::Deny);
    room.put("a.txt", "canary\n");
    for (tool, input) in [
        ("read", json!({"path": "a.txt"})),
        ("read", json!({"path": "missing"})),
        ("write", json!({"path": "a.txt", "content": "x"})),
        ("write", json!({"path": "new/b.txt", "content": "x"})),
        (
            "edit",
            json!({"path": "a.txt", "old_string": "canary", "new_string": "x"}),
        ),
        ("glob", json!({"pattern": "*"})),
        ("grep", json!({"pattern": "canary"})),
        ("shell", json!({"command": "touch marker"})),
    ] {
        let refusal = refusal(&room.tool(tool), input).await;
        assert!(!refusal.to_string().contains("canary"), "{tool}");
    }
    assert_eq!(room.tree(), ["a.txt"]);
    assert_eq!(room.get("a.txt"), "canary\n");
}

#[test]
fn a_root_that_is_no_folder_is_an_error_with_its_cause() {
    let room = Room::new();
    room.put("file", "");
    for path in ["missing", "file"] {
        let error = Workspace::open(room.path(path)).unwrap_err();
        assert!(error.to_string().ends_with("could not be opened"));
        assert!(std::error::Error::source(&error).is_some());
    }
}
