//! What is in a file of the log.

use std::io::{self, BufRead, BufReader, Read};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use tool_core::Digest;

/// What is in a file of the log, taken as it is written or read.
#[derive(Debug, Default)]
pub(super) struct Measure {
    hash: Sha256,
    bytes: u64,
    lines: u64,
    is_in_line: bool,
    first_ms: Option<u64>,
    last_ms: Option<u64>,
}

/// What was in a file that nothing is added to any more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Contents {
    pub(super) bytes: u64,
    /// Lines, with one that was torn in the end.
    pub(super) lines: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) first_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) last_ms: Option<u64>,
    pub(super) digest: String,
}

/// What a line is read for.
#[derive(Deserialize)]
struct Timed {
    time_ms: u64,
}

/// A line that is longer is none of ours and has no time.
const LONGEST: usize = 1 << 20;
const BUFFER: usize = 64 * 1024;

impl Measure {
    /// Takes bytes in.
    pub(super) fn take(&mut self, bytes: &[u8]) {
        let Some(last) = bytes.last() else { return };
        self.hash.update(bytes);
        self.bytes += bytes.len() as u64;
        self.lines += memchr::memchr_iter(b'\n', bytes).count() as u64;
        self.is_in_line = *last != b'\n';
    }

    /// Takes note of when a call was made that has a line. Calls end in another order than they
    /// begin in.
    pub(super) fn saw(&mut self, time_ms: u64) {
        let first = self.first_ms.map_or(time_ms, |it| it.min(time_ms));
        let last = self.last_ms.map_or(time_ms, |it| it.max(time_ms));
        (self.first_ms, self.last_ms) = (Some(first), Some(last));
    }

    pub(super) fn contents(&self) -> Contents {
        let digest: [u8; 32] = self.hash.clone().finalize().into();
        Contents {
            bytes: self.bytes,
            lines: self.lines + u64::from(self.is_in_line),
            first_ms: self.first_ms,
            last_ms: self.last_ms,
            digest: Digest::from(digest).to_string(),
        }
    }

    /// Reads a file to its end.
    pub(super) fn of(file: impl Read) -> io::Result<Contents> {
        let mut file = BufReader::with_capacity(BUFFER, file);
        let (mut measure, mut line) = (Self::default(), Vec::new());
        loop {
            let read = file.fill_buf()?;
            let Some(end) = memchr::memchr(b'\n', read).map(|at| at + 1) else {
                if read.is_empty() {
                    return Ok(measure.contents());
                }
                let (all, bytes) = (read.len(), read);
                measure.take(bytes);
                if line.len() < LONGEST {
                    line.extend_from_slice(bytes);
                }
                file.consume(all);
                continue;
            };
            let bytes = read.get(..end).unwrap_or(read);
            measure.take(bytes);
            line.extend_from_slice(bytes);
            if let Ok(Timed { time_ms }) = serde_json::from_slice(&line) {
                measure.saw(time_ms);
            }
            line.clear();
            file.consume(end);
        }
    }
}
