//! On which line of a JSON text each value stands.

use std::collections::BTreeMap;
use std::sync::Arc;

/// The lines of the values of one text, by JSON pointer. Clones are cheap.
///
/// Its pointers take [`MOST_BYTES`] together: a text of many values under one long key would else take
/// the square of its length. Values beyond that count as what they stand in.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lines(Arc<BTreeMap<String, u32>>);

/// What the scanner stands in.
enum Inside {
    /// An object; whether a key comes next.
    Object(bool),
    /// An array, and the index of what comes next.
    Array(usize),
}

/// Where the scanner is.
#[derive(Default)]
struct Scanner {
    line: u32,
    /// The pointer of the value that comes next, or of the container without its last token.
    pointer: String,
    /// Containers, each with how long its pointer is.
    stack: Vec<(Inside, usize)>,
    /// How many bytes the pointers of what is found may still take.
    room: usize,
    found: BTreeMap<String, u32>,
}

impl Lines {
    /// Reads a text that was found to be JSON; of any other, whatever can be made out.
    pub(crate) fn of(text: &str) -> Self {
        let mut scanner = Scanner {
            line: 1,
            room: MOST_BYTES,
            ..Scanner::default()
        };
        let mut rest = text;
        while let Some(first) = rest.bytes().next() {
            let length = match first {
                b'"' => quoted(rest),
                b'{' | b'[' | b'}' | b']' | b',' | b':' => 1,
                byte if byte.is_ascii_whitespace() => 1,
                _ => bare(rest),
            };
            let (token, after) = rest.split_at_checked(length).unwrap_or((rest, ""));
            scanner.take(first, token);
            rest = after;
        }
        Self(Arc::new(scanner.found))
    }

    /// The line of a value, counted from 1, or of the innermost one around it that is there.
    pub(crate) fn of_value(&self, pointer: &str) -> u32 {
        let mut pointer = pointer;
        loop {
            match (self.0.get(pointer), pointer.rfind('/')) {
                (Some(line), _) => return *line,
                (None, Some(at)) => pointer = pointer.get(..at).unwrap_or_default(),
                (None, None) => return 1,
            }
        }
    }
}

impl Scanner {
    fn take(&mut self, first: u8, token: &str) {
        match first {
            b'\n' => self.line += 1,
            b'{' => self.open(Inside::Object(true)),
            b'[' => self.open(Inside::Array(0)),
            b'}' | b']' => {
                if let Some((_, length)) = self.stack.pop() {
                    self.pointer.truncate(length);
                }
            }
            b',' => match self.stack.last_mut() {
                Some((Inside::Object(key_is_next), _)) => *key_is_next = true,
                Some((Inside::Array(index), _)) => *index += 1,
                None => {}
            },
            b'"' => match self.stack.last_mut() {
                Some((Inside::Object(key_is_next), length)) if *key_is_next => {
                    *key_is_next = false;
                    let key: String = serde_json::from_str(token).unwrap_or_default();
                    self.pointer.truncate(*length);
                    self.pointer.push('/');
                    self.pointer
                        .push_str(&key.replace('~', "~0").replace('/', "~1"));
                }
                _ => self.value(),
            },
            b':' => {}
            byte if byte.is_ascii_whitespace() => {}
            _ => self.value(),
        }
    }

    /// A value begins: in an array its pointer is that of the next item.
    fn value(&mut self) {
        if let Some((Inside::Array(index), length)) = self.stack.last() {
            self.pointer.truncate(*length);
            self.pointer.push_str(&format!("/{index}"));
        }
        let Some(room) = self.room.checked_sub(self.pointer.len()) else {
            return;
        };
        self.room = room;
        // Of a key that stands twice the last one counts, as it does for whoever reads the text.
        self.found.insert(self.pointer.clone(), self.line);
    }

    fn open(&mut self, inside: Inside) {
        self.value();
        self.stack.push((inside, self.pointer.len()));
    }
}

/// The length of a text in quotes that begins here.
fn quoted(text: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// The length of a number or word that begins here.
fn bare(text: &str) -> usize {
    let ends = |c: char| c.is_ascii_whitespace() || "{}[],:\"".contains(c);
    text.find(ends).unwrap_or(text.len())
}

/// 64 MiB: a thousand tools of a thousand values each are found to the last one.
const MOST_BYTES: usize = 64 << 20;

#[cfg(test)]
mod tests;
