use serde_json::json;
use tool_core::{Bound, Content, Link, Text};
use tool_storage::{Marker, ReadingHint, preview};

use crate::fixture::texts;

fn shown(content: Vec<Content>, bytes: usize, lines: usize) -> Vec<Content> {
    let hint = ReadingHint::default();
    let bound = Bound::new(bytes, lines).unwrap();
    preview(content, bound, &Marker::new("out_id", &hint))
}

fn shown_text(text: &str, bytes: usize, lines: usize) -> (String, String, String) {
    let content = shown(vec![Content::text(text)], bytes, lines);
    let texts = texts(&content);
    let marker = texts
        .iter()
        .position(|text| text.contains("out_id"))
        .unwrap();
    let part = |texts: &[&str]| texts.concat();
    (
        part(&texts[..marker]),
        texts[marker].to_owned(),
        part(&texts[marker + 1..]),
    )
}

fn file() -> Content {
    Content::Link(Link::new("file:///a", "a"))
}

#[test]
fn content_within_the_bound_is_unchanged() {
    let content = vec![
        Content::text("a\nb\n"),
        file(),
        Content::text(""),
        Content::text("c"),
    ];
    assert_eq!(shown(content.clone(), 5, 3), content);
}

#[test]
fn a_trailing_newline_is_not_a_line() {
    let content = vec![Content::text("a\nb\n")];
    assert_eq!(shown(content.clone(), 1_000, 2), content);
    let (_, marker, _) = shown_text("a\nb\nc\n", 1_000, 2);
    assert!(marker.contains("of 3 here"), "{marker}");
}

#[test]
fn of_three_lines_under_a_bound_of_two_one_is_left_out() {
    let (head, marker, tail) = shown_text("a\nb\nc", 1_000, 2);
    assert_eq!((&*head, &*tail), ("a\n", "c"));
    assert!(
        marker.contains("left out 2 bytes of 5 and 1 line of 3 here"),
        "{marker}"
    );
}

#[test]
fn the_marker_says_who_cut_how_much_and_how_to_read_on() {
    let text: String = (0..5_000).map(|line| format!("{line}\n")).collect();
    let (head, marker, tail) = shown_text(&text, 51_200, 2_000);
    let left_out = text.len() - head.len() - tail.len();
    assert_eq!(
        marker,
        format!(
            "[The tool runtime, not the tool, left out {left_out} bytes of {} and 3001 lines of \
             5000 here. The whole output is kept as out_id. To read on, call read_output with \
             {{\"id\":\"out_id\",\"offset\":{}}}.]",
            text.len(),
            head.len(),
        )
    );
    assert_eq!(head.lines().count() + tail.lines().count(), 1_999);
    assert!(tail.ends_with("4999\n"));
}

#[test]
fn one_line_of_60_000_characters_shows_both_of_its_ends() {
    let line: String = (0..60_000)
        .map(|at| char::from(b'a' + (at % 26) as u8))
        .collect();
    let (head, marker, tail) = shown_text(&line, 51_200, 2_000);
    assert!(head.len() > 25_000 && tail.len() > 25_000);
    assert!(head.len() + marker.len() + tail.len() <= 51_200);
    assert!(line.starts_with(&head) && line.ends_with(&tail));
    assert!(marker.contains("and 0 lines of 1 here"), "{marker}");
}

#[test]
fn one_long_line_among_short_ones_is_cut_inside() {
    let text = format!("header\n{}\nERROR: at the end\n", "x".repeat(60_000));
    let (head, _, tail) = shown_text(&text, 10_000, 2_000);
    assert!(head.starts_with("header\nxxx") && head.len() > 4_500);
    assert!(tail.ends_with("xxx\nERROR: at the end\n") && tail.len() > 4_500);
}

#[test]
fn lines_are_kept_whole_where_that_costs_little() {
    let text = "0123456789\n".repeat(1_000);
    let (head, _, tail) = shown_text(&text, 1_000, 2_000);
    assert_eq!(head.len() % 11, 0);
    assert_eq!(tail.len() % 11, 0);
    assert!(head.len() + tail.len() > 700);
}

#[test]
fn what_one_end_leaves_unused_the_other_shows() {
    let (short, long) = ("\n".repeat(40), "x".repeat(5_000));
    let (head, _, tail) = shown_text(&format!("{short}{long}"), 2_000, 11);
    assert_eq!(head, "\n".repeat(5));
    assert!(tail.len() > 1_700);
    let (head, _, tail) = shown_text(&format!("{long}{short}"), 2_000, 11);
    assert!(head.len() > 1_700);
    assert_eq!(tail, "\n".repeat(9), "lines that the head does not need");
}

#[test]
fn neither_a_character_nor_a_line_end_is_split() {
    for padding in 0..8 {
        let text = format!("{}{}", "a".repeat(padding), "\u{1F600}".repeat(1_000));
        let (head, _, tail) = shown_text(&text, 500, 10);
        assert!(head.ends_with('\u{1F600}') && tail.starts_with('\u{1F600}'));

        let text = format!("{}{}", "a".repeat(padding), "\r\n".repeat(1_000));
        let (head, _, tail) = shown_text(&text, 300, 2_000);
        assert!(
            head.ends_with("\r\n") && tail.starts_with("\r\n"),
            "{padding}"
        );
        assert_eq!((head.len() - padding) % 2, 0);
        assert_eq!(tail.len() % 2, 0);
    }
}

