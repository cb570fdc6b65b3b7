//! The registry: who is registered, and the one pipeline.

use std::sync::Arc;

use tool_core::{Bound, Source, Tool};

use crate::catalog::Live;
use crate::services::Services;
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

    /// Tells of changes from now on.
    #[must_use]
    pub fn changes(&self) -> Changes {
        self.live.changes()
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
