//! Output that was retained for a settlement that nobody has seen yet.

use std::sync::Arc;

use tool_core::{OutputStore, Retained};

use crate::contained::contained;

/// Output that was retained for a settlement that nobody has seen yet. When the call is dropped
/// or ends otherwise, the store is told that nobody will.
#[derive(Default)]
pub(crate) struct Unseen(Option<Box<Kept>>);

/// Few calls retain anything.
struct Kept {
    outputs: Arc<dyn OutputStore>,
    retained: Vec<Retained>,
}

impl Unseen {
    pub(super) fn keep(&mut self, outputs: &Arc<dyn OutputStore>, retained: &Retained) {
        let unseen = self.0.get_or_insert_with(|| {
            Box::new(Kept {
                outputs: Arc::clone(outputs),
                retained: Vec::new(),
            })
        });
        unseen.retained.push(retained.clone());
    }

    /// The settlement is given out, and the output with it.
    pub(super) fn seen(&mut self) {
        self.0 = None;
    }
}

impl Drop for Unseen {
    fn drop(&mut self) {
        if let Some(Kept { outputs, retained }) = self.0.as_deref() {
            for retained in retained {
                contained(|| outputs.forget(retained));
            }
        }
    }
}
