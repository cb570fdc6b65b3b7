//! What a handler learns and reaches of its runtime.

use std::sync::Arc;

use crate::{
    ArtifactStore, Bound, CallId, CallState, Credentials, Dispatch, EventKind, Facts, Identity,
    OutputSink, PreliminarySink, ProgressSink, Source, StoreError, Teardown,
};

/// What a handler learns and reaches of its runtime through its context, all of it behind one
/// object, so that a call makes one.
///
/// Whatever is not there is `None`. Override what the runtime offers for the call.
pub trait CallHost: Send + Sync {
    /// Who calls.
    fn facts(&self) -> &Facts;

    /// What the call and its handler tell each other: the host makes it and keeps it.
    fn state(&self) -> &CallState;

    /// The id of the call, where it has one.
    fn call_id(&self) -> Option<&CallId> {
        None
    }

    /// The tool that runs.
    fn tool(&self) -> Option<&Identity> {
        None
    }

    /// Who provides that tool.
    fn source(&self) -> Option<&Source> {
        None
    }

    /// The wire name of that tool.
    fn wire_name(&self) -> Option<&str> {
        None
    }

    /// Who answers for artifacts; without anybody every verb is refused.
    fn artifacts(&self) -> Option<&dyn ArtifactStore> {
        None
    }

    /// Whether artifacts are kept. Override it where somebody answers who keeps none.
    fn keeps_artifacts(&self) -> bool {
        self.artifacts().is_some()
    }

    /// Who listens to progress; without anybody it goes nowhere.
    fn progress(&self) -> Option<&dyn ProgressSink> {
        None
    }

    /// Who takes preliminary results; without anybody they go nowhere.
    fn preliminary(&self) -> Option<&dyn PreliminarySink> {
        None
    }

    /// How the handler calls other tools.
    fn dispatch(&self) -> Option<&dyn Dispatch> {
        None
    }

    /// Who takes cleanups.
    fn teardown(&self) -> Option<&dyn Teardown> {
        None
    }

    /// The bound over which the text of this call is kept in a store. `None`, the default, where it
    /// is not, and the handler has to hold its text.
    fn output_bound(&self) -> Option<Bound> {
        None
    }

    /// Begins to store the text of this call, to be shown under that bound. `None`, the default,
    /// where no store takes it piece by piece.
    ///
    /// # Errors
    /// [`StoreError`] when the store cannot be written.
    fn stream_output(&self, bound: Bound) -> Result<Option<Box<dyn OutputSink>>, StoreError> {
        let _ = bound;
        Ok(None)
    }

    /// Who hands out credentials that the handler asks for while it runs; without anybody each is
    /// refused.
    fn credentials(&self) -> Option<&dyn Credentials> {
        None
    }

    /// Tells whoever receives events what the handler meets while it runs, and nothing once its call
    /// has settled. By default nobody is told.
    fn tell(&self, kind: EventKind<'_>) {
        let _ = kind;
    }
}

/// A call of which nothing but the facts is known, and from which nothing is reached.
#[derive(Default)]
pub(crate) struct Bare {
    pub(crate) facts: Facts,
    pub(crate) call: Option<CallId>,
    pub(crate) tool: Option<Identity>,
    pub(crate) source: Option<Source>,
    pub(crate) progress: Option<Arc<dyn ProgressSink>>,
    pub(crate) credentials: Option<Arc<dyn Credentials>>,
    pub(crate) state: CallState,
}

impl CallHost for Bare {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn state(&self) -> &CallState {
        &self.state
    }

    fn call_id(&self) -> Option<&CallId> {
        self.call.as_ref()
    }

    fn tool(&self) -> Option<&Identity> {
        self.tool.as_ref()
    }

    fn source(&self) -> Option<&Source> {
        self.source.as_ref()
    }

    fn progress(&self) -> Option<&dyn ProgressSink> {
        self.progress.as_deref()
    }

    fn credentials(&self) -> Option<&dyn Credentials> {
        self.credentials.as_deref()
    }
}
