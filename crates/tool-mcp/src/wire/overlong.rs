//! What can be known of a message that is too long to be kept.

use rmcp::model::RequestId;

/// The longest key and the longest id that are of interest.
const KEPT: usize = 128;

/// A message that was too long to be kept.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Overlong {
    /// The id, where the message has one that could be read.
    pub(crate) id: Option<RequestId>,
    /// Whether it is an answer, a request, or not to be told.
    pub(crate) sort: Sort,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sort {
    Answer,
    Request,
    Unclear,
}

/// Looks for the members of the outermost object while the bytes go by, in constant memory.
///
/// It does not check that the text is JSON; text that is not gives an unclear message.
#[derive(Debug, Default)]
pub(crate) struct Scan {
    depth: u32,
    in_string: bool,
    escaped: bool,
    /// At depth one: what stands after the colon of `id`.
    at_value: bool,
    /// The last string at depth one, while it could still be a key.
    text: Vec<u8>,
    id: Vec<u8>,
    reading_id: bool,
    id_done: bool,
    answer: bool,
    request: bool,
}

impl Scan {
    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.step(*byte);
        }
    }

    /// Whether it is known whose message this is.
    pub(crate) fn is_clear(&self) -> bool {
        self.id_done && (self.answer || self.request)
    }

    pub(crate) fn overlong(&self) -> Overlong {
        let id = self
            .id_done
            .then(|| serde_json::from_slice(&self.id).ok())
            .flatten();
        let sort = match (self.answer, self.request) {
            (true, false) => Sort::Answer,
            (false, true) => Sort::Request,
            _ => Sort::Unclear,
        };
        Overlong { id, sort }
    }

    fn step(&mut self, byte: u8) {
        if self.reading_id {
            self.step_in_id(byte);
        }
        if self.in_string {
            self.step_in_string(byte);
            return;
        }
        match byte {
            b'"' => {
                self.in_string = true;
                self.text.clear();
            }
            b'{' | b'[' => self.depth = self.depth.saturating_add(1),
            b'}' | b']' => self.depth = self.depth.saturating_sub(1),
            b':' if self.depth == 1 && !self.at_value => {
                self.at_value = true;
                match self.text.as_slice() {
                    b"id" if !self.id_done => {
                        self.reading_id = true;
                        self.id.clear();
                    }
                    b"result" | b"error" => self.answer = true,
                    b"method" => self.request = true,
                    _ => {}
                }
            }
            b',' if self.depth == 1 => self.at_value = false,
            _ => {}
        }
    }

    fn step_in_string(&mut self, byte: u8) {
        if self.escaped {
            self.escaped = false;
        } else if byte == b'\\' {
            self.escaped = true;
        } else if byte == b'"' {
            self.in_string = false;
            return;
        }
        if self.depth == 1 && !self.at_value && self.text.len() < KEPT {
            self.text.push(byte);
        }
    }

    fn step_in_id(&mut self, byte: u8) {
        let ends = !self.in_string && matches!(byte, b',' | b'}');
        if ends {
            self.reading_id = false;
            self.id_done = true;
        } else if self.id.len() < KEPT {
            self.id.push(byte);
        }
    }
}

#[cfg(test)]
mod tests {
    use rmcp::model::RequestId;

    use super::{Scan, Sort};

    #[track_caller]
    fn check(text: &str, id: Option<i64>, sort: Sort) {
        let mut scan = Scan::default();
        for byte in text.as_bytes() {
            scan.feed(&[*byte]);
        }
        let overlong = scan.overlong();
        assert_eq!(overlong.id, id.map(RequestId::Number));
        assert_eq!(overlong.sort, sort);
    }

    #[test]
    fn the_id_is_found_wherever_it_stands() {
        check(
            r#"{"jsonrpc":"2.0","id":7,"result":{"id":9}}"#,
            Some(7),
            Sort::Answer,
        );
        check(
            r#"{"result":{"content":[{"id":1}]},"jsonrpc":"2.0","id": 7 }"#,
            Some(7),
            Sort::Answer,
        );
        check(r#"{ "id" : 7 , "error" : {} }"#, Some(7), Sort::Answer);
        check(
            r#"{"id":7,"method":"x","params":{"result":1}}"#,
            Some(7),
            Sort::Request,
        );
    }

    #[test]
    fn what_only_looks_like_an_id_is_none() {
        check(
            r#"{"result":"\"id\":7,","jsonrpc":"2.0"}"#,
            None,
            Sort::Answer,
        );
        check(r#"{"name":"id","result":[{"id":7}]}"#, None, Sort::Answer);
        check(r#"{"result":{"a":"\\\"}},\"id\":7"}}"#, None, Sort::Answer);
        check(r#"plain text, "id": 7"#, None, Sort::Unclear);
    }

    #[test]
    fn an_id_is_clear_before_the_line_ends() {
        let mut scan = Scan::default();
        scan.feed(br#"{"id":7,"result":"aaaaaaaaaaaaaa"#);
        assert!(scan.is_clear());
    }
}
