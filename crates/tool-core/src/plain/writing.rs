//! Writing plain JSON as text: what `serde_json::to_string` gives for its value, without a writer
//! that takes it in pieces.

use serde_json::Number;

use super::Plain;

/// Room for the text of what most tools give.
const ROOM: usize = 64;

pub(super) fn text_of(plain: &Plain<'_>) -> String {
    let mut text = String::with_capacity(ROOM);
    write(plain, &mut text);
    text
}

fn write(plain: &Plain<'_>, text: &mut String) {
    match plain {
        Plain::Null => text.push_str("null"),
        Plain::Bool(true) => text.push_str("true"),
        Plain::Bool(false) => text.push_str("false"),
        Plain::Number(number) => write_number(number, text),
        Plain::Text(string) => write_string(string, text),
        Plain::Array(items) => {
            text.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                write(item, text);
            }
            text.push(']');
        }
        Plain::Object(members) => {
            text.push('{');
            for (index, (key, value)) in members.iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                write_string(key, text);
                text.push(':');
                write(value, text);
            }
            text.push('}');
        }
    }
}

fn write_number(number: &Number, text: &mut String) {
    match (number.as_u64(), number.as_i64()) {
        (Some(number), _) => text.push_str(itoa::Buffer::new().format(number)),
        (None, Some(number)) => text.push_str(itoa::Buffer::new().format(number)),
        (None, None) => text.push_str(&number.to_string()),
    }
}

fn write_string(string: &str, text: &mut String) {
    if string
        .bytes()
        .any(|byte| matches!(byte, 0..=0x1f | b'"' | b'\\'))
    {
        text.push_str(&serde_json::Value::from(string).to_string());
    } else {
        text.push('"');
        text.push_str(string);
        text.push('"');
    }
}
