//! Arguments that do not fit a tool.

use std::error::Error;
use std::fmt;

use crate::Issue;

/// Why the arguments of a call were refused, or why a value does not read back: at most ten issues,
/// none with a supplied value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidArguments(Box<Found>);

/// Behind a pointer: what may fail with it is mostly handed on without it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Found {
    issues: Vec<Issue>,
    more: usize,
}

impl InvalidArguments {
    /// The most issues that are kept.
    pub const MAX_ISSUES: usize = 10;

    /// Keeps the first ten issues and counts the rest.
    pub fn new(issues: impl IntoIterator<Item = Issue>) -> Self {
        let mut issues = issues.into_iter();
        let kept: Vec<_> = issues.by_ref().take(Self::MAX_ISSUES).collect();
        Self(Box::new(Found {
            issues: kept,
            more: issues.count(),
        }))
    }

    /// The same, with further issues after those that there are.
    #[must_use]
    pub fn and(mut self, further: impl IntoIterator<Item = Issue>) -> Self {
        for issue in further {
            if self.0.issues.len() < Self::MAX_ISSUES {
                self.0.issues.push(issue);
            } else {
                self.0.more += 1;
            }
        }
        self
    }

    /// The issues, at most ten.
    #[must_use]
    pub fn issues(&self) -> &[Issue] {
        &self.0.issues
    }
}

impl Error for InvalidArguments {}

impl fmt::Display for InvalidArguments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, issue) in self.0.issues.iter().enumerate() {
            if index > 0 {
                f.write_str("; ")?;
            }
            issue.fmt(f)?;
        }
        if self.0.more > 0 {
            write!(f, "; and {} more", self.0.more)?;
        }
        Ok(())
    }
}
