use std::sync::Arc;

use serde_json::json;

use crate::fixture::{Reports, Room, control, done, failure, run_under};

#[tokio::test]
async fn matching_lines_come_with_path_and_line_in_order() {
    let room = Room::new();
    room.put("b.txt", "one\nfn main() {}\nthree\n");
    room.put("a/x.rs", "fn main\nfn other\n");
    room.put("a/y.md", "no fn  here\n");
    let found = done(&room.tool("grep"), json!({"pattern": r"fn \w+"})).await;
    assert_eq!(
        found.texts(),
        ["a/x.rs:1:fn main\na/x.rs:2:fn other\nb.txt:2:fn main() {}"]
    );
    assert_eq!(
        found.structured,
        json!({
            "matches": [
                {"path": "a/x.rs", "line": 1, "text": "fn main"},
                {"path": "a/x.rs", "line": 2, "text": "fn other"},
                {"path": "b.txt", "line": 2, "text": "fn main() {}"},
            ],
            "truncated": false,
            "files_searched": 3,
        })
    );
}

#[tokio::test]
async fn a_search_is_narrowed_by_path_and_glob_and_widened_by_case() {
    let room = Room::new();
    room.put("src/a.rs", "Needle\n");
    room.put("src/b.txt", "needle\n");
    room.put("c.rs", "needle\n");
    let grep = room.tool("grep");
    for (input, paths) in [
        (json!({"pattern": "needle"}), vec!["c.rs", "src/b.txt"]),
        (
            json!({"pattern": "needle", "ignore_case": true}),
            vec!["c.rs", "src/a.rs", "src/b.txt"],
        ),
        (
            json!({"pattern": "needle", "path": "src"}),
            vec!["src/b.txt"],
        ),
        (json!({"pattern": "needle", "path": "c.rs"}), vec!["c.rs"]),
        (
            json!({"pattern": "(?i)needle", "glob": "*.rs"}),
            vec!["c.rs", "src/a.rs"],
        ),
        (
            json!({"pattern": "needle", "glob": "src/*"}),
            vec!["src/b.txt"],
        ),
    ] {
        let found = done(&grep, input.clone()).await;
        let matches = found.structured["matches"].as_array().unwrap().clone();
        let found: Vec<_> = matches
            .iter()
            .map(|found| found["path"].as_str().unwrap())
            .collect();
        assert_eq!(found, paths, "{input}");
    }
}

#[tokio::test]
async fn context_is_shown_once_and_gaps_are_marked() {
    let room = Room::new();
    let text: String = (1..=12).map(|n| format!("{n}\n")).collect();
    room.put("a.txt", text);
    room.put("b.txt", "3\n");
    let found = done(
        &room.tool("grep"),
        json!({"pattern": "^(3|5|11)$", "context": 1}),
    )
    .await;
    assert_eq!(
        found.texts(),
        [
            "a.txt-2-2\na.txt:3:3\na.txt-4-4\na.txt:5:5\na.txt-6-6\n--\na.txt-10-10\na.txt:11:11\na.txt-12-12\n--\nb.txt:1:3"
        ]
    );
    assert_eq!(found.structured["matches"][0]["before"], json!(["2"]));
    assert_eq!(found.structured["matches"][0]["after"], json!(["4"]));
}

#[tokio::test]
async fn long_lines_are_cut_around_the_match_with_marks() {
    let room = Room::new();
    let line = format!("{}needle{}", "ä".repeat(5_000), "z".repeat(5_000));
    room.put("a.txt", format!("{line}\nneedle {}\n", "y".repeat(1_000)));
    let found = done(&room.tool("grep"), json!({"pattern": "needle"})).await;
    let text = found.structured["matches"][0]["text"].as_str().unwrap();
    assert!(
        text.starts_with("…ä") && text.ends_with("z…") && text.contains("äneedlez"),
        "{text}"
    );
    assert!(text.len() <= 410);
    let text = found.structured["matches"][1]["text"].as_str().unwrap();
    assert!(
        text.starts_with("needle y") && text.ends_with("y…"),
        "{text}"
    );
}

#[tokio::test]
async fn more_matches_than_the_limit_are_announced() {
    let room = Room::new();
    room.put("a.txt", "x\n".repeat(5));
    let grep = room.tool("grep");
    let found = done(&grep, json!({"pattern": "x", "limit": 3})).await;
    assert_eq!(found.structured["matches"].as_array().unwrap().len(), 3);
    assert_eq!(found.structured["truncated"], true);
    assert_eq!(
        found.texts()[1],
        "[there are more than these 3 matches; narrow the pattern, the path or the glob]"
    );
    let found = done(&grep, json!({"pattern": "x", "limit": 5})).await;
    assert_eq!(found.structured["truncated"], false);
    let found = done(&grep, json!({"pattern": "y"})).await;
    assert_eq!(found.texts(), ["[no match in 1 files]"]);
}

