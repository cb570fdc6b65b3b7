//! Reading a retained output otherwise than by bytes.

use std::ops::RangeInclusive;

use bytes::Bytes;
use serde_json::Value;

use crate::{Facts, OutputStore, PageRequest, StoreError, StoreErrorKind};

/// A retained output, read by lines, by a JSON pointer, or searched.
///
/// All of it is made of [`OutputStore::page`], so it works with every store, and whoever may not
/// read a page reads nothing here. Lines and searches read from the start, in pages of 256 KiB, and
/// hold one line at the most; a pointer reads the whole, so outputs over 16 MiB have none.
///
/// ```
/// # use tool_core::*;
/// # struct Kept;
/// # impl OutputStore for Kept {
/// #     fn bound<'a>(&'a self, _: Retention<'a>) -> BoxFuture<'a, Result<Bounded, StoreError>> {
/// #         Box::pin(async { Err(StoreError::new(StoreErrorKind::Io, "it keeps nothing new")) })
/// #     }
/// #     fn page<'a>(&'a self, request: PageRequest<'a>) -> BoxFuture<'a, Result<OutputPage, StoreError>> {
/// #         let text = &b"one\ntwo\nthree\n"[request.offset as usize..];
/// #         Box::pin(async move { Ok(OutputPage::new(text.into(), request.offset, 14)) })
/// #     }
/// # }
/// # async fn read(store: &dyn OutputStore) -> Result<(), StoreError> {
/// let output = OutputReading::of(store, "out_x", None);
/// assert_eq!(output.lines(2..=3, 1_000).await?.text, "two\nthree\n");
/// assert_eq!(output.search("wo", 10).await?.found[0].line, 2);
/// # Ok(())
/// # }
/// # use futures_util::FutureExt;
/// # read(&Kept).now_or_never().unwrap().unwrap();
/// ```
#[derive(Clone, Copy)]
pub struct OutputReading<'a> {
    store: &'a dyn OutputStore,
    id: &'a str,
    facts: Option<&'a Facts>,
}

/// Some lines of an output.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OutputLines {
    /// The lines, each with its newline.
    pub text: String,
    /// Where they begin, in bytes.
    pub offset: u64,
    /// The line to go on with; absent where the output or what was asked for has ended.
    pub next: Option<u64>,
    /// Where to read on by bytes, where a single line is longer than what was asked for.
    pub cut_at: Option<u64>,
}

/// A part of the JSON of an output.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OutputValue {
    /// The JSON, or the beginning of it.
    pub text: String,
    /// The bytes of all of it.
    pub bytes: usize,
    /// What there is to choose from inside of it, where it does not fit: keys of an object, at most
    /// a hundred, or the length of a list.
    pub inside: Option<String>,
}

/// What a search found.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OutputMatches {
    /// The matches, the first ones first; of a line one.
    pub found: Vec<OutputMatch>,
    /// Whether there are more.
    pub more: bool,
}

/// A line that holds what was sought.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OutputMatch {
    /// The line, from 1.
    pub line: u64,
    /// Where the match begins, in bytes of the output.
    pub offset: u64,
    /// The line, or 200 bytes around the match.
    pub text: String,
}

impl<'a> OutputReading<'a> {
    /// An output of a store, for a caller; without facts for an operator.
    #[must_use]
    pub fn of(store: &'a dyn OutputStore, id: &'a str, facts: Option<&'a Facts>) -> Self {
        Self { store, id, facts }
    }

