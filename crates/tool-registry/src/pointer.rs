//! JSON pointers.

use crate::spelling::after_string;

/// Adds a key to a pointer.
pub(crate) fn push_key(pointer: &mut String, key: &str) {
    pointer.push('/');
    for c in key.chars() {
        match c {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            c => pointer.push(c),
        }
    }
}

/// Adds an index to a pointer.
pub(crate) fn push_index(pointer: &mut String, index: usize) {
    pointer.push('/');
    pointer.push_str(&index.to_string());
}

enum Level {
    Object(String),
    Array(usize),
}

/// The pointer of the value that stands at a byte of a text. The text up to there must be JSON.
pub(crate) fn at_byte(text: &str, place: usize) -> String {
    let bytes = text.as_bytes();
    let (mut at, mut levels) = (0, Vec::new());
    while let Some(byte) = bytes.get(at).filter(|_| at < place) {
        let begin = at;
        at += 1;
        match byte {
            b'{' => levels.push(Level::Object(String::new())),
            b'[' => levels.push(Level::Array(0)),
            b'}' | b']' => drop(levels.pop()),
            b',' => {
                if let Some(Level::Array(index)) = levels.last_mut() {
                    *index += 1;
                }
            }
            b'"' => {
                at = after_string(bytes, at).unwrap_or(place);
                let is_key = text.get(at..).is_some_and(|rest| {
                    let rest = rest.trim_start_matches([' ', '\t', '\n', '\r']);
                    rest.starts_with(':')
                });
                if let Some(Level::Object(key)) = levels.last_mut().filter(|_| is_key) {
                    let spelled = text.get(begin..at).unwrap_or_default();
                    *key = serde_json::from_str(spelled).unwrap_or_default();
                }
            }
            _ => {}
        }
    }
    let mut pointer = String::new();
    for level in &levels {
        match level {
            Level::Object(key) => push_key(&mut pointer, key),
            Level::Array(index) => push_index(&mut pointer, *index),
        }
    }
    pointer
}
