use proptest::prelude::*;

use super::*;

/// The store keeps texts only today; that any bytes page is a promise to what comes.
fn pages(bytes: &[u8], len: usize) -> Vec<&[u8]> {
    let mut pages = Vec::new();
    let mut offset = 0;
    while offset < bytes.len() {
        let first = offset.saturating_sub(MARGIN as usize);
        let last = bytes.len().min(offset + len + 2 * MARGIN as usize);
        let range = page_range(&bytes[first..last], offset - first, len);
        assert_eq!(
            range.start,
            offset - first,
            "a page begins where the last one ended"
        );
        assert!(!range.is_empty());
        pages.push(&bytes[first..last][range.clone()]);
        offset += range.len();
    }
    pages
}

proptest! {
    #[test]
    fn pages_of_any_bytes_equal_the_bytes(
        bytes in prop::collection::vec(any::<u8>(), 0..300),
        len in 1..9_usize,
    ) {
        prop_assert_eq!(pages(&bytes, len).concat(), bytes);
    }

    #[test]
    fn broken_characters_never_split_the_whole_ones_beside_them(
        parts in prop::collection::vec(prop_oneof![
            Just("\u{1F600}".as_bytes()), Just("é".as_bytes()), Just("a".as_bytes()),
            Just(&b"\xF0\x9F"[..]), Just(&b"\x80"[..]), Just(&b"\xFF"[..]),
        ], 0..60),
        len in 1..9_usize,
    ) {
        let bytes = parts.concat();
        let pages = pages(&bytes, len);
        prop_assert_eq!(pages.concat(), bytes.clone());
        // Whole characters survive: the same ones are found page by page as in one piece.
        let whole = |bytes: &[u8]| {
            let text = String::from_utf8_lossy(bytes).into_owned();
            text.chars().filter(|c| *c != '\u{FFFD}').count()
        };
        prop_assert_eq!(pages.iter().map(|page| whole(page)).sum::<usize>(), whole(&bytes));
    }
}
