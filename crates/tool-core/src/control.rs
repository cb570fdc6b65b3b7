//! The runtime's side of a call's context.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::call_host::Bare;
use crate::{
    ArtifactKind, CallHost, CallId, Context, Credential, Credentials, Facts, Identity, Loss,
    ProgressSink, Refusal, Source,
};

/// The runtime's side of a [`Context`]: it makes the context, learns what the handler did with
/// it, and gives the cancellation when it is dropped.
///
/// For who runs handlers without a host of its own, as tests of executors do. A
/// [host](CallHost) has the same in its [`CallState`](crate::CallState).
pub struct CallControl(Arc<dyn CallHost>);

impl CallControl {
    /// Control over a call of a tool by a caller, from which nothing of a runtime is reached.
    pub fn builder(
        facts: Facts,
        call: Option<CallId>,
        tool: Identity,
        source: Source,
    ) -> CallControlBuilder {
        CallControlBuilder {
            bare: Bare {
                facts,
                call,
                tool: Some(tool),
                source: Some(source),
                ..Bare::default()
            },
            credential: None,
            wanted: None,
        }
    }

    /// The context to hand to the handler.
    #[must_use]
    pub fn context(&self) -> Context {
        Context::of(Arc::clone(&self.0))
    }

    /// Ends progress: what the handler reports from now on goes nowhere.
    pub fn settle(&self) {
        self.0.state().settle();
    }

    /// The first refusal that an assertion of the handler met. It stands whatever the handler
    /// made of it.
    #[must_use]
    pub fn refusal(&self) -> Option<Refusal> {
        self.0.state().refusal().cloned()
    }

    /// What the handler reported to have left out, the first time.
    #[must_use]
    pub fn loss(&self) -> Option<Loss> {
        self.0.state().loss().cloned()
    }

    /// Whether an assertion of the handler was granted.
    #[must_use]
    pub fn asserted(&self) -> bool {
        self.0.state().asserted()
    }
}

impl Drop for CallControl {
    fn drop(&mut self) {
        self.settle();
        self.0.state().cancel();
    }
}

impl fmt::Debug for CallControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.context().fmt(f)
    }
}

/// A [`CallControl`] in the making.
#[must_use]
pub struct CallControlBuilder {
    bare: Bare,
    credential: Option<Credential>,
    wanted: Option<BTreeMap<String, ArtifactKind>>,
}

impl CallControlBuilder {
    /// Sets who listens to progress. Nobody by default.
    pub fn progress(mut self, sink: Option<Arc<dyn ProgressSink>>) -> Self {
        self.bare.progress = sink;
        self
    }

    /// Sets the credential that was acquired.
    pub fn credential(mut self, credential: Option<Credential>) -> Self {
        self.credential = credential;
        self
    }

    /// Sets who hands out credentials that the handler asks for while it runs. Nobody by default:
    /// then each is refused.
    pub fn credentials(mut self, credentials: Option<Arc<dyn Credentials>>) -> Self {
        self.bare.credentials = credentials;
        self
    }

    /// Sets the kinds of the artifacts that were redeemed, by argument.
    pub fn wanted(mut self, wanted: BTreeMap<String, ArtifactKind>) -> Self {
        self.wanted = Some(wanted);
        self
    }

    /// The control.
    #[must_use]
    pub fn build(self) -> CallControl {
        self.bare.state().grant(self.credential, self.wanted);
        CallControl(Arc::new(self.bare))
    }
}

impl fmt::Debug for CallControlBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CallControlBuilder(..)")
    }
}
