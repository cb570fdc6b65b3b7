//! What was kept for a settlement that nobody has seen yet.

use std::sync::Arc;

use tool_core::{OutputStore, Retained};

use crate::contained::contained;
use crate::placed::{Placed, Unread};

/// What was kept for a settlement that nobody has seen yet: output that was retained, and a result
/// that was placed. When the call is dropped or ends otherwise, the stores are told that nobody
/// will.
#[derive(Default)]
pub(crate) struct Unseen(Option<Box<Kept>>);

/// Few calls keep anything.
#[derive(Default)]
struct Kept {
    retained: Vec<(Arc<dyn OutputStore>, Retained)>,
    placed: Option<Placed>,
}

impl Unseen {
    pub(super) fn keep(&mut self, outputs: &Arc<dyn OutputStore>, retained: &Retained) {
        let retained = (Arc::clone(outputs), retained.clone());
        self.kept().retained.push(retained);
    }

    pub(super) fn place(&mut self, placed: Placed) {
        self.kept().placed = Some(placed);
    }

    /// Takes back what was placed, as the settlement does not name it any more.
    pub(super) fn take_back(&mut self) {
        if let Some(kept) = &mut self.0 {
            kept.placed = None;
        }
    }

    /// The settlement is given out, and what was kept with it: at once, or by who waits for others
    /// as well. What is retained the settlement names itself.
    pub(super) fn seen<'u>(&mut self, by: impl FnOnce() -> Option<&'u Unread>) {
        if let Some(mut kept) = self.0.take() {
            kept.retained.clear();
            match (kept.placed.take(), by()) {
                (Some(placed), Some(unread)) => unread.hold(placed),
                (Some(placed), None) => placed.seen(),
                (None, _) => {}
            }
        }
    }

    fn kept(&mut self) -> &mut Kept {
        self.0.get_or_insert_default()
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        for (outputs, retained) in &self.retained {
            contained(|| outputs.forget(retained));
        }
    }
}
