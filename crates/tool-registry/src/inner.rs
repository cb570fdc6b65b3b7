//! Calls that a handler makes.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::Value;
use tool_core::{BoxFuture, Call, CallId, Dispatch, Facts, Settlement};

use crate::{Door, Snapshot};

/// Dispatches inner calls to the snapshot that the outer call came from.
pub(crate) struct InnerDispatch {
    snapshot: Snapshot,
    facts: Facts,
    outer: Option<CallId>,
    /// Inner calls so far, to give each an id of its own.
    made: AtomicU64,
}

impl InnerDispatch {
    pub(crate) fn new(snapshot: Snapshot, facts: Facts, outer: Option<CallId>) -> Self {
        Self {
            snapshot,
            facts,
            outer,
            made: AtomicU64::new(0),
        }
    }
}

impl Dispatch for InnerDispatch {
    fn has(&self, name: &str) -> bool {
        self.snapshot.get(name).is_some()
    }

    fn call(&self, name: String, arguments: Value) -> BoxFuture<'static, Settlement> {
        let mut call = Call::new(name, arguments);
        if let Some(outer) = &self.outer {
            let number = self.made.fetch_add(1, Ordering::Relaxed) + 1;
            call = call.id(format!("{outer}#inner-{number}"));
        }
        self.snapshot
            .settle(call, &self.facts)
            .door(Door::Inner)
            .into_future()
    }
}

impl fmt::Debug for InnerDispatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("InnerDispatch(..)")
    }
}
