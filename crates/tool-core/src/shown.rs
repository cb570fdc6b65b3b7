//! Text that came from outside, within a text of our own.

use std::borrow::Cow;

/// Text that came from outside: escaped, and cut when it has more characters than that.
pub(crate) fn shown(text: &str, most: usize) -> Cow<'_, str> {
    if text.len() <= most && text.bytes().all(is_plain) {
        return Cow::Borrowed(text);
    }
    let mut shown: String = text
        .chars()
        .take(most)
        .flat_map(char::escape_debug)
        .collect();
    if text.chars().nth(most).is_some() {
        shown.push('…');
    }
    Cow::Owned(shown)
}

/// Whether it stands for itself and escaping leaves it as it is.
fn is_plain(byte: u8) -> bool {
    (byte == b' ' || byte.is_ascii_graphic()) && !br#""'\"#.contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn what_is_plain_stays_as_escaping_would_leave_it() {
        for c in (0..=0x2ff).filter_map(char::from_u32) {
            let escaped: String = c.escape_debug().collect();
            assert_eq!(shown(&c.to_string(), 5), escaped, "{c:?}");
        }
    }

    #[test]
    fn what_is_long_is_cut_by_characters() {
        assert_eq!(shown("abc", 3), "abc");
        assert_eq!(shown("abcd", 3), "abc…");
        assert_eq!(shown("äöü", 3), "äöü");
        assert_eq!(shown("äöüß", 3), "äöü…");
    }
}
