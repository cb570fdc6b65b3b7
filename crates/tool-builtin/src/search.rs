//! Searching one file after the other.

use std::io::{self, Read};
use std::path::Path;

use grep_matcher::{LineTerminator, Matcher};
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{
    BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkContextKind, SinkMatch,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tool_core::ToolFailure;

use crate::Workspace;
use crate::offload::Stop;
use crate::place::shown;

/// What to look for in files, and how much of it to keep.
#[derive(Clone, Debug)]
pub(crate) struct Search {
    matcher: RegexMatcher,
    context: usize,
    most: usize,
}

/// What was found.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Found {
    /// The lines that match, by path and line.
    pub(crate) matches: Vec<Match>,
    /// There are more than these.
    pub(crate) truncated: bool,
    /// The number of files that were searched.
    pub(crate) files_searched: u64,
    /// The number of files with matches that permission keeps back.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) withheld: u64,
    /// The number of files and folders that could not be read.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) unreadable: u64,
    /// The bytes of all lines together.
    #[serde(skip)]
    bytes: usize,
}

/// A line that matches.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Match {
    /// The path relative to the workspace.
    pub(crate) path: String,
    /// The line, from 1.
    pub(crate) line: u64,
    /// The text of the line; of a long one the part around the first match, with "…" where it was
    /// cut.
    pub(crate) text: String,
    /// The lines just before it, where context was asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) before: Vec<String>,
    /// The lines just after it, where context was asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) after: Vec<String>,
}

/// The most bytes of a line that are shown.
const LINE_BYTES: usize = 400;
/// The most bytes of all lines together.
const TOTAL_BYTES: usize = 512 * 1024;
/// A line that is longer than this makes its file unreadable.
const HEAP_BYTES: usize = 32 * 1024 * 1024;
/// The most bytes that a compiled pattern takes.
const PATTERN_BYTES: usize = 10 * 1024 * 1024;

impl Search {
    /// Compiles a pattern. The engine takes time linear in the text, whatever the pattern.
    pub(crate) fn new(
        pattern: &str,
        ignore_case: bool,
        context: usize,
        most: usize,
    ) -> Result<Self, ToolFailure> {
        let matcher = RegexMatcherBuilder::new()
            .multi_line(true)
            .crlf(true)
            .case_insensitive(ignore_case)
            .size_limit(PATTERN_BYTES)
            .build(pattern)
            .map_err(|error| match error.kind() {
                grep_regex::ErrorKind::NotAllowed(_) => ToolFailure::new(
                    "the pattern holds a line break; the search is line by line, so look for one of the lines",
                ),
                _ => ToolFailure::new(format!("the pattern is not valid: {error}")),
            })?;
        Ok(Self {
            matcher,
            context,
            most,
        })
    }

    /// A searcher, to be used for file after file.
    pub(crate) fn searcher(&self) -> Searcher {
        SearcherBuilder::new()
            .line_terminator(LineTerminator::crlf())
            .binary_detection(BinaryDetection::quit(0))
            .line_number(true)
            .before_context(self.context)
            .after_context(self.context)
            .heap_limit(Some(HEAP_BYTES))
            .build()
    }

    /// Searches one file. Its matches are kept only if `may_show` says so, which is asked once and
    /// only for a file that has one.
    pub(crate) fn file(
        &self,
        searcher: &mut Searcher,
        workspace: &Workspace,
        path: &Path,
        stop: &Stop,
        found: &mut Found,
        may_show: impl FnOnce(&Path) -> bool,
    ) {
        let opened = workspace
            .open_file(path)
            .and_then(|file| Ok((file.metadata()?.is_file(), file)));
        let Ok((true, file)) = opened else {
            found.unreadable += 1;
            return;
        };
        found.files_searched += 1;
        stop.count();
        let kept = found.matches.len();
        let mut sink = Keep {
            search: self,
            path,
            stop,
            found: &mut *found,
            may_show: Some(may_show),
            before: Vec::new(),
            binary: false,
        };
        let searched = searcher.search_reader(&self.matcher, Stopping { file, stop }, &mut sink);
        let binary = sink.binary;
        if searched.is_err() {
            found.unreadable += 1;
        }
        if binary {
            // What stood before the first NUL was no text either.
            found.matches.truncate(kept);
        }
    }

    fn is_full(&self, found: &Found) -> bool {
        found.matches.len() >= self.most || found.bytes >= TOTAL_BYTES
    }

    fn cut_line(&self, line: &[u8]) -> String {
        let line = trimmed(line);
        let at = match self.matcher.find(line) {
            Ok(Some(found)) => found.start(),
            _ => 0,
        };
        cut(line, at)
    }
}

struct Keep<'a, F> {
    search: &'a Search,
    path: &'a Path,
    stop: &'a Stop,
    found: &'a mut Found,
    may_show: Option<F>,
    before: Vec<String>,
    binary: bool,
}

impl<F: FnOnce(&Path) -> bool> Sink for Keep<'_, F> {
    type Error = io::Error;

    fn matched(&mut self, _searcher: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        if self.stop.is_set() {
            return Ok(false);
        }
        if let Some(may_show) = self.may_show.take()
            && !may_show(self.path)
        {
            self.found.withheld += 1;
            return Ok(false);
        }
        if self.search.is_full(self.found) {
            self.found.truncated = true;
            return Ok(false);
        }
        let text = self.search.cut_line(found.bytes());
        self.found.bytes += text.len();
        self.found.matches.push(Match {
            path: shown(self.path),
            line: found.line_number().unwrap_or(0),
            text,
            before: std::mem::take(&mut self.before),
            after: Vec::new(),
        });
        Ok(true)
    }

    fn context(&mut self, _searcher: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        let line = cut(trimmed(context.bytes()), 0);
        self.found.bytes += line.len();
        match context.kind() {
            SinkContextKind::After => {
                if let Some(last) = self.found.matches.last_mut() {
                    last.after.push(line);
                }
            }
            _ => self.before.push(line),
        }
        Ok(!self.stop.is_set())
    }

    fn binary_data(&mut self, _searcher: &Searcher, _offset: u64) -> io::Result<bool> {
        self.binary = true;
        Ok(false)
    }
}

/// A file that ends when nobody waits for its end.
struct Stopping<'a, R> {
    file: R,
    stop: &'a Stop,
}

impl<R: Read> Read for Stopping<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.stop.is_set() {
            return Ok(0);
        }
        self.file.read(buffer)
    }
}

fn trimmed(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// The part of a line around a byte, with marks where it was cut.
fn cut(line: &[u8], at: usize) -> String {
    let text = String::from_utf8_lossy(line);
    if text.len() <= LINE_BYTES {
        return text.into_owned();
    }
    // A third of what is shown stands before the match, as far as there is so much.
    let latest = text.len() - LINE_BYTES;
    let start = text.floor_char_boundary(at.saturating_sub(LINE_BYTES / 3).min(latest));
    let end = text.floor_char_boundary(start + LINE_BYTES);
    let part = text.get(start..end).unwrap_or_default();
    let before = if start > 0 { "…" } else { "" };
    let after = if end < text.len() { "…" } else { "" };
    format!("{before}{part}{after}")
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_zero(count: &u64) -> bool {
    *count == 0
}
