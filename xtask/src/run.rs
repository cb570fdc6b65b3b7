//! A run of several steps, each of which is tried.

use std::fmt;
use std::time::{Duration, Instant};

use crate::{Error, say};

/// How a step ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a further end must break every match"
)]
pub enum Verdict {
    /// It did what it was for.
    Passed,
    /// It found something, or broke.
    Failed,
    /// It could not be tried here, for the reason that is named.
    Skipped(String),
}

/// The steps so far.
#[derive(Clone, Debug, Default)]
pub struct Run {
    reports: Vec<Report>,
}

#[derive(Clone, Debug)]
struct Report {
    name: String,
    verdict: Verdict,
    took: Duration,
}

impl Run {
    /// Tries a step, whatever became of those before it. An error counts as a failure.
    pub fn step(&mut self, name: &str, work: impl FnOnce() -> Result<Verdict, Error>) {
        say(format!("\n== {name}"));
        let began = Instant::now();
        let verdict = work().unwrap_or_else(|error| {
            say(format!("error: {}", error.chain()));
            Verdict::Failed
        });
        if let Verdict::Skipped(reason) = &verdict {
            say(format!("skipped {name}: {reason}"));
        }
        self.reports.push(Report {
            name: name.to_owned(),
            verdict,
            took: began.elapsed(),
        });
    }

    /// Whether no step failed.
    #[must_use]
    pub fn passed(&self) -> bool {
        !self
            .reports
            .iter()
            .any(|report| report.verdict == Verdict::Failed)
    }
}

impl Verdict {
    /// Passed or failed.
    #[must_use]
    pub fn of(passed: bool) -> Self {
        if passed { Self::Passed } else { Self::Failed }
    }
}

/// The table that ends a run.
impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.reports.iter().map(|report| report.name.len());
        let width = names.max().unwrap_or_default();
        for report in &self.reports {
            writeln!(
                f,
                "{:width$}  {:7}  {:6.1} s",
                report.name,
                report.verdict.word(),
                report.took.as_secs_f64()
            )?;
        }
        let whole: Duration = self.reports.iter().map(|report| report.took).sum();
        let word = if self.passed() { "ok" } else { "FAILED" };
        write!(
            f,
            "{:width$}  {word:7}  {:6.1} s",
            "all",
            whole.as_secs_f64()
        )
    }
}

impl Verdict {
    fn word(&self) -> &'static str {
        match self {
            Self::Passed => "ok",
            Self::Failed => "FAILED",
            Self::Skipped(_) => "skipped",
        }
    }
}
