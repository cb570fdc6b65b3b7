//! What every call of one registry uses.

use std::fmt;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, SystemTime};

use tool_core::{
    AfterHook, ArtifactStore, BeforeHook, Bound, Credentials, Event, EventSink, OutputStore,
    Permission, Repairs, Settlement, State,
};

use crate::contained::contained;
use crate::teardowns::{Teardowns, Told};
use crate::{RequestHook, SealKey};

/// What is done about columns that hold something else than a tool declares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a further dial must break every match"
)]
pub enum ColumnCheck {
    /// Nothing. The default.
    #[default]
    Off,
    /// It is told as an event, and the result is given out.
    Warn,
    /// It is told as an event, and the result is withheld.
    Enforce,
}

pub(crate) struct Services {
    pub(crate) permission: Permission,
    pub(crate) outputs: Option<Arc<dyn OutputStore>>,
    /// Without one, no tool that wants artifacts is registered.
    pub(crate) artifacts: Option<Arc<dyn ArtifactStore>>,
    /// The most characters of a result that is shown and not kept as an artifact.
    pub(crate) placement: Option<NonZeroUsize>,
    pub(crate) credentials: Arc<dyn Credentials>,
    pub(crate) before: Vec<Arc<dyn BeforeHook>>,
    pub(crate) after: Vec<Arc<dyn AfterHook>>,
    pub(crate) requests: Vec<Arc<dyn RequestHook>>,
    pub(crate) events: Option<Arc<dyn EventSink>>,
    /// The calls so far of which events are told.
    pub(crate) told_calls: AtomicU64,
    pub(crate) bound: RwLock<Bound>,
    pub(crate) batch_concurrency: NonZeroUsize,
    /// How long a policy or a hook ahead of a call may take.
    pub(crate) gate_timeout: Duration,
    pub(crate) state: Arc<dyn State>,
    /// `None` when the system gave no random bytes: then nothing suspends.
    pub(crate) seal_key: Option<SealKey>,
    pub(crate) suspension_ttl: Duration,
    pub(crate) clock: Arc<dyn Fn() -> SystemTime + Send + Sync>,
    pub(crate) column_check: ColumnCheck,
    pub(crate) repairs: Repairs,
    pub(crate) injected_keys: Vec<String>,
    /// Whether a model is told of repairs.
    pub(crate) repair_notes: bool,
    pub(crate) teardowns: Teardowns,
}

impl Services {
    /// Tells an event to whoever receives them. A receiver that panics changes nothing.
    pub(crate) fn emit(&self, event: &Event<'_>) {
        if let Some(events) = &self.events {
            contained(|| events.emit(event));
        }
    }

    /// The number of the next call, where anybody is told of it.
    pub(crate) fn next_number(&self) -> Option<u64> {
        self.events.as_ref()?;
        Some(self.told_calls.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// The bound on model-facing text of tools that have none of their own.
    pub(crate) fn bound(&self) -> Bound {
        *self.bound.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn set_bound(&self, bound: Bound) {
        *self.bound.write().unwrap_or_else(PoisonError::into_inner) = bound;
    }

    /// Says that nobody will learn of what was retained for a settlement.
    pub(crate) fn forget(&self, settlement: &Settlement) {
        if let Some(outputs) = &self.outputs {
            for retained in &settlement.retained {
                contained(|| outputs.forget(retained));
            }
        }
    }

    /// Who is told of cleanups.
    pub(crate) fn told(&self) -> Told<'_> {
        Told(self.events.as_ref())
    }
}

impl fmt::Debug for Services {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Services(..)")
    }
}
