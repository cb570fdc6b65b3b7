//! Events of a stream, each of at most so many bytes.

use std::time::Duration;

/// Reads a stream of server-sent events and never holds more than `limit` bytes of one.
///
/// Source: WHATWG HTML, "Server-sent events", 9.2.6 "Interpreting an event stream".
#[derive(Debug)]
pub(crate) struct Sse {
    line: Vec<u8>,
    data: Vec<u8>,
    event: Vec<u8>,
    /// The id of the last event that was whole, for a stream that goes on elsewhere.
    pub(crate) last_id: Option<String>,
    /// The id of the event that is coming.
    id: Option<String>,
    /// How long to wait before that, as the server wants it.
    pub(crate) retry: Option<Duration>,
    limit: usize,
    /// Set while an event that became too long is skipped.
    skipping: bool,
    after_return: bool,
}

/// What a stream brought.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Brought {
    Message(Vec<u8>),
    TooLong,
}

impl Sse {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            line: Vec::new(),
            data: Vec::new(),
            event: Vec::new(),
            last_id: None,
            id: None,
            retry: None,
            limit,
            skipping: false,
            after_return: false,
        }
    }

    /// Begins a new stream. What the one before left unfinished never came.
    pub(crate) fn begin(&mut self) {
        self.line.clear();
        self.data.clear();
        self.event.clear();
        self.id = None;
        self.skipping = false;
        self.after_return = false;
    }

    /// Takes what came, and gives what is complete.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Vec<Brought> {
        let mut brought = Vec::new();
        for byte in bytes {
            // A return and a line feed behind it are one end of line.
            let second_half = *byte == b'\n' && std::mem::take(&mut self.after_return);
            self.after_return = *byte == b'\r';
            if second_half {
                continue;
            }
            match byte {
                b'\n' | b'\r' => brought.extend(self.end_line()),
                _ if self.line.len() + self.data.len() >= self.limit => {
                    self.skipping = true;
                    self.data = Vec::new();
                    // The beginning is enough to know the field.
                    self.line.truncate(16);
                }
                _ => self.line.push(*byte),
            }
        }
        brought
    }

    fn end_line(&mut self) -> Option<Brought> {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            return self.end_event();
        }
        let (field, value) = match line.iter().position(|byte| *byte == b':') {
            Some(colon) => (
                line.get(..colon).unwrap_or_default(),
                line.get(colon + 1..).unwrap_or_default(),
            ),
            None => (line.as_slice(), [].as_slice()),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" if !self.skipping => {
                if !self.data.is_empty() {
                    self.data.push(b'\n');
                }
                self.data.extend_from_slice(value);
            }
            b"event" => self.event = value.to_vec(),
            b"id" if !value.contains(&0) => {
                self.id = std::str::from_utf8(value).ok().map(str::to_owned);
            }
            b"retry" => {
                let milliseconds = std::str::from_utf8(value).ok();
                let milliseconds = milliseconds.and_then(|text| text.parse().ok());
                self.retry = milliseconds.map(Duration::from_millis).or(self.retry);
            }
            _ => {}
        }
        None
    }

    fn end_event(&mut self) -> Option<Brought> {
        let data = std::mem::take(&mut self.data);
        let event = std::mem::take(&mut self.event);
        self.last_id = self.id.take().or(self.last_id.take());
        if std::mem::take(&mut self.skipping) {
            return Some(Brought::TooLong);
        }
        let message = event.is_empty() || event == b"message";
        (message && !data.is_empty()).then_some(Brought::Message(data))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Brought, Sse};

    fn texts(brought: Vec<Brought>) -> Vec<String> {
        let text = |brought| match brought {
            Brought::Message(data) => String::from_utf8(data).expect("it is text"),
            Brought::TooLong => "too long".to_owned(),
        };
        brought.into_iter().map(text).collect()
    }

    #[test]
    fn events_are_whole_however_they_are_cut() {
        let stream = "id: 1\nretry: 500\ndata: a\ndata: b\n\n: comment\r\nevent: message\r\ndata:c\r\n\r\nevent: other\ndata: d\n\ndata\n\n";
        let mut whole = Sse::new(100);
        assert_eq!(texts(whole.feed(stream.as_bytes())), ["a\nb", "c"]);
        let mut cut = Sse::new(100);
        let bytes = stream.as_bytes().chunks(1);
        let brought: Vec<_> = bytes.flat_map(|byte| cut.feed(byte)).collect();
        assert_eq!(texts(brought), ["a\nb", "c"]);
        assert_eq!(cut.last_id.as_deref(), Some("1"));
        assert_eq!(cut.retry, Some(Duration::from_millis(500)));
    }

    #[test]
    fn what_a_stream_left_unfinished_never_came_and_its_id_is_not_the_last() {
        let mut sse = Sse::new(100);
        assert_eq!(
            texts(sse.feed(b"id: 6\ndata: six\n\nid: 7\ndata: sev")),
            ["six"]
        );
        assert_eq!(sse.last_id.as_deref(), Some("6"));
        sse.begin();
        assert_eq!(texts(sse.feed(b"data: no id\n\n")), ["no id"]);
        assert_eq!(sse.last_id.as_deref(), Some("6"));
        assert_eq!(texts(sse.feed(b"id: 7\ndata: seven\n\n")), ["seven"]);
        assert_eq!(sse.last_id.as_deref(), Some("7"));
    }

    #[test]
    fn an_event_that_is_too_long_is_skipped_in_little_memory_and_the_next_one_is_read() {
        let mut sse = Sse::new(64);
        assert!(sse.feed(b"data: ").is_empty());
        for _ in 0..10_000 {
            assert!(sse.feed(&[b'x'; 100]).is_empty());
        }
        assert!(sse.line.capacity() < 1024);
        assert_eq!(texts(sse.feed(b"\n\ndata: next\n\n")), ["too long", "next"]);
    }
}
