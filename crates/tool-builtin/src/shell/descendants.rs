//! The processes of one call, wherever they went.

use std::sync::Arc;

use super::mark::Mark;

/// The descendants of a call, told by their mark and by their parents.
#[derive(Debug)]
pub(super) struct Descendants {
    pub(super) mark: Arc<Mark>,
    /// The process that leads the group, while nobody has reaped it.
    pub(super) leader: Option<u32>,
    /// When the leader was started, in ticks since the system was.
    pub(super) since: u64,
}

impl Descendants {
    /// Kills them all. What cannot be looked at or killed belongs to another user.
    #[cfg(target_os = "linux")]
    pub(super) fn kill(&self) {
        super::processes::kill(self);
    }

    /// Does nothing: the system shows no environment of other processes.
    #[cfg(not(target_os = "linux"))]
    pub(super) fn kill(&self) {
        let Self {
            mark: _,
            leader: _,
            since: _,
        } = self;
    }
}

/// When a process was started, in ticks since the system was; 0 where the system does not tell.
pub(super) fn started(pid: Option<u32>) -> u64 {
    #[cfg(target_os = "linux")]
    let started = pid.and_then(super::processes::started);
    #[cfg(not(target_os = "linux"))]
    let started = pid.and(None);
    started.unwrap_or(0)
}
