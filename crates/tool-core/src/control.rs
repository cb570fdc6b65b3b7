//! The runtime's side of a call's context.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use crate::call_host::Bare;
use crate::{
    ArtifactKind, CallHost, CallId, Cancellation, Context, Credential, Credentials, Facts,
    Identity, Loss, ProgressSink, Refusal, Source,
};

/// The runtime's side of a [`Context`]: it makes the context, learns what the handler did with
/// it, and gives the cancellation when it is dropped.
///
/// Only who runs handlers needs it: the registry, and tests of executors.
pub struct CallControl(Arc<Shared>);

pub(crate) struct Shared {
    pub(crate) host: Arc<dyn CallHost>,
    pub(crate) progress: Option<Arc<dyn ProgressSink>>,
    pub(crate) credential: Option<Credential>,
    pub(crate) credentials: Option<Arc<dyn Credentials>>,
    pub(crate) wanted: Option<BTreeMap<String, ArtifactKind>>,
    /// Made when somebody asks for it.
    pub(crate) cancellation: OnceLock<Cancellation>,
    pub(crate) settled: AtomicBool,
    pub(crate) asserted: AtomicBool,
    pub(crate) refusal: OnceLock<Box<Refusal>>,
    pub(crate) loss: OnceLock<Box<Loss>>,
}

impl Shared {
    #[inline]
    pub(crate) fn of(host: Arc<dyn CallHost>) -> Self {
        Self {
            host,
            progress: None,
            credential: None,
            credentials: None,
            wanted: None,
            cancellation: OnceLock::new(),
            settled: AtomicBool::new(false),
            asserted: AtomicBool::new(false),
            refusal: OnceLock::new(),
            loss: OnceLock::new(),
        }
    }
}

impl CallControl {
    /// Control over a call of a tool by a caller, from which nothing of a runtime is reached.
    pub fn builder(
        facts: Facts,
        call: Option<CallId>,
        tool: Identity,
        source: Source,
    ) -> CallControlBuilder {
        Self::of(Arc::new(Bare {
            facts,
            call,
            tool: Some(tool),
            source: Some(source),
        }))
    }

    /// Control over the call of a host.
    #[inline]
    pub fn of(host: Arc<dyn CallHost>) -> CallControlBuilder {
        CallControlBuilder(Shared::of(host))
    }

    /// The context to hand to the handler.
    #[must_use]
    pub fn context(&self) -> Context {
        Context(Arc::clone(&self.0))
    }

    /// Ends progress: what the handler reports from now on goes nowhere.
    pub fn settle(&self) {
        self.0.settled.store(true, Ordering::Release);
    }

    /// The first refusal that an assertion of the handler met. It stands whatever the handler
    /// made of it.
    #[must_use]
    pub fn refusal(&self) -> Option<Refusal> {
        self.0.refusal.get().map(|refusal| (**refusal).clone())
    }

    /// What the handler reported to have left out, the first time.
    #[must_use]
    pub fn loss(&self) -> Option<Box<Loss>> {
        self.0.loss.get().cloned()
    }

    /// Whether an assertion of the handler was granted.
    #[must_use]
    pub fn asserted(&self) -> bool {
        self.0.asserted.load(Ordering::Acquire)
    }
}

impl Drop for CallControl {
    fn drop(&mut self) {
        self.settle();
        match self.0.cancellation.get() {
            Some(cancellation) => cancellation.cancel(),
            // Without a context left there is nobody who could ask.
            None if Arc::strong_count(&self.0) == 1 => {}
            // Who asks from now on finds it given.
            None => {
                let given = self.0.cancellation.get_or_init(Cancellation::given);
                given.cancel();
            }
        }
    }
}

impl fmt::Debug for CallControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.context().fmt(f)
    }
}

/// A [`CallControl`] in the making.
#[must_use]
pub struct CallControlBuilder(Shared);

impl CallControlBuilder {
    /// Sets who listens to progress, in place of the host. Nobody by default.
    #[inline]
    pub fn progress(mut self, sink: Option<Arc<dyn ProgressSink>>) -> Self {
        self.0.progress = sink;
        self
    }

    /// Sets the credential that was acquired.
    #[inline]
    pub fn credential(mut self, credential: Option<Credential>) -> Self {
        self.0.credential = credential;
        self
    }

    /// Sets who hands out credentials that the handler asks for while it runs, in place of the
    /// host. Nobody by default: then each is refused.
    #[inline]
    pub fn credentials(mut self, credentials: Option<Arc<dyn Credentials>>) -> Self {
        self.0.credentials = credentials;
        self
    }

    /// Sets the kinds of the artifacts that were redeemed, by argument.
    #[inline]
    pub fn wanted(mut self, wanted: BTreeMap<String, ArtifactKind>) -> Self {
        self.0.wanted = Some(wanted);
        self
    }

    /// The control.
    #[must_use]
    #[inline]
    pub fn build(self) -> CallControl {
        CallControl(Arc::new(self.0))
    }
}

impl fmt::Debug for CallControlBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CallControlBuilder(..)")
    }
}
