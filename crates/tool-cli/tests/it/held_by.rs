//! What a process holds, as the system sees it.

use std::fs;

/// What a process holds at one moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    pub(crate) descriptors: usize,
    pub(crate) threads: usize,
    /// Bytes of memory.
    pub(crate) memory: u64,
}

impl Held {
    pub(crate) fn by(pid: u32) -> Self {
        let count = |what| fs::read_dir(format!("/proc/{pid}/{what}")).unwrap().count();
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib = line.and_then(|line| line.trim().strip_suffix(" kB"));
        Self {
            descriptors: count("fd"),
            threads: count("task"),
            memory: kib.unwrap().parse::<u64>().unwrap() * 1024,
        }
    }
}
