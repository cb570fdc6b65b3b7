//! Text that is spelled as JSON and yet is no data.

use tool_core::Unrepresentable;

/// What the first such place of a text is, and the byte at which it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unheld {
    pub(crate) at: usize,
    pub(crate) what: Unrepresentable,
}

/// Finds the first number or escape that cannot be held: an integer that is no 64-bit integer, a
/// number that is not finite, or half a surrogate pair.
///
/// Only worth its time when parsing has failed or has met a very large number. The text up to the
/// place that is found must be JSON.
pub(crate) fn unheld(text: &str) -> Option<Unheld> {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => match after_string(bytes, at + 1) {
                Ok(end) => at = end,
                Err(at) => {
                    return Some(Unheld {
                        at,
                        what: Unrepresentable::Surrogate,
                    });
                }
            },
            b'-' | b'0'..=b'9' => {
                let length = bytes
                    .iter()
                    .skip(at)
                    .take_while(|byte| {
                        matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E')
                    })
                    .count();
                if text.get(at..at + length).is_some_and(is_out_of_range) {
                    return Some(Unheld {
                        at,
                        what: Unrepresentable::Number,
                    });
                }
                at += length;
            }
            _ => at += 1,
        }
    }
    None
}

/// The end of the string whose first byte is at `at`, or where a lone surrogate is in it.
pub(crate) fn after_string(bytes: &[u8], mut at: usize) -> Result<usize, usize> {
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return Ok(at + 1),
            b'\\' => match unit(bytes, at) {
                Some(0xd800..=0xdbff) => match unit(bytes, at + 6) {
                    Some(0xdc00..=0xdfff) => at += 12,
                    _ => return Err(at),
                },
                Some(0xdc00..=0xdfff) => return Err(at),
                Some(_) => at += 6,
                None => at += 2,
            },
            _ => at += 1,
        }
    }
    Ok(at)
}

/// The UTF-16 unit of the escape at `at`, if there is one.
fn unit(bytes: &[u8], at: usize) -> Option<u16> {
    let escape = bytes.get(at..at + 6)?;
    let digits = escape.strip_prefix(b"\\u")?;
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

fn is_out_of_range(number: &str) -> bool {
    let digits = number.strip_prefix('-').unwrap_or(number);
    if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
        number.parse::<i64>().is_err() && number.parse::<u64>().is_err()
    } else {
        number.parse::<f64>().is_ok_and(f64::is_infinite)
    }
}
