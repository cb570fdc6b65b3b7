//! What the system tells of a process and of those that it started.

use std::fs;

/// A program: a process and those below it that run the same file. What it has started besides, such
/// as the server behind it, is not part of it.
pub struct Program {
    pids: Vec<u32>,
}

impl Program {
    /// The processes of a program that is there already, from the number of the first.
    pub fn of(first: u32) -> Self {
        let file = |pid| fs::read_link(format!("/proc/{pid}/exe")).ok();
        let own = file(first);
        let mut pids = vec![first];
        let mut next = 0;
        while let Some(pid) = pids.get(next).copied() {
            pids.extend(
                children(pid)
                    .into_iter()
                    .filter(|child| file(*child) == own),
            );
            next += 1;
        }
        Self { pids }
    }

    /// Nanoseconds that all its threads have run so far.
    pub fn cpu_ns(&self) -> u64 {
        self.pids.iter().flat_map(|pid| tasks(*pid)).map(ran).sum()
    }

    /// Bytes that it has in memory. What several of its processes share counts once.
    pub fn memory(&self) -> u64 {
        let pids = self.pids.iter();
        pids.map(|pid| kib(&format!("/proc/{pid}/smaps_rollup"), "Pss:") * 1024)
            .sum()
    }
}

fn children(pid: u32) -> Vec<u32> {
    let of_task = |task: String| fs::read_to_string(format!("{task}/children")).ok();
    let all: Vec<String> = tasks(pid).filter_map(of_task).collect();
    let numbers = all.iter().flat_map(|all| all.split_ascii_whitespace());
    numbers.filter_map(|pid| pid.parse().ok()).collect()
}

/// The folders of the threads of a process.
fn tasks(pid: u32) -> impl Iterator<Item = String> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task"));
    let tasks = tasks.into_iter().flatten();
    tasks.filter_map(|task| Some(task.ok()?.path().to_str()?.to_owned()))
}

fn ran(task: String) -> u64 {
    let text = fs::read_to_string(format!("{task}/schedstat")).unwrap_or_default();
    let first = text.split_ascii_whitespace().next();
    first.and_then(|ran| ran.parse().ok()).unwrap_or_default()
}

fn kib(path: &str, what: &str) -> u64 {
    let text = fs::read_to_string(path).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(what));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok());
    kib.unwrap_or_default()
}
