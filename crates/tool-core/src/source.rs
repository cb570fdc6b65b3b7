//! Where a tool comes from, and what makes it the same tool.

use std::fmt;

use crate::{Namespace, ToolName};

/// Who provides a tool.
///
/// A fact for policy, logs and approvals. It is never taken from what a server says of itself.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Source {
    /// The host's own code.
    Host,
    /// A plugin of the host.
    Plugin(Namespace),
    /// An MCP server, under the name that the operator gave it.
    Server(Namespace),
}

impl Source {
    /// The namespace, absent for the host's own tools.
    #[must_use]
    pub fn namespace(&self) -> Option<&Namespace> {
        match self {
            Self::Host => None,
            Self::Plugin(namespace) | Self::Server(namespace) => Some(namespace),
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Host => f.write_str("host"),
            Self::Plugin(namespace) => write!(f, "plugin {namespace}"),
            Self::Server(namespace) => write!(f, "server {namespace}"),
        }
    }
}

/// What makes two registrations the same tool: the namespace and the authored name.
///
/// Written, it is the namespace, a `/` and the name, or the name alone for the host's own tools. One
/// of these whose name holds a `/` begins with one, as no namespace is empty: two identities are never
/// written alike, so that a rule or a saved approval is about one.
///
/// ```
/// use tool_core::{Identity, Namespace, Source, ToolName};
///
/// # fn main() -> Result<(), tool_core::Problem> {
/// let files = Source::Server(Namespace::new("files")?);
/// let of = |source: &Source, name| Ok(Identity::new(source, ToolName::new(name)?).to_string());
/// assert_eq!(of(&files, "read/all")?, "files/read/all");
/// assert_eq!(of(&Source::Host, "read")?, "read");
/// assert_eq!(of(&Source::Host, "files/read/all")?, "/files/read/all");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Identity {
    namespace: Option<Namespace>,
    name: ToolName,
}

impl Identity {
    /// The identity of a tool of that source.
    #[must_use]
    pub fn new(source: &Source, name: ToolName) -> Self {
        Self {
            namespace: source.namespace().cloned(),
            name,
        }
    }

    /// The namespace, absent for the host's own tools.
    #[must_use]
    pub fn namespace(&self) -> Option<&Namespace> {
        self.namespace.as_ref()
    }

    /// The authored name.
    #[must_use]
    pub fn name(&self) -> &ToolName {
        &self.name
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.namespace {
            Some(namespace) => write!(f, "{namespace}/{}", self.name),
            None if self.name.as_str().contains('/') => write!(f, "/{}", self.name),
            None => self.name.fmt(f),
        }
    }
}
