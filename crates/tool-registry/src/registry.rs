//! The registry: who is registered, and the one pipeline.

use std::sync::Arc;

use tool_core::{Bound, Facts, Identity, RunId, SessionId, Source, Tool};

use crate::catalog::Live;
use crate::services::Services;
use crate::teardowns::Scope;
use crate::{
    Changes, Registrar, Registration, RegistrationError, RegistryBuilder, Snapshot, TeardownReport,
};

/// Holds the registered tools and settles calls. Clones are the same registry.
///
/// The registry itself calls nothing: take a [`Snapshot`], advertise its definitions, and settle
/// the calls that come back with that same snapshot.
#[derive(Clone, Debug)]
pub struct Registry {
    live: Arc<Live>,
    services: Arc<Services>,
}

impl Registry {
    /// Starts a registry.
    pub fn builder() -> RegistryBuilder {
        RegistryBuilder::new()
    }

    pub(crate) fn from_services(services: Services) -> Self {
        Self {
            live: Arc::new(Live::new()),
            services: Arc::new(services),
        }
    }

    /// Registers tools of the host's own, all or none.
    ///
    /// # Errors
    /// [`RegistrationError`] with every entry that was refused and everything that is wrong with
    /// each; nothing is registered then.
    pub fn register<N: AsRef<str>, T: Into<Tool>>(
        &self,
        tools: impl IntoIterator<Item = (N, T)>,
    ) -> Result<Registration, RegistrationError> {
        self.registrar(Source::Host).register(tools)
    }

    /// A handle that can register tools of one source and can do nothing else.
    #[must_use]
    pub fn registrar(&self, source: Source) -> Registrar {
        Registrar::new(Arc::clone(&self.live), source)
    }

    /// What is registered now, as one model request sees it.
    ///
    /// The cost does not depend on how many tools there are, unless something changed since the
    /// last snapshot.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        Snapshot::new(self.live.catalog(), Arc::clone(&self.services))
    }

    /// What is registered now, as the hooks on requests leave it for this caller.
    #[must_use]
    pub fn request(&self, facts: &Facts) -> Snapshot {
        let snapshot = self.snapshot();
        if self.services.requests.is_empty() {
            return snapshot;
        }
        let changed = snapshot.with_view(|view| {
            self.services
                .requests
                .iter()
                .for_each(|hook| hook.request(view, facts));
            Ok::<(), std::convert::Infallible>(())
        });
        match changed {
            Ok(snapshot) => snapshot,
            Err(never) => match never {},
        }
    }

    /// Tells of changes from now on.
    #[must_use]
    pub fn changes(&self) -> Changes {
        self.live.changes()
    }

    /// Runs the cleanups of a run that has ended for good: not while one of its calls waits.
    pub async fn end_run(&self, run: &RunId) -> Vec<TeardownReport> {
        self.services.teardowns.run(&Scope::Run(run.clone())).await
    }

    /// Runs the cleanups of a session that has ended.
    pub async fn end_session(&self, session: &SessionId) -> Vec<TeardownReport> {
        self.services
            .teardowns
            .run(&Scope::Session(session.clone()))
            .await
    }

    /// Runs every cleanup that is left: runs and sessions first, then those of the shutdown. Call
    /// it when no call is running any more.
    pub async fn shut_down(&self) -> Vec<TeardownReport> {
        self.services.teardowns.run_all().await
    }

    /// Names every tool that says that it is composed of one that is not registered, with the
    /// missing ones. Ask when everything is registered.
    #[must_use]
    pub fn missing_ingredients(&self) -> Vec<(Identity, Vec<String>)> {
        let snapshot = self.snapshot();
        let known = |name: &String| {
            snapshot.get(name).is_some()
                || snapshot
                    .entries()
                    .any(|entry| entry.identity().to_string() == *name)
        };
        snapshot
            .entries()
            .filter_map(|entry| {
                let declared = entry.tool().declarations().composed_of.iter().flatten();
                let missing: Vec<_> = declared.filter(|name| !known(name)).cloned().collect();
                (!missing.is_empty()).then(|| (entry.identity().clone(), missing))
            })
            .collect()
    }

    /// Changes the bound on model-facing text, from the next bounding on.
    pub fn set_bound(&self, bound: Bound) {
        self.services.bound.store(Arc::new(bound));
    }
}

impl Default for Registry {
    fn default() -> Self {
        Self::builder().build()
    }
}
