use proptest::prelude::*;
use tool_core::{Bound, Content, Facts, Link, OutputStore as _, Retention};
use tool_storage::{ManagedOutputs as _, Marker, ReadingHint, preview};

use crate::fixture::{Fixture, join, pages, texts};

/// Text as nobody wishes for it: nothing but newlines, none at all, characters of every length at
/// every offset, escape codes, line ends of every system.
fn hostile_text() -> impl Strategy<Value = String> {
    let fragment = prop_oneof![
        Just("\n".to_owned()),
        Just("\r\n".to_owned()),
        Just("\r".to_owned()),
        Just("\u{1F600}".to_owned()),
        Just("e\u{301}".to_owned()),
        Just("\u{1b}[31m".to_owned()),
        Just("\0".to_owned()),
        "[ -~]{0,40}",
        (1..400_usize).prop_map(|len| "x".repeat(len)),
        (1..60_usize).prop_map(|len| "\n".repeat(len)),
        (1..60_usize).prop_map(|len| "\u{1F600}".repeat(len)),
        ".{0,20}",
    ];
    prop::collection::vec(fragment, 0..12).prop_map(|fragments| fragments.concat())
}

fn hostile_content() -> impl Strategy<Value = Vec<Content>> {
    let block = prop_oneof![
        4 => hostile_text().prop_map(Content::text),
        1 => Just(Content::Link(Link::new("file:///a", "a"))),
        1 => Just(Content::image("image/png", &b"\x89PNG"[..])),
    ];
    prop::collection::vec(block, 0..7)
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap()
        .block_on(future)
}

/// The numbers that a marker says: bytes left out and in all, lines left out and in all.
fn numbers(marker: &str) -> Vec<usize> {
    let words = marker.split(' ');
    words.filter_map(|word| word.parse().ok()).collect()
}

fn without_texts(content: &[Content]) -> Vec<&Content> {
    content
        .iter()
        .filter(|block| block.as_text().is_none())
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn law_10_pages_equal_bytes_and_the_preview_is_their_prefix_and_suffix(
        content in hostile_content(),
        bytes in 1..2_000_usize,
        lines in 1..40_usize,
        page in 1..200_usize,
    ) {
        let fixture = Fixture::new();
        let bound = Bound::new(bytes, lines).unwrap();
        let facts = Facts::new();
        let stored = join(&texts(&content));
        let bounded = block_on(
            fixture.store.bound(Retention::new(content.clone(), bound, &facts, "tool")),
        ).unwrap();
        let retained = &bounded.retained;

        prop_assert_eq!(retained.bytes, stored.len() as u64);
        prop_assert_eq!(retained.lines, stored.lines().count() as u64);
        prop_assert!(block_on(fixture.store.verify(&retained.id)).is_ok());
        let pages = block_on(pages(&fixture.store, &retained.id, page));
        prop_assert!(pages.iter().all(|page| str::from_utf8(page).is_ok()));
        prop_assert_eq!(pages.concat(), stored.as_bytes());

        if !bound.is_exceeded_by(texts(&content)) {
            prop_assert_eq!(bounded.content, content);
            return Ok(());
        }
        prop_assert_eq!(without_texts(&bounded.content), without_texts(&content));
        let shown = texts(&bounded.content);
        let markers: Vec<usize> = shown
            .iter()
            .enumerate()
            .filter(|(_, text)| text.contains(&retained.id))
            .map(|(at, _)| at)
            .collect();
        prop_assert_eq!(markers.len(), 1);
        let marker = shown[markers[0]];
        let head = join(&shown[..markers[0]]);
        let tail = join(&shown[markers[0] + 1..]);
        prop_assert!(stored.starts_with(&head));
        prop_assert!(stored.ends_with(&tail));

        let numbers = numbers(marker);
        let hidden = stored.len() - head.len() - tail.len();
        // A newline between two texts belongs to neither.
        prop_assert!(numbers[0] == hidden || numbers[0] + 1 == hidden, "{} {hidden}", marker);
        prop_assert_eq!(numbers[1], stored.len());
        prop_assert_eq!(numbers[3], stored.lines().count());
        prop_assert!(numbers[2] <= numbers[3]);

        if lines >= 3 && bytes >= marker.len() + 8 {
            prop_assert!(!bound.is_exceeded_by(shown.iter().copied()), "{:?}", shown);
        }
    }

    #[test]
    fn law_10_the_lines_left_out_are_those_of_which_nothing_is_shown(
        texts in prop::collection::vec(hostile_text(), 1..6),
        bytes in 250..2_000_usize,
        lines in 1..40_usize,
    ) {
        let text = texts.concat();
        let bound = Bound::new(bytes, lines).unwrap();
        let content = vec![Content::text(&*text)];
        if !bound.is_exceeded_by([&*text]) {
            return Ok(());
        }
        let hint = ReadingHint::default();
        let shown = preview(content, bound, &Marker::new("out_\u{1}", &hint));
        let shown = crate::fixture::texts(&shown);
        let marker = shown.iter().position(|text| text.contains("out_\u{1}")).unwrap();
        let head = shown[..marker].concat().len();
        let tail = text.len() - shown[marker + 1..].concat().len();

        // By hand: the lines, their ends included, that lie wholly in what is left out.
        let mut at = 0;
        let mut left_out = 0;
        for line in text.split_inclusive('\n') {
            left_out += usize::from(at >= head && at + line.len() <= tail);
            at += line.len();
        }
        let said = numbers(shown[marker]);
        prop_assert_eq!(said[2], left_out, "{}", shown[marker]);

        let splits_crlf = |at: usize| text[..at].ends_with('\r') && text[at..].starts_with('\n');
        prop_assert!(!splits_crlf(head) && !splits_crlf(tail));
    }

    #[test]
    fn law_09_no_lossy_success_a_refused_output_leaves_nothing_and_shows_nothing(
        text in hostile_text(), limit in 1..300_u64,
    ) {
        let fixture = Fixture::limited(limit, 1 << 20);
        let facts = Facts::new();
        let bound = Bound::new(1, 1).unwrap();
        let result = block_on(
            fixture.store.bound(Retention::new(vec![Content::text(&*text)], bound, &facts, "tool")),
        );
        match result {
            Ok(bounded) => {
                prop_assert!(text.len() as u64 <= limit);
                let pages = block_on(pages(&fixture.store, &bounded.retained.id, 64));
                prop_assert_eq!(pages.concat(), text.as_bytes());
            }
            Err(error) => {
                prop_assert!(text.len() as u64 > limit);
                prop_assert_eq!(error.kind(), tool_core::StoreErrorKind::TooLarge);
                prop_assert!(fixture.names().is_empty());
            }
        }
    }
}
