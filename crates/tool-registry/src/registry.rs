//! The registry: who is registered, and the one pipeline.

use std::sync::Arc;

use tool_core::{Bound, Facts, Identity, OutputStore, Source, TeardownReport, Tool};

use crate::catalog::Live;
use crate::contained::contained;
use crate::services::Services;
use crate::teardowns::Scope;
use crate::{Changes, Registrar, Registration, RegistrationError, RegistryBuilder, Snapshot};

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
        let services = Arc::new(services);
        Self {
            live: Arc::new(Live::new(Arc::clone(&services))),
            services,
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
    /// last snapshot: then the first one after it sorts and hashes the names of all of them, and
    /// whoever registers waits meanwhile. A host with thousands of tools does not register for each
    /// request; tools of one request are [added to its snapshot](Snapshot::with_view).
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        Snapshot::new(self.live.catalog())
    }

    /// What is registered now, as the hooks on requests leave it for this caller. A hook that panics
    /// leaves nothing.
    #[must_use]
    pub fn request(&self, facts: &Facts) -> Snapshot {
        let snapshot = self.snapshot();
        if self.services.requests.is_empty() {
            return snapshot;
        }
        let changed = snapshot.with_view(|view| {
            for hook in &self.services.requests {
                if contained(|| hook.request(view, facts)).is_none() {
                    // What it would have withdrawn, nobody knows.
                    view.withdraw_all();
                    break;
                }
            }
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

    /// Runs the cleanups of a run that has ended for good: not while one of its calls waits. What
    /// dropped calls have left runs as well.
    ///
    /// `facts` name the run and the identity as its calls did: a run of the same id of another
    /// tenant or principal is another one. Whether they name a session makes no difference. Where
    /// they name no run, only what dropped calls have left runs.
    ///
    /// ```
    /// use tool_core::{Facts, Identification};
    /// use tool_registry::Registry;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let ada = Identification::principal("ada").tenant("acme");
    /// let facts = Facts::new().run("r1").identity(ada);
    /// assert!(Registry::default().end_run(&facts).await.is_empty());
    /// # }
    /// ```
    ///
    /// Cleanups run one after the other, at most five seconds each; one that waits at all must be
    /// awaited inside a tokio runtime with time enabled. What is registered meanwhile stays.
    ///
    /// # Cancel safety
    /// When the future is dropped, the cleanup that ran is dropped with it; the others run with
    /// the next of `end_run`, [`end_session`](Self::end_session), [`clean_up`](Self::clean_up) and
    /// [`shut_down`](Self::shut_down).
    pub async fn end_run(&self, facts: &Facts) -> Vec<TeardownReport> {
        self.end(Scope::run(facts).as_ref()).await
    }

    /// Runs the cleanups of a session that has ended. What dropped calls have left runs as well.
    ///
    /// `facts` name the session and the identity as its calls did, as for [`end_run`](Self::end_run).
    ///
    /// # Cancel safety
    /// As [`end_run`](Self::end_run).
    pub async fn end_session(&self, facts: &Facts) -> Vec<TeardownReport> {
        self.end(Scope::session(facts).as_ref()).await
    }

    /// Runs what dropped calls have left: a cleanup of a call cannot run when the call is dropped,
    /// as nothing runs unless it is awaited. At most 1,024 are kept until somebody asks; then the
    /// oldest are dropped, which is told as an event.
    ///
    /// # Cancel safety
    /// As [`end_run`](Self::end_run).
    pub async fn clean_up(&self) -> Vec<TeardownReport> {
        self.end(None).await
    }

    /// Runs every cleanup that is left: those of dropped calls, then of runs and sessions, the
    /// newest first, then of the shutdown. Call it when no call is running any more.
    ///
    /// # Cancel safety
    /// As [`end_run`](Self::end_run).
    pub async fn shut_down(&self) -> Vec<TeardownReport> {
        let services = &self.services;
        services.teardowns.shut_down(&services.told()).await
    }

    async fn end(&self, scope: Option<&Scope>) -> Vec<TeardownReport> {
        let services = &self.services;
        services.teardowns.end(scope, &services.told()).await
    }

    /// Names every tool that says that it is composed of one that is not registered, with the
    /// missing ones. Ask when everything is registered. What a tool of a server is composed of is
    /// for that server to have.
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
            .filter(|entry| !matches!(entry.source(), Source::Server(_)))
            .filter_map(|entry| {
                let declared = entry.tool().declarations().composed_of.iter().flatten();
                let missing: Vec<_> = declared.filter(|name| !known(name)).cloned().collect();
                (!missing.is_empty()).then(|| (entry.identity().clone(), missing))
            })
            .collect()
    }

    /// Where long output is retained, if anywhere.
    #[must_use]
    pub fn outputs(&self) -> Option<&Arc<dyn OutputStore>> {
        self.services.outputs.as_ref()
    }

    /// Changes the bound on model-facing text, from the next bounding on.
    pub fn set_bound(&self, bound: Bound) {
        self.services.set_bound(bound);
    }
}

impl Default for Registry {
    fn default() -> Self {
        Self::builder().build()
    }
}
