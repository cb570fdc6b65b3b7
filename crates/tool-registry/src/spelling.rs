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
    numbers(text).find_map(|number| match number {
        Ok((at, number)) => is_out_of_range(number).then_some(Unheld {
            at,
            what: Unrepresentable::Number,
        }),
        Err(at) => Some(Unheld {
            at,
            what: Unrepresentable::Surrogate,
        }),
    })
}

/// The numbers of a text as they are spelled, each with the byte at which it begins; or where a
/// lone surrogate is, which is the last.
pub(crate) fn numbers(text: &str) -> impl Iterator<Item = Result<(usize, &str), usize>> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        while let Some(byte) = bytes.get(at) {
            match byte {
                b'"' => match after_string(bytes, at + 1) {
                    Ok(end) => at = end,
                    Err(surrogate) => {
                        at = bytes.len();
                        return Some(Err(surrogate));
                    }
                },
                b'-' | b'0'..=b'9' => {
                    let begin = at;
                    let rest = bytes.get(begin..).unwrap_or_default();
                    at += rest.iter().take_while(|byte| is_of_number(**byte)).count();
                    return Some(Ok((begin, text.get(begin..at).unwrap_or_default())));
                }
                _ => at += 1,
            }
        }
        None
    })
}

fn is_of_number(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E')
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
