//! Changing what one request sees.

use std::collections::HashSet;
use std::sync::Arc;

use thiserror::Error;
use tool_core::{Facts, WireName};

use crate::catalog::Catalog;
use crate::registrar::RESERVED;
use crate::{Entry, Snapshot};

/// Looks at every request before it is advertised, and may withdraw, rename or describe its tools
/// anew. It can add none and can change nothing that runs.
///
/// It is called for each [`Registry::request`](crate::Registry::request), in the order of adding,
/// and must not block. One that panics leaves the request without tools.
///
/// ```
/// use tool_core::Facts;
/// use tool_registry::{Registry, RequestHook, View};
///
/// /// Hides what only the build agent may see.
/// struct ByAgent;
///
/// impl RequestHook for ByAgent {
///     fn request(&self, view: &mut View, facts: &Facts) {
///         if facts.agent_id().is_none_or(|agent| agent.as_str() != "build") {
///             // A tool that is not there need not be withdrawn.
///             let _ = view.withdraw("deploy");
///         }
///     }
/// }
///
/// let registry = Registry::builder().on_request(ByAgent).build();
/// assert_eq!(registry.request(&Facts::new()).entries().len(), 0);
/// ```
#[diagnostic::on_unimplemented(message = "`{Self}` is not a hook on requests")]
pub trait RequestHook: Send + Sync {
    /// Looks at a request.
    fn request(&self, view: &mut View, facts: &Facts);
}

/// What one request sees, in the making. What is changed here is changed for this request only:
/// for its definitions and for its calls alike.
#[derive(Clone, Debug)]
pub struct View {
    entries: Vec<Arc<Entry>>,
    withdrawn: HashSet<String>,
}

/// A change that cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ViewError {
    /// No tool of that name is in the request.
    #[error("the request has no tool \"{}\"", .0.escape_debug())]
    Unknown(String),
    /// Another tool has that name.
    #[error("the request has another tool \"{0}\"")]
    Taken(String),
    /// The name is kept for something else.
    #[error("\"{0}\" is reserved for running programs; choose another name")]
    Reserved(String),
    /// The description says nothing.
    #[error("a blank description of \"{0}\" says nothing")]
    Description(String),
    /// A provider would refuse the name.
    #[error("\"{}\" is no wire name; use 1 to 64 of A-Z, a-z, 0-9, _ and -, a letter first", .0.escape_debug())]
    Name(String),
}

impl View {
    pub(crate) fn of(catalog: &Catalog) -> Self {
        Self {
            entries: catalog.entries().to_vec(),
            withdrawn: catalog.withdrawn().clone(),
        }
    }

    /// The tools that are left, in no particular order.
    #[must_use]
    pub fn entries(&self) -> impl ExactSizeIterator<Item = &Entry> {
        self.entries.iter().map(|entry| &**entry)
    }

    /// Withdraws a tool: it is not advertised, and a call of it is refused as not available.
    ///
    /// # Errors
    /// [`ViewError::Unknown`].
    pub fn withdraw(&mut self, name: &str) -> Result<(), ViewError> {
        let at = self.find(name)?;
        self.entries.remove(at);
        self.withdrawn.insert(name.to_owned());
        Ok(())
    }

    /// Advertises a tool under another name. A call by the name before is refused as not
    /// available.
    ///
    /// # Errors
    /// [`ViewError`] when there is no such tool, or the new name is taken, reserved or not legal.
    pub fn rename(&mut self, name: &str, to: &str) -> Result<(), ViewError> {
        let at = self.find(name)?;
        let wire = WireName::parse(to).ok_or_else(|| ViewError::Name(to.to_owned()))?;
        if to == RESERVED {
            return Err(ViewError::Reserved(to.to_owned()));
        }
        if self.entries.iter().any(|entry| entry.wire_name() == &wire) {
            return Err(ViewError::Taken(to.to_owned()));
        }
        if let Some(entry) = self.entries.get_mut(at) {
            *entry = Arc::new(entry.renamed(wire));
        }
        self.withdrawn.remove(to);
        self.withdrawn.insert(name.to_owned());
        Ok(())
    }

    /// Describes a tool anew.
    ///
    /// # Errors
    /// [`ViewError`] when there is no such tool, or the description is blank.
    pub fn redescribe(
        &mut self,
        name: &str,
        description: impl Into<String>,
    ) -> Result<(), ViewError> {
        let (at, description) = (self.find(name)?, description.into());
        if description.trim().is_empty() {
            return Err(ViewError::Description(name.to_owned()));
        }
        if let Some(entry) = self.entries.get_mut(at) {
            *entry = Arc::new(entry.described(description));
        }
        Ok(())
    }

    /// Withdraws every tool that is left.
    pub(crate) fn withdraw_all(&mut self) {
        let left = self.entries.drain(..);
        let names = left.map(|entry| entry.wire_name().to_string());
        self.withdrawn.extend(names);
    }

    fn find(&self, name: &str) -> Result<usize, ViewError> {
        self.entries
            .iter()
            .position(|entry| entry.wire_name().as_str() == name)
            .ok_or_else(|| ViewError::Unknown(name.to_owned()))
    }
}

impl Snapshot {
    /// The same request with changes. This snapshot stays as it is.
    ///
    /// # Errors
    /// What `change` returns.
    pub fn with_view<E>(&self, change: impl FnOnce(&mut View) -> Result<(), E>) -> Result<Self, E> {
        let mut view = View::of(&self.catalog);
        change(&mut view)?;
        let catalog = Catalog::new(view.entries, view.withdrawn, Arc::clone(self.services()));
        Ok(Self::new(Arc::new(catalog)))
    }
}