    /// Reads lines, from 1, both ends included, as many as fit into so many bytes; at least one
    /// character of the first. Lines beyond the end are none, and so are those of a range that ends
    /// before it begins.
    ///
    /// # Errors
    /// Those of [`OutputStore::page`].
    ///
    /// # Cancel safety
    /// Dropping the future changes nothing.
    pub async fn lines(
        &self,
        lines: RangeInclusive<u64>,
        max_bytes: usize,
    ) -> Result<OutputLines, StoreError> {
        let (first, last) = ((*lines.start()).max(1), *lines.end());
        // Also where nothing is wanted: who may not read is told so.
        let start = self.start_of(first).await?;
        let Some(offset) = start.filter(|_| last >= first) else {
            return Ok(OutputLines {
                text: String::new(),
                offset: 0,
                next: None,
                cut_at: None,
            });
        };
        let page = self.page(offset, max_bytes).await?;
        let wanted = last.saturating_sub(first).saturating_add(1);
        let mut taken = 0_u64;
        let mut end = 0;
        for (at, _) in page.iter().enumerate().filter(|(_, byte)| **byte == b'\n') {
            if taken == wanted {
                break;
            }
            taken += 1;
            end = at + 1;
        }
        let reaches_end = offset + page.len() as u64 >= self.total().await?;
        if taken < wanted && (reaches_end || taken == 0) {
            end = page.len();
        }
        let whole = taken == wanted || reaches_end;
        let cut_at = (!whole && taken == 0).then_some(offset + end as u64);
        let next = (!whole && taken > 0).then_some(first + taken);
        Ok(OutputLines {
            text: text(page.get(..end).unwrap_or(&page)),
            offset,
            next,
            cut_at,
        })
    }

    /// Reads the value under a JSON pointer, as compact JSON. Of one that is longer than so many
    /// bytes the beginning, and what there is to choose from inside of it. `None` where the output
    /// is no JSON or has nothing there.
    ///
    /// # Errors
    /// Those of [`OutputStore::page`]; [`StoreErrorKind::TooLarge`] for an output over 16 MiB.
    ///
    /// # Cancel safety
    /// Dropping the future changes nothing.
    pub async fn pointer(
        &self,
        pointer: &str,
        max_bytes: usize,
    ) -> Result<Option<OutputValue>, StoreError> {
        let total = self.total().await?;
        if total > MOST_JSON {
            let detail = format!("output of {total} bytes is too large to be read by a pointer");
            return Err(StoreError::new(StoreErrorKind::TooLarge, detail));
        }
        let mut whole = Vec::new();
        let mut offset = 0;
        while offset < total {
            let page = self.page(offset, PAGE).await?;
            offset += page.len() as u64;
            whole.extend_from_slice(&page);
        }
        let Ok(json) = serde_json::from_slice::<Value>(&whole) else {
            return Ok(None);
        };
        Ok(json.pointer(pointer).map(|value| {
            let text = value.to_string();
            let bytes = text.len();
            if bytes <= max_bytes {
                return OutputValue {
                    text,
                    bytes,
                    inside: None,
                };
            }
            let end = text.floor_char_boundary(max_bytes);
            OutputValue {
                inside: inside(value),
                text: text.get(..end).unwrap_or_default().to_owned(),
                bytes,
            }
        }))
    }

    /// Seeks a text, byte for byte, and gives the first lines that hold it. Of a line longer than
    /// 256 KiB a match that lies across two pages is not seen. A blank text is in no line.
    ///
    /// # Errors
    /// Those of [`OutputStore::page`].
    ///
    /// # Cancel safety
    /// Dropping the future changes nothing.
    pub async fn search(&self, sought: &str, most: usize) -> Result<OutputMatches, StoreError> {
        let total = self.total().await?;
        let mut matches = OutputMatches {
            found: Vec::new(),
            more: false,
        };
        if sought.is_empty() {
            return Ok(matches);
        }
        let (mut offset, mut line) = (0, 1);
        let mut is_found = false;
        while offset < total {
            let page = self.page(offset, PAGE).await?;
            // What follows the last newline is read again with the next page, if that is whole.
            let is_last = offset + page.len() as u64 >= total;
            let end = match page.iter().rposition(|byte| *byte == b'\n') {
                Some(newline) if !is_last => newline + 1,
                _ => page.len(),
            };
            let page = page.slice(..end);
            let mut start = 0;
            for part in page.split_inclusive(|byte| *byte == b'\n') {
                if !is_found && let Some(at) = find(part, sought.as_bytes()) {
                    if matches.found.len() == most {
                        matches.more = true;
                        return Ok(matches);
                    }
                    is_found = true;
                    matches.found.push(OutputMatch {
                        line,
                        offset: offset + (start + at) as u64,
                        text: around(part, at),
                    });
                }
                if part.last() == Some(&b'\n') {
                    line += 1;
                    is_found = false;
                }
                start += part.len();
            }
            offset += page.len() as u64;
        }
        Ok(matches)
    }

