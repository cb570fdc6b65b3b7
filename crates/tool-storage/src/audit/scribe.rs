//! From lines to bytes in a file, many at once.

use std::io;
use std::sync::atomic::Ordering;

use super::folded;
use super::line::Line;
use super::segments::Segments;
use super::writer::Seen;

/// How many bytes are gathered before they are written.
const MOST_BYTES: usize = 64 * 1024;

/// Numbers lines and writes them, those that come together in one piece.
pub(super) struct Scribe<'a> {
    files: Segments,
    seen: &'a Seen,
    /// The number of the last line.
    number: u64,
    /// How many lost lines have numbers.
    counted: u64,
    /// How many lost lines a line that was written tells of.
    told: u64,
    rested: bool,
    text: Vec<u8>,
    gathered: Vec<Gathered>,
}

/// A line that is not written yet.
struct Gathered {
    line: Box<Line>,
    /// Where it ends in the text.
    end: usize,
    /// How many lost lines are told of once it is written.
    told: u64,
}

impl<'a> Scribe<'a> {
    pub(super) fn new(files: Segments, seen: &'a Seen) -> Self {
        Self {
            files,
            seen,
            number: 0,
            counted: 0,
            told: 0,
            rested: true,
            text: Vec::new(),
            gathered: Vec::new(),
        }
    }

    /// Says that the file may have gone meanwhile.
    pub(super) fn rest(&mut self) {
        self.rested = true;
    }

    /// Takes a line, to be written with those that come behind it.
    pub(super) fn take(&mut self, mut line: Box<Line>) {
        let lost = self.seen.lost.load(Ordering::Relaxed);
        // Numbered here, so that they stand in their order; what never came has its own.
        self.number += 1 + lost - self.counted;
        self.counted = lost;
        line.seq = self.number;
        let told = self.gathered.last().map_or(self.told, |last| last.told);
        line.lost = (lost > told).then(|| lost - told);
        match folded::line(&line) {
            Ok(text) => self.text.extend_from_slice(text.as_bytes()),
            Err(error) => {
                self.put_down();
                return self.lose(error);
            }
        }
        let end = self.text.len();
        self.gathered.push(Gathered {
            line,
            end,
            told: lost,
        });
        if end >= MOST_BYTES || end as u64 >= self.files.room() {
            self.put_down();
        }
    }

    /// Writes what was gathered.
    pub(super) fn put_down(&mut self) {
        let text = std::mem::take(&mut self.text);
        let Some(last) = self.gathered.last().map(|last| last.told) else {
            return;
        };
        let rested = std::mem::take(&mut self.rested);
        let times = self.gathered.iter().map(|gathered| gathered.line.time_ms);
        match self.files.write(&text, times, rested) {
            Ok(()) => {
                self.told = last;
                self.gathered.clear();
                self.note(Ok(()));
            }
            Err((written, error)) => self.salvage(written, error),
        }
        self.text = text;
        self.text.clear();
        self.text.shrink_to(MOST_BYTES);
    }

    /// Ends the file that is written, after all lines that were taken.
    pub(super) fn end_file(&mut self) {
        self.put_down();
        self.files.end();
    }

    /// Whether anything can be written, and was.
    pub(super) fn try_out(&mut self) -> bool {
        self.put_down();
        let tried = self.files.try_out();
        let can = tried.is_ok();
        self.note(tried);
        can
    }

    /// The first line that is not whole is lost; those behind it are tried one by one.
    fn salvage(&mut self, written: usize, error: io::Error) {
        // What is lost meanwhile, for want of room, has numbers behind all of these.
        let (mut error, mut here) = (Some(error), 0);
        for gathered in std::mem::take(&mut self.gathered) {
            if gathered.end <= written {
                self.told = gathered.told;
                continue;
            }
            if let Some(error) = error.take() {
                here += 1;
                self.lose(error);
                continue;
            }
            let mut line = gathered.line;
            let lost = gathered.told + here;
            line.lost = (lost > self.told).then(|| lost - self.told);
            let text = folded::line(&line);
            let written = text.and_then(|text| {
                let written = self.files.write(text.as_bytes(), [line.time_ms], false);
                written.map_err(|(_, error)| error)
            });
            match written {
                Ok(()) => {
                    self.told = lost;
                    self.note(Ok(()));
                }
                Err(error) => {
                    here += 1;
                    self.lose(error);
                }
            }
        }
    }

    /// A line that has a number is lost.
    fn lose(&mut self, error: io::Error) {
        self.seen.lost.fetch_add(1, Ordering::Relaxed);
        self.counted += 1;
        self.note(Err(error));
    }

    fn note(&self, written: io::Result<()>) {
        let was_broken = self.seen.broken.swap(written.is_err(), Ordering::Relaxed);
        match written {
            Err(error) if !was_broken => {
                tracing::error!(%error, "the audit log cannot be written");
            }
            Ok(()) if was_broken => tracing::warn!("the audit log can be written again"),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;
