//! Texts of others in lines of a log.

use std::fmt::{self, Display, Write};

/// Writes what somebody else said without an end of a line, so that nobody writes lines of a log in
/// our name: control characters are escaped.
pub(crate) struct OneLine<T>(pub(crate) T);

impl<T: Display> Display for OneLine<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(Escaping(f), "{}", self.0)
    }
}

struct Escaping<'a, 'f>(&'a mut fmt::Formatter<'f>);

impl Write for Escaping<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for char in text.chars() {
            match char.is_control() || matches!(char, '\u{2028}' | '\u{2029}') {
                true => write!(self.0, "{}", char.escape_default())?,
                false => self.0.write_char(char)?,
            }
        }
        Ok(())
    }
}
