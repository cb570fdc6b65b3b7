//! The table of processes of Linux.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::time::{Duration, Instant};

use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal};

use crate::Descendants;

/// How often the table is read at most. Each time, only what was started since the last can be
/// new: a killed process starts no other.
const PASSES: usize = 256;
/// How long processes are waited for that do not show yet whose they are.
const SETTLING: Duration = Duration::from_secs(1);

/// Kills all of them.
pub(crate) fn kill(descendants: &Descendants) {
    let begun = Instant::now();
    let mut killed = HashSet::new();
    let mut awaited: Option<HashSet<u32>> = None;
    for _ in 0..PASSES {
        let Ok(Found {
            mut processes,
            mut unsettled,
        }) = Found::look(descendants)
        else {
            return;
        };
        processes.retain(|process| killed.insert(*process));
        if processes.is_empty() {
            // Who was not there when a descendant last was is none.
            if let Some(awaited) = &awaited {
                unsettled.retain(|pid| awaited.contains(pid));
            }
            if unsettled.is_empty() || begun.elapsed() > SETTLING {
                return;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        for process in processes {
            process.kill();
        }
        awaited = Some(unsettled);
    }
}

/// When a process was started, in ticks since the system was.
pub(crate) fn started(pid: u32) -> Option<u64> {
    Some(Row::read(pid)?.process.started)
}

struct Found {
    processes: Vec<Process>,
    /// Those that do not show yet whose they are.
    unsettled: HashSet<u32>,
}

/// One process, never to be taken for a later one of the same number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Process {
    pid: u32,
    /// In ticks since the system was started.
    started: u64,
}

/// A row of the table.
struct Row {
    process: Process,
    parent: u32,
    is_dead: bool,
}

enum Membership {
    Marked,
    Foreign,
    /// It is being replaced by another program, whose environment is not there yet.
    Unsettled,
}

impl Found {
    fn look(descendants: &Descendants) -> io::Result<Self> {
        let mut others = young(descendants.since)?;
        let mut unsettled = HashSet::new();
        let mut parents: Vec<u32> = descendants.leader.into_iter().collect();
        for pid in others.keys() {
            match membership(*pid, descendants) {
                Membership::Marked => parents.push(*pid),
                Membership::Foreign => {}
                Membership::Unsettled => {
                    unsettled.insert(*pid);
                }
            }
        }
        let mut processes = Vec::new();
        while let Some(pid) = parents.pop() {
            if let Some(row) = others.remove(&pid) {
                processes.push(row.process);
                let children = others.iter().filter(|(_, other)| other.parent == pid);
                parents.extend(children.map(|(child, _)| *child));
            }
        }
        Ok(Self {
            processes,
            unsettled,
        })
    }
}

/// Who is alive and no older than the leader, this process apart.
fn young(since: u64) -> io::Result<HashMap<u32, Row>> {
    /// The parent of the kernel's own threads.
    const KERNEL: u32 = 2;
    let own = std::process::id();
    let mut rows = HashMap::new();
    for entry in fs::read_dir("/proc")? {
        let name = entry?.file_name();
        let Some(pid) = name.to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        if let Some(row) = Row::read(pid)
            && row.process.started >= since
            && !row.is_dead
            && row.parent != KERNEL
            && pid != own
        {
            rows.insert(pid, row);
        }
    }
    Ok(rows)
}

fn membership(pid: u32, descendants: &Descendants) -> Membership {
    match fs::read(format!("/proc/{pid}/environ")) {
        Ok(environment) if descendants.mark.is_in(&environment) => Membership::Marked,
        // A program gets its arguments together with its environment.
        Ok(environment) if environment.is_empty() => {
            match fs::read(format!("/proc/{pid}/cmdline")) {
                Ok(arguments) if arguments.is_empty() => Membership::Unsettled,
                _ => Membership::Foreign,
            }
        }
        // Gone, or of another user.
        _ => Membership::Foreign,
    }
}

impl Process {
    fn kill(self) {
        let Some(pid) = i32::try_from(self.pid).ok().and_then(Pid::from_raw) else {
            return;
        };
        match pidfd_open(pid, PidfdFlags::empty()) {
            // What the handle means stays the same, so one more look tells whether that is the
            // process that was found.
            Ok(handle) => {
                if Row::read(self.pid).is_some_and(|row| row.process == self) {
                    let _ = pidfd_send_signal(handle, Signal::KILL);
                }
            }
            Err(rustix::io::Errno::NOSYS) => {
                let _ = kill_process(pid, Signal::KILL);
            }
            Err(_) => {}
        }
    }
}

impl Row {
    fn read(pid: u32) -> Option<Self> {
        let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
        // The second field is the name in parentheses, which may hold anything.
        let rest = stat.rsplit(|byte| *byte == b')').next()?;
        let mut fields = std::str::from_utf8(rest).ok()?.split_ascii_whitespace();
        // The state is the third field, the parent the fourth, the start the 22nd.
        let is_dead = matches!(fields.next()?, "Z" | "X");
        let parent = fields.next()?.parse().ok()?;
        let started = fields.nth(17)?.parse().ok()?;
        Some(Self {
            process: Process { pid, started },
            parent,
            is_dead,
        })
    }
}
