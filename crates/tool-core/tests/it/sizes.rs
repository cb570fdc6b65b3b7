//! Bounds and pages.

use bytes::Bytes;
use proptest::prelude::*;
use tool_core::{
    Bound, Bounded, BoxFuture, Content, Digest, Facts, Loss, OutputPage, OutputStore, PageRequest,
    Retained, Retention, StoreError, StoreErrorKind,
};

fn exceeded(bytes: usize, lines: usize, texts: &[&str]) -> bool {
    Bound::new(bytes, lines)
        .unwrap()
        .is_exceeded_by(texts.iter().copied())
}

#[test]
fn a_bound_includes_its_last_byte_and_its_last_line() {
    assert!(!exceeded(4, 9, &["abcd"]));
    assert!(exceeded(4, 9, &["abcde"]));
    assert!(exceeded(4, 9, &["äöü"]));
    assert!(!exceeded(99, 2, &["a\nb"]));
    assert!(exceeded(99, 2, &["a\nb\nc"]));
}

#[test]
fn a_trailing_newline_is_no_line() {
    assert!(!exceeded(99, 2, &["a\nb\n"]));
    assert!(exceeded(99, 2, &["a\nb\n\n"]));
    assert!(!exceeded(99, 1, &["\n"]));
    assert!(!exceeded(1, 1, &[""]));
}

#[test]
fn texts_are_measured_together() {
    assert!(!exceeded(6, 9, &["abc", "def"]));
    assert!(exceeded(5, 9, &["abc", "def"]));
    assert!(exceeded(99, 2, &["a", "b", "c"]));
    assert!(!exceeded(1, 1, &[]));
}

#[test]
fn a_bound_of_zero_cannot_be_said() {
    assert!(
        Bound::new(0, 1)
            .unwrap_err()
            .to_string()
            .contains("zero bytes")
    );
    assert!(
        Bound::new(1, 0)
            .unwrap_err()
            .to_string()
            .contains("zero lines")
    );
}

#[test]
fn the_defaults_are_those_of_the_design() {
    assert_eq!(
        (Bound::DEFAULT.bytes(), Bound::DEFAULT.lines()),
        (51_200, 2_000)
    );
    assert_eq!(Bound::default(), Bound::DEFAULT);
    let page = PageRequest::new("out_1", None);
    assert_eq!((page.offset, page.max_bytes), (0, 51_200));
}

proptest! {
    #[test]
    fn a_bound_is_exceeded_exactly_when_there_is_more_than_it_says(
        texts in prop::collection::vec("[aä\n]{0,12}", 0..4),
        bytes in 1_usize..24,
        lines in 1_usize..8,
    ) {
        let texts: Vec<_> = texts.iter().map(String::as_str).collect();
        let size: usize = texts.iter().map(|text| text.len()).sum();
        let count: usize = texts.iter().map(|text| text.lines().count()).sum();
        prop_assert_eq!(exceeded(bytes, lines, &texts), size > bytes || count > lines);
    }
}

#[test]
fn a_page_says_where_the_next_one_begins_and_the_last_says_none() {
    let page = OutputPage::new(Bytes::from_static(b"abc"), 0, 5);
    assert_eq!(page.next, Some(3));
    let page = OutputPage::new(Bytes::from_static(b"de"), 3, 5);
    assert_eq!(page.next, None);
    assert_eq!(OutputPage::new(Bytes::new(), 0, 0).next, None);
}

#[test]
fn a_retained_output_survives_a_round_trip() {
    let retained = Retained::new("out_1", 3, 1, Digest::of(b"abc"));
    assert!(retained.digest.starts_with("sha-256:ba7816bf"));
    let json = serde_json::to_string(&retained).unwrap();
    assert_eq!(serde_json::from_str::<Retained>(&json).unwrap(), retained);
}

#[test]
fn only_text_is_text() {
    assert_eq!(Content::text("a").as_text(), Some("a"));
    assert_eq!(Content::image("image/png", vec![1_u8]).as_text(), None);
}

#[test]
fn who_says_a_text_is_told_to_others_and_read_from_none() {
    let (own, notice) = (Content::text("a"), Content::notice("a"));
    assert_ne!(own, notice);
    let told = |content: &Content| serde_json::to_value(content).expect("it can be told");
    assert_eq!(told(&own), serde_json::json!({"type": "text", "text": "a"}));
    let written = told(&notice);
    assert_eq!(
        written,
        serde_json::json!({"type": "text", "text": "a", "by": "runtime"})
    );
    let read: Content = serde_json::from_value(written).expect("it is content");
    assert_eq!(read, own);
}

/// A store that says nothing of its own but that it keeps nothing.
struct Nothing;

impl OutputStore for Nothing {
    fn bound<'a>(&'a self, _: Retention<'a>) -> BoxFuture<'a, Result<Bounded, StoreError>> {
        Box::pin(async { Err(StoreError::new(StoreErrorKind::Io, "it keeps nothing")) })
    }

    fn page<'a>(&'a self, _: PageRequest<'a>) -> BoxFuture<'a, Result<OutputPage, StoreError>> {
        Box::pin(async {
            Err(StoreError::new(
                StoreErrorKind::NotFound,
                "it keeps nothing",
            ))
        })
    }
}

#[test]
fn a_store_without_previews_cuts_a_text_to_nothing_and_says_how_much_it_was() {
    let (facts, loss) = (Facts::new(), Loss::of(7, "rows"));
    let picture = Content::image("image/png", vec![1_u8]);
    let content = vec![
        Content::text("one\ntwo"),
        picture.clone(),
        Content::text("three\n"),
    ];
    let retention = Retention::new(content, Bound::DEFAULT, &facts, "shell");
    let shown = Nothing.truncate(retention.loss(Some(&loss)));
    let marker = "[The tool runtime, not the tool, left out all 13 bytes and 3 lines of text here. \
                  They are kept nowhere. The tool itself had left out 7 rows before; nobody keeps \
                  them.]";
    assert_eq!(shown, [picture, Content::notice(marker)]);
}
