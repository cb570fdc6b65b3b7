//! Which operation fails, and whether all that follow do.

use std::io;
use std::sync::{Mutex, PoisonError};

use super::Op;

/// Counts operations, and fails some of them as a broken disk does.
#[derive(Debug)]
pub(crate) struct Plan {
    failing: Failing,
    seen: Mutex<Vec<Op>>,
}

/// Which operations fail, counted from 0.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Failing {
    /// None.
    Nothing,
    /// That one alone: the disk gets over it.
    Once(usize),
    /// That one and all after it, removals among them: what is there stays as a process leaves it
    /// that is killed at this point.
    From(usize),
    /// All of that kind.
    Every(Op),
}

impl Plan {
    pub(crate) fn new(failing: Failing) -> Self {
        Self {
            failing,
            seen: Mutex::default(),
        }
    }

    pub(super) fn check(&self, op: Op) -> io::Result<()> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let at = seen.len();
        seen.push(op);
        let fails = match self.failing {
            Failing::Nothing => false,
            Failing::Once(failing) => at == failing,
            Failing::From(first) => at >= first,
            Failing::Every(failing) => op == failing,
        };
        if fails {
            // EIO, as Linux, macOS and the BSDs number it.
            return Err(io::Error::from_raw_os_error(5));
        }
        Ok(())
    }

    /// What was asked of the disk so far.
    pub(crate) fn seen(&self) -> Vec<Op> {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.clone()
    }
}
