//! What a process prints, up to a limit.

/// Keeps the first bytes of a stream and counts the rest.
#[derive(Debug)]
pub(super) struct Capture {
    kept: Vec<u8>,
    most: usize,
    bytes: u64,
}

/// A stream as text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Captured {
    pub(super) text: String,
    /// The bytes of the stream.
    pub(super) bytes: u64,
    /// The bytes, at its end, that the text does not stand for.
    pub(super) lost_bytes: u64,
    /// Some bytes that the text does stand for are not UTF-8.
    pub(super) invalid_utf8: bool,
}

impl Capture {
    pub(super) fn new(most: usize) -> Self {
        Self {
            kept: Vec::new(),
            most,
            bytes: 0,
        }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        let room = self.most - self.kept.len();
        let kept = bytes.get(..room).unwrap_or(bytes);
        self.kept.extend_from_slice(kept);
        self.bytes += bytes.len() as u64;
    }

    /// The bytes of the stream so far.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The text, no longer than the limit either.
    pub(super) fn finish(self) -> Captured {
        let Self { kept, most, bytes } = self;
        let (text, used, invalid_utf8) = match String::from_utf8(kept) {
            Ok(text) => {
                let used = text.len();
                (text, used, false)
            }
            Err(error) => lossy(error.as_bytes(), most, bytes),
        };
        Captured {
            text,
            bytes,
            lost_bytes: bytes - used as u64,
            invalid_utf8,
        }
    }
}

/// The text, the bytes that it stands for, and whether some of them are not UTF-8.
fn lossy(kept: &[u8], most: usize, bytes: u64) -> (String, usize, bool) {
    let is_cut = bytes > kept.len() as u64;
    let (mut text, mut used, mut invalid) = (String::with_capacity(kept.len()), 0, false);
    for chunk in kept.utf8_chunks() {
        let valid = chunk.valid();
        let room = most.saturating_sub(text.len());
        let fits = valid
            .get(..valid.floor_char_boundary(room))
            .unwrap_or(valid);
        text.push_str(fits);
        used += fits.len();
        if fits.len() < valid.len() {
            break;
        }
        let rest = chunk.invalid();
        // At the limit, the beginning of a character is a character that was cut.
        let begins = std::str::from_utf8(rest).is_err_and(|error| error.error_len().is_none());
        let is_last = used + rest.len() == kept.len();
        let replaced = char::REPLACEMENT_CHARACTER;
        if rest.is_empty() || (is_cut && is_last && begins) {
            continue;
        }
        if text.len() + replaced.len_utf8() > most {
            break;
        }
        text.push(replaced);
        used += rest.len();
        invalid = true;
    }
    (text, used, invalid)
}
