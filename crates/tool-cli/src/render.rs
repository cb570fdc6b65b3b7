//! Text for people and JSON for programs.

use std::error::Error;
use std::io::{self, IsTerminal as _, Write as _};

use serde::Serialize;
use tool_runtime::core::ErrorChain;

use crate::error::CliError;

/// So many of something, as in `1 tool`.
pub(crate) fn counted(count: usize, one: &str) -> String {
    match count {
        1 => format!("1 {one}"),
        count => format!("{count} {one}s"),
    }
}

/// Prints one JSON document: over several lines for a person, on one line in a pipe.
pub(crate) fn json(document: &impl Serialize) -> Result<(), CliError> {
    let mut out = io::stdout().lock();
    // Encoded first, so that a reader who has gone is not mistaken for what cannot be encoded.
    let mut text = if out.is_terminal() {
        serde_json::to_vec_pretty(document)?
    } else {
        serde_json::to_vec(document)?
    };
    text.push(b'\n');
    out.write_all(&text)?;
    out.flush()?;
    Ok(())
}

/// Prints an error and its causes on one line of standard error.
pub(crate) fn error(error: &dyn Error) {
    note(&format!("error: {}", ErrorChain::of(error)));
}

/// Prints an error and its causes as one JSON object on standard error.
pub(crate) fn json_error(error: &dyn Error) {
    let causes = std::iter::successors(error.source(), |&cause| cause.source());
    let causes: Vec<_> = causes.map(ToString::to_string).collect();
    let document = serde_json::json!({"error": error.to_string(), "causes": causes});
    note(&document.to_string());
}

/// Prints a line on standard error.
pub(crate) fn note(line: &str) {
    // A closed standard error leaves nobody to tell.
    let _ = writeln!(io::stderr().lock(), "{line}");
}

/// This program, as whoever started it wrote it.
pub(crate) fn program() -> String {
    std::env::args().next().unwrap_or_else(|| "tool".to_owned())
}

/// Makes text safe to print on a terminal: what could move the cursor, change colours or reorder
/// what is around it is shown escaped. Into a pipe it goes as it is.
pub(crate) fn printable(text: &str, terminal: bool) -> String {
    if !terminal {
        return text.to_owned();
    }
    escaped(text, |c| matches!(c, '\n' | '\t') || !is_active(c))
}

/// The same for text that has one line of a terminal: it begins no other, which would look like
/// ours.
pub(crate) fn one_line(text: &str) -> String {
    escaped(text, |c| !is_active(c))
}

fn escaped(text: &str, keep: impl Fn(char) -> bool) -> String {
    text.chars()
        .flat_map(|c| {
            let keep = keep(c);
            let escaped = (!keep).then(|| c.escape_default()).into_iter().flatten();
            escaped.chain(keep.then_some(c))
        })
        .collect()
}

/// Whether a character does something to those around it: a control, one that ends a line, or one
/// that sets a direction (Unicode Standard Annex 9, section 2).
fn is_active(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        )
}

/// A size as people read it.
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    let mut size = bytes as f64;
    let mut shown = None;
    for unit in UNITS {
        if size < 1024.0 {
            break;
        }
        size /= 1024.0;
        shown = Some(unit);
    }
    match shown {
        None => format!("{bytes} B"),
        Some(unit) => format!("{size:.1} {unit}"),
    }
}

/// A moment, in milliseconds since 1970-01-01 UTC, as people read it: to the second, in UTC.
pub(crate) fn time(millis: u64) -> String {
    let seconds = millis / 1000;
    let (mut days, of_day) = (seconds / 86_400, seconds % 86_400);
    if days > LAST_DAY {
        return "the year 10000 or later".to_owned();
    }
    let leap = |year: u64| {
        year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
    };
    let mut year = 1970;
    while days >= 365 + u64::from(leap(year)) {
        days -= 365 + u64::from(leap(year));
        year += 1;
    }
    let february = 28 + u64::from(leap(year));
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    let day = days + 1;
    format!("{year}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} UTC")
}

/// The last day of the year 9999, counted from 1970-01-01.
const LAST_DAY: u64 = 2_932_896;

#[cfg(test)]
mod tests {
    use super::{one_line, printable, time};

    #[test]
    fn text_cannot_move_or_reorder_what_is_around_it_nor_begin_a_line_where_it_has_one() {
        let text = "a\n\tb\u{1b}[2J\r\u{202e}txt\u{2066}\u{200f}\u{2028}ü\u{5d0}";
        let rest = "b\\u{1b}[2J\\r\\u{202e}txt\\u{2066}\\u{200f}\\u{2028}ü\u{5d0}";
        assert_eq!(printable(text, true), format!("a\n\t{rest}"));
        assert_eq!(one_line(text), format!("a\\n\\t{rest}"));
        assert_eq!(printable(text, false), text);
    }

    #[test]
    fn a_moment_is_shown_by_the_calendar() {
        for (seconds, shown) in [
            (0, "1970-01-01 00:00:00 UTC"),
            (951_782_399, "2000-02-28 23:59:59 UTC"),
            (951_782_400, "2000-02-29 00:00:00 UTC"),
            (1_709_251_199, "2024-02-29 23:59:59 UTC"),
            (1_735_689_599, "2024-12-31 23:59:59 UTC"),
            (4_107_542_400, "2100-03-01 00:00:00 UTC"),
            (253_402_300_799, "9999-12-31 23:59:59 UTC"),
            (253_402_300_800, "the year 10000 or later"),
            (u64::MAX / 1000, "the year 10000 or later"),
        ] {
            assert_eq!(time(seconds * 1000), shown);
        }
    }
}
