//! JSON on one line, in ASCII.

use std::io;

use serde::Serialize;

/// JSON on one line in ASCII: what is not is escaped, so that nothing hides, begins a line or acts
/// on a terminal.
pub(super) fn line(value: &impl Serialize) -> io::Result<String> {
    let mut text = serde_json::to_string(value)?;
    if text.bytes().all(|byte| (b' '..=b'~').contains(&byte)) {
        text.push('\n');
        return Ok(text);
    }
    let mut line = String::with_capacity(text.len() + 1);
    for c in text.chars() {
        // Outside of strings, JSON is ASCII; control characters below U+0020 are escaped already.
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
