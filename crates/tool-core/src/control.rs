//! The runtime's side of a call's context.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use crate::{
    ArtifactKind, CallHost, CallId, Cancellation, Context, Credential, Credentials, Facts,
    Identity, ProgressSink, Refusal, Source,
};

/// The runtime's side of a [`Context`]: it makes the context, learns what the handler did with
/// it, and gives the cancellation when it is dropped.
///
/// Only who runs handlers needs it: the registry, and tests of executors.
pub struct CallControl(Arc<Shared>);

#[derive(Default)]
pub(crate) struct Shared {
    pub(crate) facts: Facts,
    pub(crate) call: Option<CallId>,
    pub(crate) tool: Option<Identity>,
    pub(crate) source: Option<Source>,
    pub(crate) progress: Option<Arc<dyn ProgressSink>>,
    pub(crate) host: Option<Arc<dyn CallHost>>,
    pub(crate) credential: Option<Credential>,
    pub(crate) credentials: Option<Arc<dyn Credentials>>,
    pub(crate) wanted: BTreeMap<String, ArtifactKind>,
    /// Made when somebody asks for it.
    pub(crate) cancellation: OnceLock<Cancellation>,
    pub(crate) settled: AtomicBool,
    pub(crate) asserted: AtomicBool,
    pub(crate) refusal: OnceLock<Box<Refusal>>,
}

impl CallControl {
    /// Control over a call of a tool by a caller.
    #[inline]
    pub fn builder(
        facts: Facts,
        call: Option<CallId>,
        tool: Identity,
        source: Source,
    ) -> CallControlBuilder {
        CallControlBuilder(Shared {
            facts,
            call,
            tool: Some(tool),
            source: Some(source),
            ..Shared::default()
        })
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

    /// Whether an assertion of the handler was granted.
    #[must_use]
    pub fn asserted(&self) -> bool {
        self.0.asserted.load(Ordering::Acquire)
    }
}

impl Drop for CallControl {
    fn drop(&mut self) {
        self.settle();
        // Who asks from now on finds it given.
        self.0
            .cancellation
            .get_or_init(Cancellation::given)
            .cancel();
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
    /// Sets what the handler reaches of its runtime. Nothing by default.
    #[inline]
    pub fn host(mut self, host: Arc<dyn CallHost>) -> Self {
        self.0.host = Some(host);
        self
    }

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
        self.0.wanted = wanted;
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
