//! What a suite found.

use std::fmt;

use tool_core::ErrorChain;

/// How a case came out.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// The promise holds.
    Passed,
    /// The implementation lacks the optional part that the case is about.
    NotApplicable,
    /// The promise does not hold, and the harness says why.
    Declared {
        /// Why, as the harness says.
        reason: String,
    },
    /// The harness says that the promise does not hold, and it does.
    Stale,
    /// The promise does not hold, or the harness lacks what it takes to tell.
    Failed {
        /// What was seen.
        seen: String,
    },
}

/// What a suite found, case by case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use = "a report that nobody looks at proves nothing"]
pub struct Report {
    cases: Vec<(&'static str, Verdict)>,
}

/// Why a case did not hold. Any error becomes one, with its causes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed(pub(crate) Box<Cause>);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    Seen(String),
    NotApplicable,
}

impl Report {
    /// Every case in the order in which it ran.
    #[must_use]
    pub fn cases(&self) -> &[(&'static str, Verdict)] {
        &self.cases
    }

    /// The verdict of a case; a failure for one that there is not.
    #[must_use]
    pub fn verdict(&self, case: &str) -> &Verdict {
        static NONE: Verdict = Verdict::Failed {
            seen: String::new(),
        };
        let found = self.cases.iter().find(|(name, _)| *name == case);
        found.map_or(&NONE, |(_, verdict)| verdict)
    }

    /// Whether nothing failed and nothing is stale.
    #[must_use]
    pub fn is_good(&self) -> bool {
        self.cases
            .iter()
            .all(|(_, verdict)| !matches!(verdict, Verdict::Failed { .. } | Verdict::Stale))
    }

    pub(crate) fn add(
        &mut self,
        name: &'static str,
        ran: Result<(), Failed>,
        declared: Option<&str>,
    ) {
        let verdict = match (ran, declared) {
            (Ok(()), None) => Verdict::Passed,
            (Ok(()), Some(_)) => Verdict::Stale,
            (Err(failed), declared) => match (*failed.0, declared) {
                (Cause::NotApplicable, _) => Verdict::NotApplicable,
                (Cause::Seen(_), Some(reason)) => Verdict::Declared {
                    reason: reason.to_owned(),
                },
                (Cause::Seen(seen), None) => Verdict::Failed { seen },
            },
        };
        self.cases.push((name, verdict));
    }

    /// Adds a failure for whatever is declared and is no case: a name that is spelled wrong would
    /// declare nothing, and a case that was renamed would be declared no more.
    pub(crate) fn find_strangers(&mut self, declared: &[(&'static str, &'static str)]) {
        for (name, _) in declared {
            if !self.cases.iter().any(|(case, _)| case == name) {
                let seen = "it is declared, and there is no case of that name".to_owned();
                self.cases.push((name, Verdict::Failed { seen }));
            }
        }
    }
}

/// A line for each case.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, verdict) in &self.cases {
            match verdict {
                Verdict::Passed => writeln!(f, "passed          {name}")?,
                Verdict::NotApplicable => writeln!(f, "not applicable  {name}")?,
                Verdict::Declared { reason } => writeln!(f, "declared        {name}: {reason}")?,
                Verdict::Stale => writeln!(f, "stale           {name}: it is declared and passes")?,
                Verdict::Failed { seen } => writeln!(f, "FAILED          {name}: {seen}")?,
            }
        }
        Ok(())
    }
}

impl Failed {
    /// What was seen.
    pub fn new(seen: impl Into<String>) -> Self {
        Self(Box::new(Cause::Seen(seen.into())))
    }

    pub(crate) fn not_applicable() -> Self {
        Self(Box::new(Cause::NotApplicable))
    }

    pub(crate) fn no_hook(hook: &str) -> Self {
        Self::new(format!(
            "the harness has no `{hook}`; write it, or declare the case"
        ))
    }
}

impl<E: std::error::Error> From<E> for Failed {
    fn from(error: E) -> Self {
        Self::new(ErrorChain::of(&error).to_string())
    }
}

/// Ends the case unless something holds.
pub(crate) fn ensure(holds: bool, otherwise: impl Into<String>) -> Result<(), Failed> {
    if holds {
        Ok(())
    } else {
        Err(Failed::new(otherwise))
    }
}
