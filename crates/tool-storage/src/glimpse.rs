//! The preview of an output that is written while it is made.

use std::borrow::Cow;

use tool_core::{Bound, Content, Loss, Retained, StoreError, StoreErrorKind};

use crate::cut::{Cut, Ends, end_of, up_to};
use crate::marker::{Marker, ReadingHint};
use crate::preview::budget;

/// The beginning of an output that goes by, as far as a preview may show it.
pub(crate) struct Glimpse {
    bound: Bound,
    loss: Option<Loss>,
    prefix: Vec<u8>,
}

impl Glimpse {
    pub(crate) fn new(bound: Bound) -> Self {
        Self {
            bound,
            loss: None,
            prefix: Vec::new(),
        }
    }

    /// Says what its producer has left out before it got here.
    pub(crate) fn report_loss(&mut self, loss: Loss) {
        self.loss = Some(loss);
    }

    pub(crate) fn see(&mut self, bytes: &[u8]) {
        let missing = self.reach().saturating_sub(self.prefix.len());
        self.prefix.extend_from_slice(up_to(bytes, missing));
    }

    /// How many bytes of an end are looked at: one more than can be shown tells what a cut would
    /// split.
    pub(crate) fn reach(&self) -> usize {
        self.bound.bytes().saturating_add(1)
    }

    /// All of an output of so many bytes, where that was within reach.
    pub(crate) fn all(&self, bytes: u64) -> Option<&[u8]> {
        (self.prefix.len() as u64 == bytes).then_some(&self.prefix)
    }

    /// The preview: all of the output where it is within the bound. Takes its end, as far as that is
    /// within reach.
    pub(crate) fn content(
        self,
        retained: &Retained,
        hint: &ReadingHint,
        suffix: &[u8],
    ) -> Vec<Content> {
        let bytes = usize::try_from(retained.bytes).unwrap_or(usize::MAX);
        let lines = usize::try_from(retained.lines).unwrap_or(usize::MAX);
        let marker = Marker::new(&retained.id, hint).loss(self.loss.as_ref());
        // The last line may have no end.
        let unfinished = suffix.last().is_some_and(|last| *last != b'\n');
        let ends = Ends {
            bytes,
            newlines: lines - usize::from(unfinished),
            ends_in_newline: bytes > 0 && !unfinished,
            prefix: Cow::Owned(self.prefix),
            suffix: Cow::Borrowed(suffix),
        };
        if bytes <= self.bound.bytes() && ends.lines() <= self.bound.lines() {
            let mut content = vec![block(&ends.prefix)];
            content.extend(
                self.loss
                    .as_ref()
                    .map(|loss| Content::notice(marker.note(loss))),
            );
            return content;
        }
        let cut = Cut::choose(&ends, budget(self.bound, &marker, bytes));
        let mut content = Vec::with_capacity(3);
        if cut.head > 0 {
            content.push(block(up_to(&ends.prefix, cut.head)));
        }
        content.push(Content::notice(marker.text(bytes, cut)));
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
