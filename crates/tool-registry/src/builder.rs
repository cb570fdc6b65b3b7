//! A registry in the making.

use std::fmt;
use std::num::NonZeroUsize;
use std::sync::Arc;

use arc_swap::ArcSwap;
use tool_core::{
    AfterHook, ArtifactStore, BeforeHook, Bound, Credentials, EventSink, NoArtifacts,
    NoCredentials, OutputStore, Permission,
};

use crate::Registry;
use crate::services::Services;

/// How many calls of one batch run beside each other unless said otherwise.
const BATCH_CONCURRENCY: NonZeroUsize = NonZeroUsize::new(8).unwrap();

/// A [`Registry`] in the making.
#[must_use]
pub struct RegistryBuilder {
    services: Services,
}

impl RegistryBuilder {
    pub(crate) fn new() -> Self {
        Self {
            services: Services {
                permission: Permission::closed(),
                outputs: None,
                artifacts: Arc::new(NoArtifacts),
                credentials: Arc::new(NoCredentials),
                before: Vec::new(),
                after: Vec::new(),
                events: None,
                bound: ArcSwap::from_pointee(Bound::DEFAULT),
                batch_concurrency: BATCH_CONCURRENCY,
            },
        }
    }

    /// Sets who decides what may run. Defaults to [`Permission::closed`], which denies every call
    /// of a tool that does not ask by itself.
    pub fn permission(mut self, permission: Permission) -> Self {
        self.services.permission = permission;
        self
    }

    /// Sets where long output is retained. Without a store, output is not bounded: a cut without
    /// the whole kept somewhere would be a loss.
    pub fn outputs(mut self, outputs: Arc<dyn OutputStore>) -> Self {
        self.services.outputs = Some(outputs);
        self
    }

    /// Sets where artifacts are redeemed. Without one, a call of a tool that wants one is refused.
    pub fn artifacts(mut self, artifacts: impl ArtifactStore + 'static) -> Self {
        self.services.artifacts = Arc::new(artifacts);
        self
    }

    /// Sets who hands out credentials. Without one, a call of a tool that needs one is refused.
    pub fn credentials(mut self, credentials: impl Credentials + 'static) -> Self {
        self.services.credentials = Arc::new(credentials);
        self
    }

    /// Adds a hook that runs before every call, after those that were added earlier.
    pub fn before(mut self, hook: impl BeforeHook + 'static) -> Self {
        self.services.before.push(Arc::new(hook));
        self
    }

    /// Adds a hook that runs after every call that reached execution, ahead of those that were
    /// added earlier.
    pub fn after(mut self, hook: impl AfterHook + 'static) -> Self {
        self.services.after.insert(0, Arc::new(hook));
        self
    }

    /// Sets who is told what happens to calls. Nobody by default.
    pub fn events(mut self, events: impl EventSink + 'static) -> Self {
        self.services.events = Some(Arc::new(events));
        self
    }

    /// Sets the bound on model-facing text of tools that have none of their own. Defaults to
    /// [`Bound::DEFAULT`].
    pub fn bound(self, bound: Bound) -> Self {
        self.services.bound.store(Arc::new(bound));
        self
    }

    /// Sets how many calls of one batch run beside each other. Defaults to 8.
    pub fn batch_concurrency(mut self, calls: NonZeroUsize) -> Self {
        self.services.batch_concurrency = calls;
        self
    }

    /// The registry, still without tools.
    #[must_use]
    pub fn build(self) -> Registry {
        Registry::from_services(self.services)
    }
}

impl fmt::Debug for RegistryBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RegistryBuilder(..)")
    }
}
