//! Names as their authors wrote them.

use std::fmt;

use ecow::EcoString;

use crate::{Problem, ProblemKind};

const MAX_BYTES: usize = 512;

/// The authored name of a tool: the key under which it is registered.
///
/// Anything that a person can read is legal, as servers in the wild use dots, blanks and other
/// scripts; what a provider sees is the [`WireName`](crate::WireName) made from it. Refused are a
/// blank name, control characters and more than 512 bytes.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ToolName(EcoString);

/// A namespace: the name of a plugin or of a configured MCP server.
///
/// Dots separate segments and no segment may be blank. At most 512 bytes, and no `/`: that ends the
/// namespace where an [`Identity`](crate::Identity) is written, which rules and saved approvals go by.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Namespace(EcoString);

impl ToolName {
    /// Checks and wraps an authored name.
    ///
    /// # Errors
    /// [`ProblemKind::Name`] when the name is blank, holds a control character or is longer than
    /// 512 bytes.
    pub fn new(name: impl AsRef<str>) -> Result<Self, Problem> {
        let name = name.as_ref();
        readable("tool name", name)?;
        Ok(Self(EcoString::from(name)))
    }

    /// The name as authored.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Namespace {
    /// Checks and wraps a namespace.
    ///
    /// # Errors
    /// [`ProblemKind::Name`] when a segment between dots is blank, a `/` or a control character is in
    /// it or it is longer than 512 bytes.
    pub fn new(name: impl AsRef<str>) -> Result<Self, Problem> {
        let name = name.as_ref();
        readable("namespace", name)?;
        if name.split('.').any(|segment| segment.trim().is_empty()) {
            return Err(Problem::new(
                ProblemKind::Name,
                format!(
                    "namespace \"{name}\" has a blank segment; write it without doubled, leading or trailing dots"
                ),
            ));
        }
        if name.contains('/') {
            return Err(Problem::new(
                ProblemKind::Name,
                format!(
                    "namespace \"{name}\" holds a \"/\", which stands between a namespace and the name of a tool; \
                     write another character in its place"
                ),
            ));
        }
        Ok(Self(EcoString::from(name)))
    }

    /// The namespace as configured.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn readable(what: &str, name: &str) -> Result<(), Problem> {
    let problem = if name.trim().is_empty() {
        format!("{what} is blank; give it at least one visible character")
    } else if name.len() > MAX_BYTES {
        format!(
            "{what} is {} bytes long; the most is {MAX_BYTES}",
            name.len()
        )
    } else if name.chars().any(char::is_control) {
        format!(
            "{what} \"{}\" holds a control character",
            name.escape_debug()
        )
    } else {
        return Ok(());
    };
    Err(Problem::new(ProblemKind::Name, problem))
}

macro_rules! text {
    ($name:ident) => {
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({:?})"), self.as_str())
            }
        }
    };
}

text!(ToolName);
text!(Namespace);
