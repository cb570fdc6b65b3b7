use proptest::prelude::*;
use serde_json::json;
use tool_core::{Bound, Facts, OutputReading, StoreErrorKind};

use crate::fixture::{DAY, Fixture, session};

/// A store with one output of that text, and its id.
async fn stored(text: &str) -> (Fixture, String) {
    let fixture = Fixture::with(|builder| {
        builder.limits(tool_storage::Limits::new(64 << 20, 1 << 30, DAY).unwrap())
    });
    let mut output = fixture
        .store
        .begin(&session("s"), "shell", Bound::DEFAULT)
        .unwrap();
    output.write(text).await.unwrap();
    let id = output.finish().unwrap().retained.id;
    (fixture, id)
}

#[tokio::test]
async fn lines_are_read_by_their_numbers() {
    let text: String = (1..=100_000)
        .map(|line| format!("line {line}\r\n"))
        .collect();
    let (fixture, id) = stored(&text).await;
    let output = OutputReading::of(&fixture.store, &id, None);
    let read = output.lines(99_999..=100_000, 1_000).await.unwrap();
    assert_eq!(read.text, "line 99999\r\nline 100000\r\n");
    assert_eq!((read.next, read.cut_at), (None, None));
    assert_eq!(read.offset, text.find("line 99999").unwrap() as u64);
    let beyond = output.lines(100_001..=100_002, 1_000).await.unwrap();
    assert!(beyond.text.is_empty());
    let zero = output.lines(0..=1, 1_000).await.unwrap();
    assert_eq!(zero.text, "line 1\r\n");
}

#[tokio::test]
async fn a_line_that_is_longer_than_a_page_says_where_to_read_on() {
    let (fixture, id) = stored(&format!("short\n{}\nend", "é".repeat(1_000))).await;
    let output = OutputReading::of(&fixture.store, &id, None);
    let first = output.lines(1..=9, 500).await.unwrap();
    assert_eq!((&*first.text, first.next), ("short\n", Some(2)));
    let long = output.lines(2..=9, 501).await.unwrap();
    assert_eq!(long.text, "é".repeat(250));
    assert_eq!((long.next, long.cut_at), (None, Some(6 + 500)));
}

#[tokio::test]
async fn a_pointer_reads_one_value() {
    let rows: Vec<_> = (0..20_000)
        .map(|id| json!({"id": id, "name": "x"}))
        .collect();
    let (fixture, id) = stored(&json!({"rows": rows, "a/b": 1}).to_string()).await;
    let output = OutputReading::of(&fixture.store, &id, None);
    let at = |pointer: &'static str| async move { output.pointer(pointer, 1_000).await.unwrap() };
    assert_eq!(
        at("/rows/19999").await.unwrap().text,
        r#"{"id":19999,"name":"x"}"#
    );
    assert_eq!(at("/a~1b").await.unwrap().text, "1");
    assert!(at("/rows/20000").await.is_none());
    let rows = at("/rows").await.unwrap();
    assert_eq!(rows.inside.as_deref(), Some("a list of 20000 items"));
    assert!(rows.text.len() <= 1_000 && rows.bytes > 400_000);
    let whole = at("").await.unwrap();
    assert_eq!(
        whole.inside.as_deref(),
        Some(r#"an object of 2 members: ["a/b","rows"]"#)
    );
    let (fixture, id) = stored("no json").await;
    let output = OutputReading::of(&fixture.store, &id, None);
    assert!(output.pointer("", 1_000).await.unwrap().is_none());
}

#[tokio::test]
async fn an_output_that_is_too_large_has_no_pointers() {
    let (fixture, id) = stored(&format!("[{}]", "0,".repeat(9 << 20))).await;
    let output = OutputReading::of(&fixture.store, &id, None);
    let error = output.pointer("/0", 1_000).await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::TooLarge);
}

#[tokio::test]
async fn a_search_names_lines_and_places() {
    let mut text: String = (1..=200_000).map(|line| format!("line {line}\n")).collect();
    text.push_str(&format!("{}needle{}", "é".repeat(5_000), "é".repeat(5_000)));
    let (fixture, id) = stored(&text).await;
    let output = OutputReading::of(&fixture.store, &id, None);
    let found = output.search("line 19999", 5).await.unwrap();
    let lines: Vec<u64> = found.found.iter().map(|found| found.line).collect();
    assert_eq!(lines, [19_999, 199_990, 199_991, 199_992, 199_993]);
    assert!(found.more);
    for found in &found.found {
        let at = usize::try_from(found.offset).unwrap();
        assert!(text[at..].starts_with("line 19999"));
    }
    let found = output.search("needle", 5).await.unwrap();
    assert_eq!(found.found.len(), 1);
    assert_eq!(found.found[0].line, 200_001);
    assert!(found.found[0].text.contains("needle") && found.found[0].text.len() <= 200);
    assert!(output.search("", 5).await.unwrap().found.is_empty());
    assert!(output.search("absent", 5).await.unwrap().found.is_empty());
}

#[tokio::test]
async fn nobody_reads_by_parts_what_he_may_not_read_by_bytes() {
    let (fixture, id) = stored("secret\n").await;
    for facts in [Facts::new(), session("other")] {
        let output = OutputReading::of(&fixture.store, &id, Some(&facts));
        let errors = [
            output.lines(1..=1, 10).await.err(),
            output.pointer("", 10).await.err(),
            output.search("secret", 10).await.err(),
        ];
        for error in errors {
            assert_eq!(error.unwrap().kind(), StoreErrorKind::NotFound);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn all_lines_one_after_the_other_are_the_output(
        text in "(?s)([a-z\u{1F600}]{0,30}\n|\n|\r\n|.){0,40}",
        count in 1..5_u64,
        max_bytes in 40..200_usize,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let (fixture, id) = stored(&text).await;
            let output = OutputReading::of(&fixture.store, &id, None);
            let (mut read, mut line) = (String::new(), 1);
            let lines: Vec<&str> = text.split_inclusive('\n').collect();
            if lines.iter().any(|line| line.len() > max_bytes) {
                return;
            }
            while line <= lines.len() as u64 {
                let part = output.lines(line..=line + count - 1, max_bytes).await.unwrap();
                assert!(part.text.len() <= max_bytes);
                assert_eq!(part.offset, read.len() as u64);
                let next = part.next.unwrap_or(line + count);
                assert!(next > line);
                read.push_str(&part.text);
                line = next;
            }
            assert_eq!(read, text);
        });
    }
}
