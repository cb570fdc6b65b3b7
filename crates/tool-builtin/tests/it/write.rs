use std::os::unix::fs::PermissionsExt;

use serde_json::json;
use tool_core::{Decision, Resource};

use crate::fixture::{Room, done, failure};

#[tokio::test]
async fn a_new_file_is_created_with_the_folders_above_it() {
    let room = Room::new();
    let wrote = done(
        &room.tool("write"),
        json!({"path": "a/b/c.txt", "content": "ünïcödé\r\n"}),
    )
    .await;
    assert_eq!(wrote.texts(), ["created a/b/c.txt (13 bytes)"]);
    assert_eq!(
        wrote.structured,
        json!({"path": "a/b/c.txt", "bytes": 13, "created": true})
    );
    assert_eq!(room.get("a/b/c.txt"), "ünïcödé\r\n");
    assert_eq!(room.tree(), ["a", "a/b", "a/b/c.txt"]);
}

#[tokio::test]
async fn an_existing_file_is_replaced_and_keeps_its_mode() {
    let room = Room::new();
    room.put("run.sh", "old and longer\n");
    std::fs::set_permissions(room.path("run.sh"), PermissionsExt::from_mode(0o750)).unwrap();
    let wrote = done(
        &room.tool("write"),
        json!({"path": "run.sh", "content": ""}),
    )
    .await;
    assert_eq!(wrote.texts(), ["replaced run.sh (0 bytes)"]);
    assert_eq!(room.get("run.sh"), "");
    let mode = room.path("run.sh").metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o750);
    assert_eq!(room.tree(), ["run.sh"]);
}

#[tokio::test]
async fn the_person_reads_the_size_and_never_the_contents() {
    let room = Room::new();
    done(
        &room.tool("write"),
        json!({"path": "a.txt", "content": "canary"}),
    )
    .await;
    let asked = room.policy.asked();
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0].action, "write");
    assert_eq!(
        asked[0].resources,
        [Resource::path(room.workspace.root(), "a.txt")]
    );
    assert_eq!(asked[0].save, ["a.txt"]);
    assert_eq!(json!(asked[0].metadata), json!({"bytes": 6}));
}

#[tokio::test]
async fn what_is_no_writable_file_stays() {
    let room = Room::new();
    room.put("dir/x", "");
    room.put("fixed", "old");
    std::fs::set_permissions(room.path("fixed"), PermissionsExt::from_mode(0o444)).unwrap();
    room.put("file", "old");
    let write = room.tool("write");
    for (path, text) in [
        ("dir", "dir is a folder; name a file"),
        (".", ". is a folder; name a file"),
        ("fixed", "fixed is read-only"),
        ("file/below", "file/below cannot be used: not a directory"),
    ] {
        assert_eq!(
            failure(&write, json!({"path": path, "content": "new"})).await,
            text
        );
    }
    assert_eq!(room.get("fixed"), "old");
    assert_eq!(room.get("file"), "old");
    assert_eq!(room.tree(), ["dir", "dir/x", "file", "fixed"]);
}

#[tokio::test]
async fn a_call_that_is_dropped_while_it_asks_writes_nothing() {
    let (asked, told) = std::sync::mpsc::channel();
    let room = Room::ruled(move |_| {
        asked.send(()).unwrap();
        Decision::Ask
    });
    struct Forever;
    impl tool_core::Approver for Forever {
        fn ask<'a>(
            &'a self,
            _ask: tool_core::Ask<'a>,
        ) -> tool_core::BoxFuture<'a, Result<tool_core::Word, tool_core::ApproverError>> {
            Box::pin(std::future::pending())
        }
    }
    let permission = tool_core::Permission::new(std::sync::Arc::clone(&room.policy), Forever);
    let write = tool_builtin::write(&room.workspace, permission);
    let call = tokio::spawn(async move {
        done(&write, json!({"path": "a/b.txt", "content": "x"})).await;
    });
    crate::fixture::until("the call asks", || told.try_recv().is_ok()).await;
    call.abort();
    assert!(call.await.unwrap_err().is_cancelled());
    assert_eq!(room.tree(), [""; 0]);
}

#[tokio::test]
async fn odd_names_are_written_and_shown_in_quotes() {
    let room = Room::new();
    for (name, shown) in [
        ("with blank.txt", "with blank.txt"),
        ("it's \"quoted\"", "it's \"quoted\""),
        ("new\nline", "\"new\\nline\""),
        ("bidi\u{202e}txt", "\"bidi\\u{202e}txt\""),
        ("-rf", "-rf"),
        ("漢字", "漢字"),
    ] {
        let wrote = done(&room.tool("write"), json!({"path": name, "content": "x"})).await;
        assert_eq!(wrote.texts(), [format!("created {shown} (1 bytes)")]);
        assert_eq!(room.get(name), "x");
    }
}
