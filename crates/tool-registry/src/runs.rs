//! What observers remember of the runs that called last.

use std::collections::{HashMap, VecDeque};

/// Runs that are remembered at the same time.
const MOST_RUNS: usize = 8;

/// Something for each of the runs that called last; the run that called longest ago is forgotten
/// first.
pub(crate) struct Runs<T> {
    by_run: HashMap<String, T>,
    recent: VecDeque<String>,
}

impl<T: Default> Runs<T> {
    /// What is remembered of a run, which calls now.
    pub(crate) fn of(&mut self, run: &str) -> &mut T {
        self.recent.retain(|other| other != run);
        self.recent.push_back(run.to_owned());
        if self.recent.len() > MOST_RUNS
            && let Some(oldest) = self.recent.pop_front()
        {
            self.by_run.remove(&oldest);
        }
        self.by_run.entry(run.to_owned()).or_default()
    }
}

impl<T> Default for Runs<T> {
    fn default() -> Self {
        Self {
            by_run: HashMap::new(),
            recent: VecDeque::new(),
        }
    }
}
