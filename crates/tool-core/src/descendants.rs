//! What a process started, wherever it went.

use std::sync::Arc;

use crate::ProcessMark;

/// What a process started, wherever it went: told by the mark that it was started with, and by
/// parents. Clones are the same processes.
///
/// Who leaves the group of a process (`setsid`) has it or one of its children as its parent, or else
/// still has the mark. Only who loses its parent and clears its environment cannot be told any
/// more; a subreaper finds that as well.
///
/// ```no_run
/// # #[cfg(unix)]
/// # fn main() -> std::io::Result<()> {
/// use std::process::Command;
///
/// use tool_core::{Descendants, ProcessMark};
///
/// let mark = ProcessMark::new()?;
/// let outer = std::env::var_os(ProcessMark::VARIABLE);
/// let value = mark.value(outer.as_deref());
/// let mut child = Command::new("some-server")
///     .env(ProcessMark::VARIABLE, value)
///     .spawn()?;
/// let mut descendants = Descendants::of(mark, Some(child.id()));
/// child.wait()?;
/// descendants.is_reaped();
/// descendants.kill();
/// # Ok(())
/// # }
/// # #[cfg(not(unix))]
/// # fn main() {}
/// ```
#[derive(Clone, Debug)]
pub struct Descendants {
    #[cfg_attr(
        not(target_os = "linux"),
        expect(dead_code, reason = "only Linux shows the environment of others")
    )]
    pub(crate) mark: Arc<ProcessMark>,
    /// The process that started them, while nobody has reaped it.
    pub(crate) leader: Option<u32>,
    /// When that was started, in ticks since the system was.
    #[cfg_attr(
        not(target_os = "linux"),
        expect(dead_code, reason = "only Linux has a table to read")
    )]
    pub(crate) since: u64,
}

impl Descendants {
    /// Those of a process that has just been started with the mark.
    #[must_use]
    pub fn of(mark: ProcessMark, leader: Option<u32>) -> Self {
        #[cfg(target_os = "linux")]
        let since = leader.and_then(crate::process_table::started);
        #[cfg(not(target_os = "linux"))]
        let since = None;
        Self {
            mark: Arc::new(mark),
            leader,
            since: since.unwrap_or(0),
        }
    }

    /// Says that the process itself was reaped: its number may come to mean another one.
    pub fn is_reaped(&mut self) {
        self.leader = None;
    }

    /// Kills them all, the process itself as well where it was not reaped. What cannot be looked at
    /// or killed belongs to another user. Blocks while it reads the table of processes, up to a
    /// second where one of them is just becoming another program.
    ///
    /// Does nothing but on Linux: other systems show no environment of other processes.
    pub fn kill(&self) {
        #[cfg(target_os = "linux")]
        crate::process_table::kill(self);
    }
}
