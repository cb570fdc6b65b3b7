use serde_json::json;
use tool_core::{Bound, Content};

use crate::fixture::{Room, done, failure};

#[tokio::test]
async fn a_text_file_comes_exactly_as_it_is() {
    let room = Room::new();
    for text in [
        "one\ntwo\n",
        "no newline",
        "crlf\r\nlines\r\n",
        "ünïcödé 漢字 🦀\n",
        "\n\n",
        "\u{feff}bom\n",
    ] {
        room.put("a.txt", text);
        let read = done(&room.tool("read"), json!({"path": "a.txt"})).await;
        assert_eq!(read.texts(), [text]);
        assert_eq!(read.structured["size"], text.len());
        assert_eq!(read.structured["kind"], "text");
        assert!(read.structured.get("text").is_none());
    }
}

#[tokio::test]
async fn an_empty_file_is_said_to_be_empty() {
    let room = Room::new();
    room.put("a.txt", "");
    let read = done(&room.tool("read"), json!({"path": "a.txt"})).await;
    assert_eq!(read.texts(), ["[a.txt is empty]"]);
}

#[tokio::test]
async fn lines_are_counted_from_one_and_the_rest_is_announced() {
    let room = Room::new();
    room.put("a.txt", "1\n2\n3\n4\n5");
    let read = room.tool("read");
    let page = done(&read, json!({"path": "a.txt", "offset": 2, "limit": 2})).await;
    assert_eq!(
        page.texts(),
        [
            "2\n3\n",
            "[a.txt has 9 bytes and goes on; read on with offset 4]"
        ]
    );
    assert_eq!(page.structured["lines"], 2);
    assert_eq!(page.structured["next"], json!({"offset": 4, "column": 0}));
    let page = done(&read, json!({"path": "a.txt", "offset": 4, "limit": 2})).await;
    assert_eq!(page.texts(), ["4\n5"]);
    assert_eq!(page.structured["lines"], 2);
}

#[tokio::test]
async fn reading_beyond_the_end_tells_where_the_end_is() {
    let room = Room::new();
    let read = room.tool("read");
    for (text, lines) in [("1\n2\n", 2), ("1\n2", 2), ("", 0)] {
        room.put("a.txt", text);
        assert_eq!(
            failure(&read, json!({"path": "a.txt", "offset": lines + 2})).await,
            format!("a.txt has only {lines} lines")
        );
    }
    room.put("a.txt", "123\n");
    for column in [4, 5] {
        assert_eq!(
            failure(&read, json!({"path": "a.txt", "column": column})).await,
            "line 1 of a.txt has only 3 bytes"
        );
    }
    let page = done(&read, json!({"path": "a.txt", "column": 1})).await;
    assert_eq!(page.texts(), ["23\n"]);
}

#[tokio::test]
async fn the_parts_of_a_long_file_are_the_whole_of_it_and_each_is_within_the_bound() {
    let room = Room::new();
    let many: String = (0..5_000).map(|n| format!("line {n}\n")).collect();
    let wide = format!("{}\n{}\nend", "é".repeat(70_000), "x".repeat(49_999));
    for text in [many, wide, "漢".repeat(100_001)] {
        room.put("a.txt", &text);
        let read = room.tool("read");
        let (mut whole, mut offset, mut column) = (String::new(), json!(1), json!(0));
        loop {
            let input = json!({"path": "a.txt", "offset": offset, "column": column});
            let page = done(&read, input).await;
            assert!(!Bound::DEFAULT.is_exceeded_by(page.texts()));
            assert!(page.structured.get("lossy").is_none());
            whole.push_str(page.texts()[0]);
            let Some(next) = page.structured.get("next") else {
                break;
            };
            (offset, column) = (next["offset"].clone(), next["column"].clone());
            let note = page.texts()[1];
            assert!(
                note.contains(&format!("read on with offset {offset}")),
                "{note}"
            );
        }
        assert!(whole == text);
    }
}

#[tokio::test]
async fn bytes_that_are_no_text_are_replaced_and_that_is_said() {
    let room = Room::new();
    room.put("a.txt", b"caf\xe9\n");
    let read = done(&room.tool("read"), json!({"path": "a.txt"})).await;
    assert_eq!(
        read.texts(),
        [
            "caf\u{fffd}\n",
            "[bytes that are not UTF-8 are shown as U+FFFD]"
        ]
    );
    assert_eq!(read.structured["lossy"], true);
}

