//! Lines of a stream, each of at most so many bytes.

use std::io;

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

use super::Overlong;
use super::overlong::Scan;

/// A buffer that grew beyond this is given back after its line.
const KEPT_CAPACITY: usize = 64 * 1024;

/// Reads lines and never holds more than `limit` bytes of one.
///
/// A longer line is skipped to its end, and what can be known of it is reported once.
pub(crate) struct Frames<R> {
    reader: BufReader<R>,
    line: Vec<u8>,
    limit: usize,
    /// Set from the byte that is one too many to the end of that line.
    skipping: Option<Skipping>,
    delivered: bool,
}

/// One line, or what is known of one that is too long.
pub(crate) enum Frame<'a> {
    /// A line without its end.
    Line(&'a [u8]),
    /// A line that was skipped.
    TooLong(Overlong),
}

struct Skipping {
    scan: Scan,
    reported: bool,
}

enum Step {
    More,
    Line,
    TooLong(Overlong),
}

impl<R: AsyncRead + Unpin> Frames<R> {
    /// Lines of at most `limit` bytes each, their ends not counted.
    pub(crate) fn new(reader: R, limit: usize) -> Self {
        Self {
            reader: BufReader::with_capacity(KEPT_CAPACITY, reader),
            line: Vec::new(),
            limit,
            skipping: None,
            delivered: false,
        }
    }

    /// The next line; `None` at the end of the stream. A last line without an end is dropped, as
    /// its message may be incomplete.
    ///
    /// # Cancel safety
    /// Dropping the future loses nothing.
    pub(crate) async fn next(&mut self) -> io::Result<Option<Frame<'_>>> {
        if self.delivered {
            self.delivered = false;
            self.line.clear();
            self.line.shrink_to(KEPT_CAPACITY);
        }
        loop {
            // Nothing is awaited between taking bytes and keeping them.
            let available = self.reader.fill_buf().await?;
            if available.is_empty() {
                return Ok(None);
            }
            let end = available.iter().position(|byte| *byte == b'\n');
            let (part, consumed) = match end {
                Some(end) => (available.get(..end).unwrap_or_default(), end + 1),
                None => (available, available.len()),
            };
            let step = take(
                &mut self.line,
                &mut self.skipping,
                self.limit,
                part,
                end.is_some(),
            );
            self.reader.consume(consumed);
            match step {
                Step::More => {}
                Step::Line => {
                    self.delivered = true;
                    return Ok(Some(Frame::Line(without_return(&self.line))));
                }
                Step::TooLong(overlong) => return Ok(Some(Frame::TooLong(overlong))),
            }
        }
    }
}

fn take(
    line: &mut Vec<u8>,
    skipping: &mut Option<Skipping>,
    limit: usize,
    part: &[u8],
    ends: bool,
) -> Step {
    let skip = match skipping {
        Some(skip) => {
            // What is known already is not looked for again.
            if !skip.reported {
                skip.scan.feed(part);
            }
            skip
        }
        None if line.len() + part.len() <= limit => {
            line.extend_from_slice(part);
            return if ends { Step::Line } else { Step::More };
        }
        None => {
            let mut scan = Scan::default();
            scan.feed(line);
            scan.feed(part);
            *line = Vec::new();
            skipping.insert(Skipping {
                scan,
                reported: false,
            })
        }
    };
    // A line that never ends is reported as soon as it is clear whose it is.
    let report = !skip.reported && (ends || skip.scan.is_clear());
    let step = if report {
        skip.reported = true;
        Step::TooLong(skip.scan.overlong())
    } else {
        Step::More
    };
    if ends {
        *skipping = None;
    }
    step
}

fn without_return(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}
