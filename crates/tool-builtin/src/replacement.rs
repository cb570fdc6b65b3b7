//! Replacing one text by another in the bytes of a file.

use memchr::memmem;

/// One text in place of another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Replacement<'a> {
    pub(crate) old: &'a str,
    pub(crate) new: &'a str,
    pub(crate) all: bool,
}

/// A file after replacing.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Replaced {
    pub(crate) bytes: Vec<u8>,
    /// The line of each replaced text, before replacing, from 1.
    pub(crate) lines: Vec<u64>,
}

/// Why nothing was replaced.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Mismatch {
    /// The text stands there several times, at these lines.
    Several(Vec<u64>),
    /// The text is not there, but at these lines it is, if blanks are not compared.
    OtherBlanks(Vec<u64>),
    /// The text is not there; its first line is, and what follows differs.
    FirstLine(Vec<u64>),
    /// The text is not there; this line is most like its first line.
    Similar(u64),
    /// Nothing like the text is there.
    Nothing,
}

impl Replacement<'_> {
    /// Replaces, or tells why not. Every byte that is not replaced stays.
    ///
    /// In a file whose lines all end with CR LF, a line break of the two texts stands for that.
    pub(crate) fn apply(&self, file: &[u8]) -> Result<Replaced, Mismatch> {
        let crlf = ends_lines_with_crlf(file);
        let old = if crlf {
            to_crlf(self.old)
        } else {
            self.old.to_owned()
        };
        let new = if crlf {
            to_crlf(self.new)
        } else {
            self.new.to_owned()
        };

        let found: Vec<usize> = memmem::find_iter(file, &old).collect();
        if found.is_empty() {
            return Err(explain(file, self.old));
        }
        let lines = lines_of(file, &found);
        if found.len() > 1 && !self.all {
            return Err(Mismatch::Several(lines));
        }
        let mut bytes = Vec::with_capacity(file.len());
        let mut rest = 0;
        for at in found {
            bytes.extend_from_slice(file.get(rest..at).unwrap_or_default());
            bytes.extend_from_slice(new.as_bytes());
            rest = at + old.len();
        }
        bytes.extend_from_slice(file.get(rest..).unwrap_or_default());
        Ok(Replaced { bytes, lines })
    }
}

fn ends_lines_with_crlf(file: &[u8]) -> bool {
    let mut breaks = memchr::memchr_iter(b'\n', file).peekable();
    breaks.peek().is_some()
        && breaks.all(|at| at.checked_sub(1).and_then(|at| file.get(at)) == Some(&b'\r'))
}

fn to_crlf(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\n', "\r\n")
}

/// The line of each offset; offsets ascend.
fn lines_of(file: &[u8], offsets: &[usize]) -> Vec<u64> {
    let mut line = 1;
    let mut counted = 0;
    offsets
        .iter()
        .map(|&offset| {
            let between = file.get(counted..offset).unwrap_or_default();
            line += memchr::memchr_iter(b'\n', between).count() as u64;
            counted = offset;
            line
        })
        .collect()
}

/// Looks for what the text may have been meant to be.
fn explain(file: &[u8], old: &str) -> Mismatch {
    let file = String::from_utf8_lossy(file);
    let lines: Vec<String> = file.lines().map(without_blanks).collect();
    let wanted: Vec<String> = old.lines().map(without_blanks).collect();
    // Blank lines around the text are no part of what is looked for.
    let wanted = trim_empty(&wanted);
    let Some(first) = wanted.first() else {
        return Mismatch::Nothing;
    };
    let numbered = |at: usize| at as u64 + 1;

    let whole: Vec<u64> = lines
        .windows(wanted.len())
        .enumerate()
        .filter(|(_, window)| *window == wanted)
        .map(|(at, _)| numbered(at))
        .take(MOST_LINES)
        .collect();
    if !whole.is_empty() {
        return Mismatch::OtherBlanks(whole);
    }
    let firsts: Vec<u64> = lines
        .iter()
        .enumerate()
        .filter(|(_, line)| *line == first)
        .map(|(at, _)| numbered(at))
        .take(MOST_LINES)
        .collect();
    if !firsts.is_empty() && wanted.len() > 1 {
        return Mismatch::FirstLine(firsts);
    }
    most_similar(&lines, first).map_or(Mismatch::Nothing, |at| Mismatch::Similar(numbered(at)))
}

fn most_similar(lines: &[String], wanted: &str) -> Option<usize> {
    const ENOUGH: f64 = 0.75;
    // The comparison takes time in the product of both lengths.
    const MOST_CHARS: usize = 300;
    const MOST_LINES_COMPARED: usize = 20_000;
    let bounded = |line: &str| line.len() <= MOST_CHARS;
    if !bounded(wanted) {
        return None;
    }
    lines
        .iter()
        .enumerate()
        .take(MOST_LINES_COMPARED)
        .filter(|(_, line)| bounded(line) && line.len().abs_diff(wanted.len()) <= wanted.len() / 3)
        .map(|(at, line)| (at, strsim::normalized_levenshtein(line, wanted)))
        .filter(|(_, likeness)| *likeness >= ENOUGH)
        .max_by(|(at, a), (bt, b)| a.total_cmp(b).then(bt.cmp(at)))
        .map(|(at, _)| at)
}

fn without_blanks(line: &str) -> String {
    line.chars().filter(|c| !c.is_whitespace()).collect()
}

fn trim_empty(lines: &[String]) -> &[String] {
    let Some(start) = lines.iter().position(|line| !line.is_empty()) else {
        return &[];
    };
    let end = lines
        .iter()
        .rposition(|line| !line.is_empty())
        .map_or(start, |at| at + 1);
    lines.get(start..end).unwrap_or_default()
}

/// The most lines that a mismatch names.
const MOST_LINES: usize = 10;