#[tokio::test]
async fn images_are_shown_by_their_first_bytes_whatever_their_name() {
    let room = Room::new();
    let webp = b"RIFF\x10\x00\x00\x00WEBPVP8 ".as_slice();
    for (bytes, mime) in [
        (b"\x89PNG\r\n\x1a\n\x00\x01".as_slice(), "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF87a..", "image/gif"),
        (b"GIF89a..", "image/gif"),
        (webp, "image/webp"),
    ] {
        room.put("picture", bytes);
        let read = done(&room.tool("read"), json!({"path": "picture"})).await;
        let [Content::Media(media)] = read.content.as_slice() else {
            panic!("{:?}", read.content)
        };
        assert_eq!((media.mime.as_str(), media.data.as_ref()), (mime, bytes));
        assert_eq!(read.structured["mime"], mime);
        assert!(read.structured.get("data").is_none());
    }
}

#[tokio::test]
async fn an_image_passes_up_to_five_mebibytes() {
    let room = Room::new();
    let most = 5 * 1024 * 1024;
    let mut image = b"GIF89a".to_vec();
    image.resize(most, 0);
    room.put("a.gif", &image);
    let read = room.tool("read");
    assert_eq!(done(&read, json!({"path": "a.gif"})).await.content.len(), 1);
    image.push(0);
    room.put("a.gif", &image);
    assert_eq!(
        failure(&read, json!({"path": "a.gif"})).await,
        "a.gif is an image of 5242881 bytes; the most that can be shown is 5242880"
    );
}

#[tokio::test]
async fn other_binary_files_are_named_with_their_size() {
    let room = Room::new();
    for (bytes, what) in [
        (b"a\0b".as_slice(), "binary data"),
        (b"%PDF-1.7", "a PDF document"),
        (b"\x7fELF\x02", "an executable"),
        (b"PK\x03\x04", "a zip archive"),
        (b"\xff\xfea\0", "UTF-16 text"),
    ] {
        room.put("data", bytes);
        assert_eq!(
            failure(&room.tool("read"), json!({"path": "data"})).await,
            format!(
                "data is {what} of {} bytes and cannot be shown as text",
                bytes.len()
            )
        );
    }
}

#[tokio::test]
async fn a_folder_is_listed_sorted_with_its_kinds() {
    let room = Room::new();
    room.put("dir/b.txt", "");
    room.put("dir/a/x", "");
    room.put("dir/.hidden", "");
    room.put("dir/new\nline", "");
    std::os::unix::fs::symlink("b.txt", room.path("dir/link")).unwrap();
    let read = done(&room.tool("read"), json!({"path": "dir"})).await;
    assert_eq!(read.texts(), ["\"new\\nline\"\n.hidden\na/\nb.txt\nlink@"]);
    assert_eq!(read.structured["size"], 5);
    let root = done(&room.tool("read"), json!({"path": "."})).await;
    assert_eq!(root.texts(), ["dir/"]);
}

#[tokio::test]
async fn a_long_listing_is_cut_and_that_is_said() {
    let room = Room::new();
    for n in 0..1_001 {
        room.put(&format!("dir/{n}"), "");
    }
    let read = done(&room.tool("read"), json!({"path": "dir"})).await;
    assert_eq!(read.structured["entries"].as_array().unwrap().len(), 1_000);
    assert_eq!(read.texts()[1], "[1 more entries are not shown; use glob]");
    std::fs::create_dir(room.path("empty")).unwrap();
    let read = done(&room.tool("read"), json!({"path": "empty"})).await;
    assert_eq!(read.texts(), ["[empty is empty]"]);
}

#[tokio::test]
async fn a_missing_file_comes_with_the_nearest_names() {
    let room = Room::new();
    room.put("src/main.rs", "");
    room.put("src/library.rs", "");
    room.put("src/zzz.md", "");
    let read = room.tool("read");
    for (path, near) in [
        ("src/mian.rs", "; did you mean src/main.rs?"),
        ("src/Main.rs", "; did you mean src/main.rs?"),
        ("src/main.py", "; did you mean src/main.rs?"),
        ("src/qqqqqqqqqqqqqq", ""),
        ("srx/deep/main.rs", "; the nearest folder that exists is ."),
        (
            "src/deep/main.rs",
            "; the nearest folder that exists is src",
        ),
    ] {
        assert_eq!(
            failure(&read, json!({"path": path})).await,
            format!("{path} does not exist{near}")
        );
    }
    let text = failure(&read, json!({"path": "src/main.rs/x"})).await;
    assert_eq!(text, "src/main.rs/x cannot be used: not a directory");
}

#[tokio::test]
async fn a_pipe_is_refused_without_waiting_for_its_other_end() {
    let room = Room::new();
    let made = std::process::Command::new("mkfifo")
        .arg(room.path("pipe"))
        .status()
        .unwrap();
    assert!(made.success());
    assert_eq!(
        failure(&room.tool("read"), json!({"path": "pipe"})).await,
        "pipe is neither a file nor a folder and cannot be read"
    );
}
