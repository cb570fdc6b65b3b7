//! Where a test makes the disk fail.

use std::io;

/// What is asked of the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Op {
    Open,
    CreateFolder,
    Read,
    Write,
    Sync,
    Rename,
    Remove,
    List,
}

/// Fails what a test wants failed. In the library itself it is nothing: no size, no cost.
#[derive(Clone, Debug, Default)]
pub(crate) struct Faults(#[cfg(test)] Option<std::sync::Arc<plan::Plan>>);

impl Faults {
    /// Asked ahead of each operation on the disk.
    #[cfg(not(test))]
    #[inline(always)]
    #[expect(
        clippy::unused_self,
        clippy::unnecessary_wraps,
        reason = "a test has faults"
    )]
    pub(crate) fn check(&self, _op: Op) -> io::Result<()> {
        Ok(())
    }

    #[cfg(test)]
    pub(crate) fn check(&self, op: Op) -> io::Result<()> {
        self.0.as_ref().map_or(Ok(()), |plan| plan.check(op))
    }

    #[cfg(test)]
    pub(crate) fn of(plan: std::sync::Arc<plan::Plan>) -> Self {
        Self(Some(plan))
    }
}

#[cfg(test)]
pub(crate) mod plan;
#[cfg(test)]
mod tests;
