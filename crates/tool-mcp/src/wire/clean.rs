//! Characters that a reader cannot see, taken out of what a server says.

use std::borrow::Cow;

use serde_json::Value;

use super::presentation::has_presentation;

/// The three flags that are written with tag characters: England, Scotland and Wales.
///
/// Source: Unicode Technical Standard 51, revision 27, emoji tag sequences in general use.
const FLAGS: [&str; 3] = ["gbeng", "gbsct", "gbwls"];
const BLACK_FLAG: char = '\u{1F3F4}';

/// Text without control characters and escape sequences of terminals, without characters that
/// turn the direction of reading, and without such as carry hidden text: tags outside of a whole
/// flag, joiners and variation selectors that join nothing, and everything of no width.
///
/// Tabs and ends of lines stay.
pub(crate) fn text(text: &str) -> Cow<'_, str> {
    // Most texts are plain, which takes one look at their bytes.
    let looked_at = |char| is_suspect(char) || is_selector(char);
    if text.bytes().all(is_plain) || !text.chars().any(looked_at) {
        return Cow::Borrowed(text);
    }
    let chars: Vec<char> = text.chars().collect();
    let mut kept = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(char) = chars.get(at).copied() {
        at += match char {
            '\u{1b}' | '\u{9b}' => escape_length(chars.get(at..).unwrap_or_default()),
            BLACK_FLAG => {
                let flag = flag_length(chars.get(at + 1..).unwrap_or_default());
                kept.extend(chars.get(at..=at + flag).unwrap_or_default());
                1 + flag
            }
            '\u{200c}' | '\u{200d}' => {
                let before = kept.chars().next_back();
                if joins(before.as_ref()) && joins(chars.get(at + 1)) {
                    kept.push(char);
                }
                1
            }
            _ if is_selector(char) => {
                if selects(kept.chars().next_back(), chars.get(at + 1)) {
                    kept.push(char);
                }
                1
            }
            _ if is_suspect(char) => 1,
            _ => {
                kept.push(char);
                1
            }
        };
    }
    Cow::Owned(kept)
}

