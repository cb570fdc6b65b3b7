//! Killing the processes of a call that left its process group.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::sync::Arc;

use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal};

use super::mark::Mark;

/// How often the table of processes is read. Each time, only what was started since the last can
/// be new: a killed process starts no other.
const PASSES: usize = 64;

/// The descendants of a call, told by their mark and by their parents.
#[derive(Debug)]
pub(super) struct Descendants {
    pub(super) mark: Arc<Mark>,
    /// The process that leads the group, while nobody has reaped it.
    pub(super) leader: Option<u32>,
    /// When the leader was started, in ticks since the system was.
    pub(super) since: u64,
}

/// A line of the table of processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Process {
    parent: u32,
    /// In ticks since the system was started.
    started: u64,
}

impl Descendants {
    /// Kills them all. What cannot be read or killed belongs to another user.
    pub(super) fn kill(&self) {
        let mut killed = HashSet::new();
        for _ in 0..PASSES {
            let Ok(mut found) = self.find() else { return };
            found.retain(|found| killed.insert(*found));
            if found.is_empty() {
                return;
            }
            for (pid, process) in found {
                kill_one(pid, process);
            }
        }
    }

    fn find(&self) -> io::Result<Vec<(u32, Process)>> {
        let own = std::process::id();
        let mut others = HashMap::new();
        for entry in fs::read_dir("/proc")? {
            let name = entry?.file_name();
            let Some(pid) = name.to_str().and_then(|name| name.parse::<u32>().ok()) else {
                continue;
            };
            match Process::read(pid) {
                // A descendant is no older than the leader.
                Some(process) if pid != own && process.started >= self.since => {
                    others.insert(pid, process);
                }
                _ => {}
            }
        }
        let mut found = Vec::new();
        let mut parents: Vec<u32> = self.leader.into_iter().collect();
        parents.extend(others.keys().filter(|pid| self.is_marked(**pid)));
        while let Some(pid) = parents.pop() {
            if let Some(process) = others.remove(&pid) {
                found.push((pid, process));
                let children = others.iter().filter(|(_, other)| other.parent == pid);
                parents.extend(children.map(|(child, _)| *child));
            }
        }
        Ok(found)
    }

    fn is_marked(&self, pid: u32) -> bool {
        fs::read(format!("/proc/{pid}/environ"))
            .is_ok_and(|environment| self.mark.is_in(&environment))
    }
}

fn kill_one(pid: u32, process: Process) {
    let Some(raw) = i32::try_from(pid).ok().and_then(Pid::from_raw) else {
        return;
    };
    match pidfd_open(raw, PidfdFlags::empty()) {
        // What the handle means stays the same, so one more look tells whether that is the process
        // that was found.
        Ok(handle) => {
            if Process::read(pid).is_some_and(|now| now.started == process.started) {
                let _ = pidfd_send_signal(handle, Signal::KILL);
            }
        }
        Err(rustix::io::Errno::NOSYS) => {
            let _ = kill_process(raw, Signal::KILL);
        }
        Err(_) => {}
    }
}

/// When a process was started, in ticks since the system was.
pub(super) fn started(pid: u32) -> Option<u64> {
    Process::read(pid).map(|process| process.started)
}

impl Process {
    fn read(pid: u32) -> Option<Self> {
        let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
        // The second field is the name in parentheses, which may hold anything.
        let rest = stat.rsplit(|byte| *byte == b')').next()?;
        let mut fields = std::str::from_utf8(rest).ok()?.split_ascii_whitespace();
        // What is left begins with the third field; the parent is the fourth, the start the 22nd.
        let parent = fields.nth(1)?.parse().ok()?;
        let started = fields.nth(17)?.parse().ok()?;
        Some(Self { parent, started })
    }
}