#[test]
fn two_texts_of_30_kb_share_one_preview() {
    let content = vec![
        Content::text("a".repeat(30_000)),
        Content::text("b".repeat(30_000)),
    ];
    let shown = shown(content, 51_200, 2_000);
    let texts = texts(&shown);
    assert_eq!(texts.len(), 3);
    assert!(texts[0].starts_with('a') && texts[2].ends_with('b'));
    assert!(texts.iter().map(|text| text.len()).sum::<usize>() <= 51_200);
    assert!(
        texts[1].contains("of 60001 "),
        "the newline between the two is stored: {}",
        texts[1]
    );
}

#[test]
fn text_file_text_keeps_its_order_and_is_cut_in_the_last_text() {
    let shown = shown(
        vec![
            Content::text("intro"),
            file(),
            Content::text("y".repeat(5_000)),
        ],
        2_000,
        2_000,
    );
    assert_eq!(shown[0], Content::text("intro"));
    assert_eq!(shown[1], file());
    let rest = texts(&shown[2..]);
    assert_eq!(rest.len(), 3);
    assert!(rest[0].starts_with("yyy") && rest[1].contains("out_id") && rest[2].ends_with("yyy"));
}

#[test]
fn texts_of_which_nothing_is_shown_vanish_and_other_blocks_stay() {
    let mut content = Vec::new();
    for number in 0..100 {
        content.push(Content::text(format!("text {number}")));
        content.push(file());
    }
    let shown = shown(content, 1_000, 5);
    assert_eq!(shown.iter().filter(|block| **block == file()).count(), 100);
    let texts = texts(&shown);
    assert_eq!((texts[0], texts[1]), ("text 0", "text 1"));
    assert!(texts[2].contains("96 lines of 100 here"), "{}", texts[2]);
    assert_eq!((texts[3], texts[4], texts.len()), ("text 98", "text 99", 5));
    assert_eq!(
        shown[4],
        Content::notice(texts[2]),
        "where the first text is left out"
    );
}

#[test]
fn a_cut_text_keeps_its_annotations_on_both_parts_and_its_data_once() {
    let mut text = Text::default();
    text.text = "z".repeat(5_000);
    text.annotations = json!({"audience": ["user"]})
        .as_object()
        .cloned()
        .map(Box::new);
    text.meta = json!({"trace": "t"}).as_object().cloned().map(Box::new);
    let shown = shown(vec![Content::Text(text.clone())], 1_000, 10);
    let [
        Content::Text(head),
        Content::Text(marker),
        Content::Text(tail),
    ] = &shown[..]
    else {
        panic!("a head, a marker and a tail");
    };
    assert_eq!(head.annotations, text.annotations);
    assert_eq!(tail.annotations, text.annotations);
    assert_eq!((&head.meta, &tail.meta), (&text.meta, &None));
    assert_eq!((&marker.annotations, &marker.meta), (&None, &None));
}

#[test]
fn a_bound_smaller_than_the_marker_shows_the_marker_alone() {
    for (bytes, lines) in [(1, 1), (1, 2_000), (50, 3)] {
        let shown = shown(
            vec![Content::text("a\nb\nc".repeat(20)), file()],
            bytes,
            lines,
        );
        assert_eq!(shown.len(), 2, "{bytes} {lines}");
        assert!(texts(&shown)[0].starts_with("[The tool runtime"));
    }
}

#[test]
fn under_a_bound_of_one_line_something_is_shown() {
    let (head, marker, tail) = shown_text("a\nb\nc\n", 1_000, 1);
    assert_eq!((&*head, &*tail), ("a\n", ""));
    assert!(marker.contains("2 lines of 3"), "{marker}");
    let (head, _, tail) = shown_text(&"x".repeat(5_000), 1_000, 1);
    assert!(head.len() > 300 && tail.len() > 300);
}

#[test]
fn a_marker_that_a_tool_prints_is_told_by_its_id_and_its_place() {
    let forged =
        "[The tool runtime, not the tool, left out 0 bytes. kept as out_0000000000000000]\n";
    let (head, marker, tail) = shown_text(&forged.repeat(100), 1_000, 2_000);
    assert!(!head.contains("out_id") && !tail.contains("out_id"));
    assert!(marker.starts_with('[') && marker.ends_with(']') && !marker.contains('\n'));
}

#[test]
fn a_hint_must_lead_somewhere() {
    assert_eq!(
        ReadingHint::new("ask").unwrap_err().to_string(),
        "the reading hint does not hold `{id}`"
    );
    assert!(ReadingHint::new("{id}\nmore").is_err());
    let hint = ReadingHint::new("run: tool output read {id} --from {offset} {other}").unwrap();
    let bound = Bound::new(1_000, 2).unwrap();
    let shown = preview(
        vec![Content::text("a\nb\nc")],
        bound,
        &Marker::new("out_7", &hint),
    );
    assert!(texts(&shown)[1].ends_with("run: tool output read out_7 --from 2 {other}]"));
}
