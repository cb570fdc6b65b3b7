//! What the suite says of its scenarios.

use std::collections::BTreeMap;
use std::fmt;

/// How each scenario ended, read from the summary of a run.
#[derive(Clone, Debug, Default)]
pub struct Outcomes {
    in_summary: bool,
    by_name: BTreeMap<String, bool>,
}

impl Outcomes {
    /// Reads one line of what the suite prints.
    pub fn read(&mut self, line: &str) {
        if line.ends_with("SUMMARY ===") {
            self.in_summary = true;
        }
        if !self.in_summary {
            return;
        }
        for (mark, passed) in [("✓ ", true), ("✗ ", false)] {
            let scenario = line
                .strip_prefix(mark)
                .and_then(|rest| rest.split_once(": "))
                .filter(|(_, counts)| counts.contains(" passed, "));
            if let Some((name, _)) = scenario {
                self.by_name.insert(name.to_owned(), passed);
            }
        }
    }

    /// Every scenario, and whether it passed.
    pub fn all(&self) -> impl Iterator<Item = (&str, bool)> {
        let all = self.by_name.iter();
        all.map(|(name, passed)| (name.as_str(), *passed))
    }

    /// The scenarios that failed.
    pub fn failed(&self) -> impl Iterator<Item = &str> {
        self.by_name
            .iter()
            .filter(|(_, passed)| !**passed)
            .map(|(name, _)| name.as_str())
    }

    /// Whether nothing ran.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }
}

impl fmt::Display for Outcomes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = self.by_name.len();
        write!(
            f,
            "{} of {all} scenarios passed",
            all - self.failed().count()
        )
    }
}
