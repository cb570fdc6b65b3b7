//! What was found.

use serde_json::{Value, json};

/// How something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    Ok,
    Problem,
}

/// What was found about one thing.
#[derive(Debug)]
pub(crate) struct Finding {
    pub(crate) level: Level,
    /// The thing, such as `server git`.
    pub(crate) about: String,
    /// How it is, as a clause.
    pub(crate) says: String,
    /// The way out.
    pub(crate) fix: Option<String>,
}

/// All that was found, in order.
#[derive(Debug, Default)]
pub(crate) struct Findings(Vec<Finding>);

impl Level {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Problem => "problem",
        }
    }
}

impl Finding {
    pub(crate) fn document(&self) -> Value {
        json!({
            "level": self.level.as_str(),
            "about": self.about,
            "says": self.says,
            "fix": self.fix,
        })
    }
}

impl Findings {
    pub(crate) fn ok(&mut self, about: impl Into<String>, says: impl Into<String>) {
        self.0.push(Finding {
            level: Level::Ok,
            about: about.into(),
            says: says.into(),
            fix: None,
        });
    }

    pub(crate) fn problem(
        &mut self,
        about: impl Into<String>,
        says: impl Into<String>,
        fix: impl Into<String>,
    ) {
        self.0.push(Finding {
            level: Level::Problem,
            about: about.into(),
            says: says.into(),
            fix: Some(fix.into()),
        });
    }

    pub(crate) fn all(&self) -> &[Finding] {
        &self.0
    }
}
