//! The preview of an output that is written while it is made.

use std::borrow::Cow;

use tool_core::{Bound, Content, Loss, StoreError, StoreErrorKind};

use crate::cut::{Cut, Ends, end_of, up_to};
use crate::joined::newlines;
use crate::marker::{Marker, ReadingHint};
use crate::preview::budget;

/// Both ends of an output that goes by, as far as a preview may show them.
pub(crate) struct Glimpse {
    bound: Bound,
    loss: Option<Loss>,
    prefix: Vec<u8>,
    suffix: Vec<u8>,
    newlines: usize,
}

impl Glimpse {
    pub(crate) fn new(bound: Bound) -> Self {
        Self {
            bound,
            loss: None,
            prefix: Vec::new(),
            suffix: Vec::new(),
            newlines: 0,
        }
    }

    /// Says what its producer has left out before it got here.
    pub(crate) fn report_loss(&mut self, loss: Loss) {
        self.loss = Some(loss);
    }

    pub(crate) fn see(&mut self, bytes: &[u8]) {
        self.newlines += newlines(bytes);
        // One byte more than can be shown tells what a cut would split.
        let reach = self.bound.bytes().saturating_add(1);
        let missing = reach.saturating_sub(self.prefix.len());
        self.prefix.extend_from_slice(up_to(bytes, missing));
        self.suffix
            .extend_from_slice(end_of(bytes, reach.min(bytes.len())));
        // Twice as much is let grow, so that each byte is moved once at most.
        if self.suffix.len() >= reach.saturating_mul(2) {
            self.suffix.drain(..self.suffix.len() - reach);
        }
    }

    /// The preview: all of the output where it is within the bound.
    pub(crate) fn content(self, id: &str, hint: &ReadingHint, bytes: u64) -> Vec<Content> {
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        let marker = Marker::new(id, hint).loss(self.loss.as_ref());
        let ends = Ends {
            bytes,
            newlines: self.newlines,
            ends_in_newline: self.suffix.last() == Some(&b'\n'),
            prefix: Cow::Owned(self.prefix),
            suffix: Cow::Owned(self.suffix),
        };
        if bytes <= self.bound.bytes() && ends.lines() <= self.bound.lines() {
            let mut content = vec![block(&ends.prefix)];
            content.extend(
                self.loss
                    .as_ref()
                    .map(|loss| Content::text(marker.note(loss))),
            );
            return content;
        }
        let cut = Cut::choose(&ends, budget(self.bound, &marker, bytes));
        let mut content = Vec::with_capacity(3);
        if cut.head > 0 {
            content.push(block(up_to(&ends.prefix, cut.head)));
        }
        content.push(Content::text(marker.text(bytes, cut)));
        if cut.tail < bytes {
            content.push(block(end_of(&ends.suffix, bytes - cut.tail)));
        }
        content
    }
}

/// Texts are written and cut between characters, so nothing is lost here.
fn block(bytes: &[u8]) -> Content {
    Content::text(String::from_utf8_lossy(bytes))
}

/// A writer that is used after one of its calls has failed.
pub(crate) fn failed_before() -> StoreError {
    let detail = "an output that could not be written is not finished";
    StoreError::new(StoreErrorKind::Io, detail)
}
