//! The escapes of `$'..'`.

/// The text between the quotes, decoded. None if it holds what has no meaning as text.
pub(super) fn decode(written: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(written.len());
    let mut chars = written.chars().peekable();
    while let Some(char) = chars.next() {
        if char != '\\' {
            push(&mut bytes, char);
            continue;
        }
        match chars.next()? {
            'a' => bytes.push(0x07),
            'b' => bytes.push(0x08),
            'e' | 'E' => bytes.push(0x1b),
            'f' => bytes.push(0x0c),
            'n' => bytes.push(b'\n'),
            'r' => bytes.push(b'\r'),
            't' => bytes.push(b'\t'),
            'v' => bytes.push(0x0b),
            char @ ('\\' | '\'' | '"' | '?') => push(&mut bytes, char),
            first @ '0'..='7' => {
                let mut value = first.to_digit(8)?;
                for _ in 0..2 {
                    let Some(digit) = chars.peek().and_then(|next| next.to_digit(8)) else {
                        break;
                    };
                    value = value * 8 + digit;
                    chars.next();
                }
                bytes.push(u8::try_from(value & 0xff).ok()?);
            }
            'x' => bytes.push(u8::try_from(hex(&mut chars, 2)?).ok()?),
            // What becomes of other characters depends on the locale.
            'u' => bytes.push(hex(&mut chars, 4)?.try_into().ok().filter(u8::is_ascii)?),
            'U' => bytes.push(hex(&mut chars, 8)?.try_into().ok().filter(u8::is_ascii)?),
            // `\c` and what bash keeps as it is written are not worth a guess.
            _ => return None,
        }
    }
    // A NUL would end the text early.
    String::from_utf8(bytes)
        .ok()
        .filter(|text| !text.contains('\0'))
}

fn push(bytes: &mut Vec<u8>, char: char) {
    bytes.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
}

/// Up to so many hexadecimal digits, at least one.
fn hex(chars: &mut std::iter::Peekable<std::str::Chars<'_>>, most: usize) -> Option<u32> {
    let mut value = None;
    for _ in 0..most {
        let Some(digit) = chars.peek().and_then(|next| next.to_digit(16)) else {
            break;
        };
        value = Some(value.unwrap_or(0) * 16 + digit);
        chars.next();
    }
    value
}