    /// Where a line begins; `None` when there are fewer.
    async fn start_of(&self, line: u64) -> Result<Option<u64>, StoreError> {
        let total = self.total().await?;
        let mut missing = line - 1;
        let mut offset = 0;
        while missing > 0 && offset < total {
            let page = self.page(offset, PAGE).await?;
            let mut newlines = page.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
            let nth = usize::try_from(missing - 1).unwrap_or(usize::MAX);
            if let Some((at, _)) = newlines.nth(nth) {
                missing = 0;
                offset += at as u64 + 1;
            } else {
                missing -= page.iter().filter(|byte| **byte == b'\n').count() as u64;
                offset += page.len() as u64;
            }
        }
        Ok((missing == 0 && offset < total).then_some(offset))
    }

    async fn total(&self) -> Result<u64, StoreError> {
        let request = PageRequest::new(self.id, self.facts).max_bytes(1);
        Ok(self.store.page(request).await?.total)
    }

    async fn page(&self, offset: u64, max_bytes: usize) -> Result<Bytes, StoreError> {
        let request = PageRequest::new(self.id, self.facts)
            .offset(offset)
            .max_bytes(max_bytes);
        let page = self.store.page(request).await?;
        if page.bytes.is_empty() && offset < page.total {
            let detail = "output store gives empty pages";
            return Err(StoreError::new(StoreErrorKind::Io, detail));
        }
        Ok(page.bytes)
    }
}

impl std::fmt::Debug for OutputReading<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OutputReading")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

fn find(line: &[u8], sought: &[u8]) -> Option<usize> {
    let first = *sought.first()?;
    let mut from = 0;
    loop {
        let rest = line.get(from..)?;
        let at = from + rest.iter().position(|byte| *byte == first)?;
        if line.get(at..)?.starts_with(sought) {
            return Some(at);
        }
        from = at + 1;
    }
}

/// The line, or as much of it around a match as may be shown.
fn around(line: &[u8], at: usize) -> String {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.len() <= AROUND {
        return text(line);
    }
    let start = at.saturating_sub(AROUND / 4);
    let end = start.saturating_add(AROUND).min(line.len());
    let mut shown = line.get(start..end).unwrap_or_default();
    // Neither end splits a character.
    while shown.first().is_some_and(|byte| byte & 0xC0 == 0x80) {
        shown = shown.get(1..).unwrap_or_default();
    }
    match str::from_utf8(shown) {
        Ok(_) => text(shown),
        Err(error) => text(shown.get(..error.valid_up_to()).unwrap_or_default()),
    }
}

fn inside(value: &Value) -> Option<String> {
    match value {
        Value::Array(items) => Some(format!("a list of {} items", items.len())),
        Value::Object(members) => {
            let keys: Vec<&str> = members.keys().take(KEYS).map(String::as_str).collect();
            let keys = Value::from(keys);
            Some(format!("an object of {} members: {keys}", members.len()))
        }
        _ => None,
    }
}

/// What is stored is text, and pages end between characters.
fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

const PAGE: usize = 256 * 1024;
const MOST_JSON: u64 = 16 << 20;
const AROUND: usize = 200;
const KEYS: usize = 100;
