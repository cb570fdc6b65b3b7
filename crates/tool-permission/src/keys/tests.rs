use proptest::prelude::*;

use super::Keys;
use crate::subject::Symbol;

proptest! {
    #[test]
    fn exactly_the_keys_that_start_a_text_are_shown(
        keys in prop::collection::vec("[ab]{0,4}", 0..12),
        text in "[ab]{0,6}",
        longer in any::<bool>(),
    ) {
        let entries = keys.iter().enumerate().map(|(at, key)| (key.chars().collect(), at));
        let symbols: Vec<Symbol> = text.chars().map(Symbol::Char).collect();
        let mut shown: Vec<usize> = Vec::new();
        Keys::new(entries.collect()).visit(&symbols, longer, &mut |group| shown.extend(group));

        let fits = |key: &String| {
            text.starts_with(key.as_str()) || longer && key.starts_with(&text)
        };
        let expected = keys.iter().enumerate().filter(|(_, key)| fits(key)).map(|(at, _)| at);
        shown.sort_unstable();
        prop_assert_eq!(shown, expected.collect::<Vec<_>>());
    }
}