/// Cleans every text of a value, keys included. How many texts were not clean.
pub(crate) fn value(value: &mut Value) -> usize {
    match value {
        Value::String(string) => match text(string) {
            Cow::Borrowed(_) => 0,
            Cow::Owned(cleaned) if cleaned == *string => 0,
            Cow::Owned(cleaned) => {
                *string = cleaned;
                1
            }
        },
        Value::Array(items) => items.iter_mut().map(self::value).sum(),
        Value::Object(members) => {
            let mut unclean = members.values_mut().map(self::value).sum();
            if members.keys().any(|key| *text(key) != **key) {
                *members = std::mem::take(members)
                    .into_iter()
                    .map(|(key, member)| {
                        let cleaned = text(&key);
                        if *cleaned != *key {
                            unclean += 1;
                        }
                        (cleaned.into_owned(), member)
                    })
                    .collect();
            }
            unclean
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

/// Whether a byte is a character of its own that nobody has to suspect.
fn is_plain(byte: u8) -> bool {
    matches!(byte, b' '..=b'~' | b'\t' | b'\n' | b'\r')
}

fn is_suspect(char: char) -> bool {
    matches!(char,
        '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{7f}'..='\u{9f}'
        | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
        | '\u{fe00}'..='\u{fe0d}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Whether it makes an emoji or text of the character ahead of it.
fn is_selector(char: char) -> bool {
    matches!(char, '\u{fe0e}' | '\u{fe0f}')
}

/// Whether a selector stands where it decides something: behind a character that is written in two
/// ways, which those of a keycap are in that alone.
fn selects(before: Option<char>, behind: Option<&char>) -> bool {
    before.is_some_and(|before| match before {
        '#' | '*' | '0'..='9' => behind == Some(&'\u{20e3}'),
        before => has_presentation(before),
    })
}

/// Whether a character may stand beside a joiner: one of a script that is not plain ASCII.
fn joins(char: Option<&char>) -> bool {
    char.is_some_and(|char| !char.is_ascii() && (!is_suspect(*char)))
}

/// The tag characters of a whole flag behind the black one; 0 where they are none.
fn flag_length(behind: &[char]) -> usize {
    let tags: String = behind
        .iter()
        .take(6)
        .map_while(|char| {
            let code = u32::from(*char).checked_sub(0xE0000)?;
            char::from_u32(code).filter(|char| u32::from(*char) < 0x80)
        })
        .collect();
    match tags.strip_suffix('\u{7f}') {
        Some(region) if FLAGS.contains(&region) => 6,
        _ => 0,
    }
}

/// How many characters an escape sequence of terminals has.
fn escape_length(chars: &[char]) -> usize {
    let (kind, start) = match chars {
        ['\u{9b}', ..] => ('[', 1),
        [_, kind, ..] => (*kind, 2),
        _ => return 1,
    };
    let rest = chars.get(start..).unwrap_or_default();
    match kind {
        '[' => {
            let inner = rest.iter().take_while(|char| matches!(char, ' '..='?'));
            let inner = inner.count();
            let last = rest
                .get(inner)
                .is_some_and(|last| matches!(last, '@'..='~'));
            start + inner + usize::from(last)
        }
        // Up to its end, which is a bell or another escape; without one, only the beginning goes.
        ']' | 'P' | '_' | '^' => match rest
            .iter()
            .position(|char| matches!(char, '\u{7}' | '\u{1b}' | '\u{9c}'))
        {
            Some(end) => {
                let two = rest.get(end) == Some(&'\u{1b}') && rest.get(end + 1) == Some(&'\\');
                start + end + 1 + usize::from(two)
            }
            None => start,
        },
        // Only the escape itself: what follows may be text.
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{text, value};

    #[test]
    fn what_nobody_sees_is_taken_out() {
        for (poisoned, clean) in [
            ("a\u{202e}b", "ab"),
            ("a\u{200b}b\u{feff}", "ab"),
            ("say\u{e0068}\u{e0069}", "say"),
            ("\u{1b}[31mred\u{1b}[0m", "red"),
            ("\u{1b}]8;;http://x\u{7}link\u{1b}]8;;\u{1b}\\", "link"),
            ("\u{9b}2Jgone", "gone"),
            ("bell\u{7}null\0", "bellnull"),
            ("a\u{200d}b", "ab"),
            ("x\u{fe01}y\u{e0101}", "xy"),
            ("A\u{fe0e}\u{fe0f}\u{fe0e}", "A"),
            ("é\u{fe0f}1\u{fe0f}2\u{fe0e}#", "é12#"),
            ("❤\u{fe0f}\u{fe0e}\u{fe0f}", "❤\u{fe0f}"),
            ("A\u{fe0f}\u{200d}é", "Aé"),
            ("a\u{1bca0}\u{1bca3}b\u{fff0}", "ab"),
        ] {
            assert_eq!(text(poisoned), clean, "{poisoned:?}");
        }
    }

    #[test]
    fn what_people_write_stays() {
        for written in [
            "tab\tand\r\nline",
            "👨\u{200d}👩\u{200d}👧 ❤\u{fe0f}",
            "❤\u{fe0f}\u{200d}🔥 🏳\u{fe0f}\u{200d}🌈 ☎\u{fe0e} ㊗\u{fe0f}",
            "1\u{fe0f}\u{20e3}#\u{fe0f}\u{20e3}*\u{fe0e}\u{20e3}",
            "می\u{200c}خواهم",
            "\u{1F3F4}\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}",
            "שלום",
        ] {
            assert_eq!(text(written), written);
        }
    }

    #[test]
    fn tags_behind_a_flag_stay_only_where_they_are_one() {
        let smuggled = "\u{1F3F4}\u{e0068}\u{e0069}\u{e007f}";
        assert_eq!(text(smuggled), "\u{1F3F4}");
        let longer = "\u{1F3F4}\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}\u{e0068}";
        assert_eq!(text(longer).chars().count(), 7);
    }

    #[test]
    fn every_text_of_a_value_is_cleaned_and_counted() {
        let mut poisoned = json!({"a\u{200b}": ["b\u{202e}", 1, {"c": "d\0"}], "e": "f"});
        assert_eq!(value(&mut poisoned), 3);
        assert_eq!(poisoned, json!({"a": ["b", 1, {"c": "d"}], "e": "f"}));
    }
}