#[tokio::test]
async fn binary_ignored_and_version_control_files_are_left_out() {
    let room = Room::new();
    room.put("binary", b"needle\n\0needle\n".as_slice());
    room.put(
        "late",
        [b"needle\n".repeat(20_000), b"\0".to_vec()].concat(),
    );
    room.put(".gitignore", "ignored\n");
    room.put("ignored", "needle\n");
    room.put(".git/x", "needle\n");
    room.put(".hidden", "needle\n");
    let found = done(&room.tool("grep"), json!({"pattern": "needle"})).await;
    let matches = found.structured["matches"].as_array().unwrap();
    let paths: std::collections::BTreeSet<_> = matches
        .iter()
        .map(|found| found["path"].as_str().unwrap())
        .collect();
    assert!(
        paths.contains(".hidden") && !paths.contains("binary"),
        "{paths:?}"
    );
    assert!(
        !paths.contains("ignored") && !paths.contains(".git/x"),
        "{paths:?}"
    );
}

#[tokio::test]
async fn text_in_other_encodings_is_searched() {
    let room = Room::new();
    let wide: Vec<u8> = "\u{feff}needle ü\n"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    room.put("utf16.txt", wide);
    room.put("latin1.txt", b"needle \xfc\n".as_slice());
    room.put("crlf.txt", "a needle\r\n");
    let found = done(&room.tool("grep"), json!({"pattern": "needle( .)?$"})).await;
    assert_eq!(found.texts(), ["crlf.txt:1:a needle\nutf16.txt:1:needle ü"]);
    let found = done(
        &room.tool("grep"),
        json!({"pattern": "needle", "path": "latin1.txt"}),
    )
    .await;
    assert_eq!(found.texts(), ["latin1.txt:1:needle \u{fffd}"]);
}

#[tokio::test]
async fn a_bad_pattern_is_explained() {
    let room = Room::new();
    let grep = room.tool("grep");
    let text = failure(&grep, json!({"pattern": "a(b"})).await;
    assert!(
        text.starts_with("the pattern is not valid: ") && text.contains("unclosed group"),
        "{text}"
    );
    let text = failure(&grep, json!({"pattern": "(?=a)b"})).await;
    assert!(text.contains("look-around"), "{text}");
    assert_eq!(
        failure(&grep, json!({"pattern": "a\nb"})).await,
        "the pattern holds a line break; the search is line by line, so look for one of the lines"
    );
    let text = failure(&grep, json!({"pattern": r"(\w{1000}){1000}"})).await;
    assert!(text.contains("size limit"), "{text}");
    assert_eq!(room.policy.asked(), []);
}

#[tokio::test]
async fn a_pattern_that_makes_others_backtrack_ends() {
    let room = Room::new();
    room.put("a.txt", "a".repeat(50_000));
    let found = done(&room.tool("grep"), json!({"pattern": "^(a+)+b"})).await;
    assert_eq!(found.structured["matches"], json!([]));
}

#[tokio::test]
async fn missing_places_are_failures() {
    let room = Room::new();
    room.put("src/a", "");
    let grep = room.tool("grep");
    assert_eq!(
        failure(&grep, json!({"pattern": "x", "path": "scr"})).await,
        "scr does not exist; did you mean src?"
    );
    let text = failure(&grep, json!({"pattern": "x", "glob": "{a"})).await;
    assert!(
        text.starts_with("the file pattern is not valid: "),
        "{text}"
    );
}

#[tokio::test]
async fn a_file_with_a_line_beyond_all_measure_is_skipped_and_counted() {
    let room = Room::new();
    room.put("wide", "x".repeat(33 * 1024 * 1024));
    room.put("b.txt", "needle\n");
    let grep = room.tool("grep");
    let found = done(&grep, json!({"pattern": "needle"})).await;
    assert_eq!(
        found.texts(),
        ["b.txt:1:needle", "[1 files could not be read]"]
    );
    assert_eq!(
        failure(&grep, json!({"pattern": "needle", "path": "wide"})).await,
        "wide cannot be searched: it is no file that can be read, or one of its lines is too long"
    );
}

#[tokio::test]
async fn progress_counts_the_files() {
    let room = Room::new();
    for n in 0..3 {
        room.put(&format!("{n}"), "x\n");
    }
    let reports = Arc::new(Reports::default());
    let sink: Arc<dyn tool_core::ProgressSink> = Arc::clone(&reports) as _;
    let control = control(Some(sink));
    run_under(&control, &room.tool("grep"), json!({"pattern": "x"}))
        .await
        .unwrap();
    assert_eq!(reports.last_message().unwrap(), "3 files searched");
}
