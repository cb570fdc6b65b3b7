//! JSON on one line, in ASCII.

use std::io;

use serde::Serialize;

/// Bytes that most lines have room in.
const LINE: usize = 640;
const DELETE: u8 = 0x7f;

/// JSON on one line in ASCII: what is not is escaped, so that nothing hides, begins a line or acts
/// on a terminal.
pub(super) fn line(value: &impl Serialize) -> io::Result<String> {
    let mut text = Vec::with_capacity(LINE);
    serde_json::to_writer(&mut text, value)?;
    let mut text = String::from_utf8(text).map_err(io::Error::other)?;
    // Outside of strings JSON is ASCII, and inside of them control characters below U+0020 are escaped
    // already.
    if text.is_ascii() && !text.as_bytes().contains(&DELETE) {
        text.push('\n');
        return Ok(text);
    }
    let mut line = String::with_capacity(text.len() + 1);
    for c in text.chars() {
        if (' '..='~').contains(&c) {
            line.push(c);
        } else {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                line.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    line.push('\n');
    Ok(line)
}
