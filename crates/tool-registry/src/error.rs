//! Registrations that are refused.

use std::fmt;

use tool_core::Problem;

/// A tool that was not registered, with everything that is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedEntry {
    name: String,
    problems: Vec<Problem>,
}

impl RefusedEntry {
    pub(crate) fn new(name: String, problems: Vec<Problem>) -> Self {
        Self { name, problems }
    }

    /// The name under which the tool was to be registered.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What is wrong, never empty.
    #[must_use]
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }
}

impl fmt::Display for RefusedEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\": ", self.name.escape_debug())?;
        for (index, problem) in self.problems.iter().enumerate() {
            if index > 0 {
                f.write_str(", ")?;
            }
            problem.fmt(f)?;
        }
        Ok(())
    }
}

/// A registration of which at least one entry was refused. Nothing of it is registered.
///
/// All entries that were refused are here, each with all its problems.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegistrationError {
    refused: Vec<RefusedEntry>,
}

impl RegistrationError {
    pub(crate) fn new(refused: Vec<RefusedEntry>) -> Self {
        Self { refused }
    }

    /// The refused entries, never empty, in the order in which they were given.
    #[must_use]
    pub fn refused(&self) -> &[RefusedEntry] {
        &self.refused
    }
}

impl fmt::Display for RegistrationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("tools were refused: ")?;
        for (index, entry) in self.refused.iter().enumerate() {
            if index > 0 {
                f.write_str("; ")?;
            }
            entry.fmt(f)?;
        }
        Ok(())
    }
}

impl std::error::Error for RegistrationError {}
