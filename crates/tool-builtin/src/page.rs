//! A stretch of a text file, by lines.

use std::io::{self, BufRead};

use memchr::memchr;

use crate::offload::Stop;

/// A place in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Position {
    /// The line, from 1.
    pub(crate) line: u64,
    /// The byte in the line, from 0.
    pub(crate) column: u64,
}

/// Whole lines of a text, or the part of one line that fits.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Page {
    /// The bytes exactly as they stand in the file.
    pub(crate) bytes: Vec<u8>,
    /// The lines that these bytes are of.
    pub(crate) lines: u64,
    /// Where the text goes on; `None` at its end.
    pub(crate) next: Option<Position>,
}

/// The text ends before the page begins.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Beyond {
    /// The text has so many lines.
    Lines(u64),
    /// The line has so many bytes.
    Columns(u64),
}

/// The most lines and bytes of a page.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PageLimits {
    pub(crate) lines: u64,
    pub(crate) bytes: usize,
}

/// Reads a page. Memory is bounded by its limit, however long the lines are.
pub(crate) fn read_page(
    text: &mut impl BufRead,
    from: Position,
    limits: PageLimits,
    stop: &Stop,
) -> io::Result<Result<Page, Beyond>> {
    for line in 1..from.line {
        match skip(text, u64::MAX, stop)? {
            Skipped { ended: true, .. } => {}
            Skipped { bytes: 0, .. } => return Ok(Err(Beyond::Lines(line - 1))),
            Skipped { .. } => return Ok(Err(Beyond::Lines(line))),
        }
    }
    let is_start = from.line == 1 && from.column == 0;
    if !is_start && text.fill_buf()?.is_empty() {
        return Ok(Err(Beyond::Lines(from.line - 1)));
    }
    let skipped = skip(text, from.column, stop)?;
    if skipped.ended || skipped.bytes < from.column {
        let newline = u64::from(skipped.ended);
        return Ok(Err(Beyond::Columns(skipped.bytes - newline)));
    }
    collect(text, from, limits, stop).map(Ok)
}

fn collect(
    text: &mut impl BufRead,
    from: Position,
    limits: PageLimits,
    stop: &Stop,
) -> io::Result<Page> {
    let mut at = from;
    let mut page = Page {
        bytes: Vec::new(),
        lines: 0,
        next: None,
    };
    let mut line_start = 0;
    loop {
        if page.lines == limits.lines {
            page.next = (!text.fill_buf()?.is_empty()).then_some(at);
            return Ok(page);
        }
        match take_line(text, &mut page.bytes, limits.bytes, stop)? {
            Line::Ended => {
                page.lines += 1;
                line_start = page.bytes.len();
                at = Position {
                    line: at.line + 1,
                    column: 0,
                };
            }
            Line::LastOne => {
                page.lines += u64::from(page.bytes.len() > line_start);
                return Ok(page);
            }
            Line::TooLong if line_start > 0 => {
                page.bytes.truncate(line_start);
                page.next = Some(at);
                return Ok(page);
            }
            Line::TooLong => {
                page.bytes.truncate(whole_characters(&page.bytes));
                page.lines = 1;
                at.column += page.bytes.len() as u64;
                page.next = Some(at);
                return Ok(page);
            }
        }
    }
}

enum Line {
    Ended,
    LastOne,
    TooLong,
}

fn take_line(
    text: &mut impl BufRead,
    bytes: &mut Vec<u8>,
    most: usize,
    stop: &Stop,
) -> io::Result<Line> {
    loop {
        wanted(stop)?;
        let available = text.fill_buf()?;
        if available.is_empty() {
            return Ok(Line::LastOne);
        }
        let room = most - bytes.len();
        if room == 0 {
            return Ok(Line::TooLong);
        }
        let newline = memchr(b'\n', available);
        let wanted = newline.map_or(available.len(), |at| at + 1);
        let taken = wanted.min(room);
        bytes.extend_from_slice(available.get(..taken).unwrap_or(available));
        text.consume(taken);
        if newline.is_some() && taken == wanted {
            return Ok(Line::Ended);
        }
    }
}

struct Skipped {
    /// The bytes, the newline among them.
    bytes: u64,
    /// The newline was met.
    ended: bool,
}

/// Skips to the end of the line, and no more than so many bytes.
fn skip(text: &mut impl BufRead, most: u64, stop: &Stop) -> io::Result<Skipped> {
    let mut bytes = 0_u64;
    loop {
        wanted(stop)?;
        let room = usize::try_from(most - bytes).unwrap_or(usize::MAX);
        let available = if room == 0 { &[] } else { text.fill_buf()? };
        if available.is_empty() {
            return Ok(Skipped {
                bytes,
                ended: false,
            });
        }
        let newline = memchr(b'\n', available).map(|at| at + 1);
        let taken = newline.unwrap_or(available.len()).min(room);
        text.consume(taken);
        bytes += taken as u64;
        if newline == Some(taken) {
            return Ok(Skipped { bytes, ended: true });
        }
    }
}

fn wanted(stop: &Stop) -> io::Result<()> {
    if stop.is_set() {
        return Err(io::ErrorKind::TimedOut.into());
    }
    Ok(())
}

/// The length without a character that is cut at the end. Bytes that are no text stay.
pub(crate) fn whole_characters(bytes: &[u8]) -> usize {
    for (back, byte) in (1..=4).zip(bytes.iter().rev()) {
        let length = match byte {
            0x80..=0xbf => continue,
            0xc2..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0..=0xf4 => 4,
            _ => 1,
        };
        return if length > back {
            bytes.len() - back
        } else {
            bytes.len()
        };
    }
    bytes.len()
}
