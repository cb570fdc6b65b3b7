use std::os::unix::fs::PermissionsExt;

use serde_json::json;
use tool_core::Resource;

use crate::fixture::{Room, done, failure};

#[tokio::test]
async fn the_one_place_is_replaced_and_every_other_byte_stays() {
    let room = Room::new();
    room.put("a.txt", b"\xff caf\xe9\nold text\nend\xff".as_slice());
    std::fs::set_permissions(room.path("a.txt"), PermissionsExt::from_mode(0o600)).unwrap();
    let edited = done(
        &room.tool("edit"),
        json!({"path": "a.txt", "old_string": "old text", "new_string": "näw"}),
    )
    .await;
    assert_eq!(edited.texts(), ["replaced once in a.txt, at line 2"]);
    assert_eq!(
        edited.structured,
        json!({"path": "a.txt", "replacements": 1, "lines": [2], "bytes": 16})
    );
    let bytes = std::fs::read(room.path("a.txt")).unwrap();
    assert_eq!(bytes, b"\xff caf\xe9\nn\xc3\xa4w\nend\xff");
    let mode = room.path("a.txt").metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(room.tree(), ["a.txt"]);
}

#[tokio::test]
async fn a_text_that_stands_there_several_times_needs_more_or_all() {
    let room = Room::new();
    room.put("a.txt", "x = 1\ny = 2\nx = 1\nx = 1 x = 1\n");
    let edit = room.tool("edit");
    let mut input = json!({"path": "a.txt", "old_string": "x = 1", "new_string": "x = 2"});
    assert_eq!(
        failure(&edit, input.clone()).await,
        "old_string stands 4 times in a.txt, at lines 1, 3, 4, 4; give more of the text around it, or set replace_all"
    );
    assert!(room.get("a.txt").starts_with("x = 1"));
    input["replace_all"] = true.into();
    let edited = done(&edit, input).await;
    assert_eq!(
        edited.texts(),
        ["replaced 4 times in a.txt, at lines 1, 3, 4, 4"]
    );
    assert_eq!(room.get("a.txt"), "x = 2\ny = 2\nx = 2\nx = 2 x = 2\n");
}

#[tokio::test]
async fn many_places_are_counted_and_the_first_are_named() {
    let room = Room::new();
    room.put("a.txt", "x\n".repeat(12));
    assert_eq!(
        failure(
            &room.tool("edit"),
            json!({"path": "a.txt", "old_string": "x", "new_string": "y"})
        )
        .await,
        "old_string stands 12 times in a.txt, at lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and more; give more of the text around it, or set replace_all"
    );
}

#[tokio::test]
async fn a_text_that_is_not_there_comes_with_what_is_like_it() {
    let room = Room::new();
    room.put(
        "a.rs",
        "fn main() {\n    let total = price * count;\n\tprint(total);\n}\nfn other() {\n}\n",
    );
    for (old, text) in [
        (
            "let total = price * count;\nprint(total);",
            "the same text with other blanks or line breaks is at line 2",
        ),
        (
            "\n\nfn other( ){\n\n",
            "the same text with other blanks or line breaks is at line 5",
        ),
        (
            "fn main() {\n    something else\n}",
            "its first line is at line 1, but what follows differs",
        ),
        (
            "    let totel = price * count;",
            "line 2 is most like its first line",
        ),
    ] {
        assert_eq!(
            failure(
                &room.tool("edit"),
                json!({"path": "a.rs", "old_string": old, "new_string": "x"})
            )
            .await,
            match text.strip_prefix("line 2") {
                Some(_) => format!("old_string is not in a.rs; {text}"),
                None => format!("old_string is not in a.rs; {text}"),
            }
        );
    }
    assert_eq!(
        failure(
            &room.tool("edit"),
            json!({"path": "a.rs", "old_string": "quite another thing", "new_string": "x"})
        )
        .await,
        "old_string is not in a.rs, nor anything like it"
    );
}

#[tokio::test]
async fn line_breaks_of_a_crlf_file_stay_crlf() {
    let room = Room::new();
    room.put("a.txt", "one\r\ntwo\r\nthree\r\n");
    let edit = room.tool("edit");
    let input = json!({"path": "a.txt", "old_string": "one\ntwo", "new_string": "1\n1.5\n2"});
    done(&edit, input).await;
    assert_eq!(room.get("a.txt"), "1\r\n1.5\r\n2\r\nthree\r\n");
    let input = json!({"path": "a.txt", "old_string": "2\r\nthree", "new_string": "2\r\n3"});
    done(&edit, input).await;
    assert_eq!(room.get("a.txt"), "1\r\n1.5\r\n2\r\n3\r\n");
}

#[tokio::test]
async fn mixed_line_breaks_are_taken_as_they_are() {
    let room = Room::new();
    room.put("a.txt", "one\r\ntwo\nthree\n");
    let edit = room.tool("edit");
    let input = json!({"path": "a.txt", "old_string": "one\ntwo", "new_string": "x"});
    assert_eq!(
        failure(&edit, input).await,
        "old_string is not in a.txt; the same text with other blanks or line breaks is at line 1"
    );
    let input = json!({"path": "a.txt", "old_string": "two\n", "new_string": "2\n"});
    done(&edit, input).await;
    assert_eq!(room.get("a.txt"), "one\r\n2\nthree\n");
}

#[tokio::test]
async fn what_cannot_be_a_change_is_refused_before_anybody_is_asked() {
    let room = Room::new();
    room.put("a.txt", "text");
    let edit = room.tool("edit");
    assert_eq!(
        failure(
            &edit,
            json!({"path": "a.txt", "old_string": "", "new_string": "x"})
        )
        .await,
        "old_string is empty; use write to make a file"
    );
    assert_eq!(
        failure(
            &edit,
            json!({"path": "a.txt", "old_string": "x", "new_string": "x"})
        )
        .await,
        "old_string and new_string are the same; there is nothing to change"
    );
    assert_eq!(room.policy.asked(), []);
}

#[tokio::test]
async fn files_that_are_missing_or_no_files_or_too_large_are_failures() {
    let room = Room::new();
    room.put("dir/main.rs", "");
    let large = std::fs::File::create(room.path("large")).unwrap();
    large.set_len(16 * 1024 * 1024 + 1).unwrap();
    for (path, text) in [
        (
            "dir/mainn.rs",
            "dir/mainn.rs does not exist; did you mean dir/main.rs?",
        ),
        ("dir", "dir is a folder; name a file"),
        (
            "large",
            "large has more than 16777216 bytes, which is the most that edit changes",
        ),
    ] {
        let input = json!({"path": path, "old_string": "a", "new_string": "b"});
        assert_eq!(failure(&room.tool("edit"), input).await, text);
    }
}

#[tokio::test]
async fn policy_is_asked_to_write_with_sizes_only() {
    let room = Room::new();
    room.put("a.txt", "canary");
    let input = json!({"path": "a.txt", "old_string": "canary", "new_string": "bird"});
    done(&room.tool("edit"), input).await;
    let asked = room.policy.asked();
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0].action, "write");
    assert_eq!(
        asked[0].resources,
        [Resource::path(room.workspace.root(), "a.txt")]
    );
    assert_eq!(
        json!(asked[0].metadata),
        json!({"old_bytes": 6, "new_bytes": 4, "replace_all": false})
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn changes_of_one_file_at_once_are_all_kept() {
    let room = Room::new();
    let text: String = (0..20).map(|n| format!("<{n}>\n")).collect();
    room.put("a.txt", &text);
    let edit = room.tool("edit");
    let calls: Vec<_> = (0..20)
        .map(|n| {
            let edit = edit.clone();
            tokio::spawn(async move {
                let input = json!({
                    "path": "a.txt", "old_string": format!("<{n}>"), "new_string": format!("({n})")
                });
                done(&edit, input).await;
            })
        })
        .collect();
    for call in calls {
        call.await.unwrap();
    }
    let expected: String = (0..20).map(|n| format!("({n})\n")).collect();
    assert_eq!(room.get("a.txt"), expected);
}
