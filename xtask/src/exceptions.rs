//! The places where a rule is set aside, each with its reason.

use serde::Deserialize;

use crate::{Error, Finding, Rule};

/// The list of exceptions.
#[derive(Clone, Debug, Default)]
pub struct Exceptions {
    entries: Vec<Exception>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Exception {
    /// The rule, by its name in findings.
    rule: String,
    /// The file in which it is set aside.
    path: String,
    /// Why that is right.
    reason: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    #[serde(default)]
    exception: Vec<Exception>,
}

impl Exceptions {
    /// Where the list lies.
    pub const PATH: &'static str = "xtask/exceptions.toml";

    /// Reads the list.
    ///
    /// # Errors
    /// When it is no TOML, or an entry has other keys than rule, path and reason.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let document: Document = toml::from_str(text)
            .map_err(|error| Error::because(format!("{} could not be read", Self::PATH), error))?;
        Ok(Self {
            entries: document.exception,
        })
    }

    /// Takes out what is excused, and adds a finding for every entry without a reason and every
    /// entry that excuses nothing.
    #[must_use]
    pub fn apply(&self, findings: Vec<Finding>) -> Vec<Finding> {
        let mut used = vec![false; self.entries.len()];
        let mut kept = Vec::new();
        for finding in findings {
            let mut excused = false;
            for (entry, used) in self.entries.iter().zip(&mut used) {
                if entry.path == finding.path && entry.rule == finding.rule.as_str() {
                    *used = true;
                    excused = true;
                }
            }
            if !excused {
                kept.push(finding);
            }
        }
        for (entry, used) in self.entries.iter().zip(used) {
            let about = format!("\"{}\" for {}", entry.rule, entry.path);
            if entry.reason.trim().is_empty() {
                kept.push(complaint(format!("{about} has no reason")));
            }
            if !used {
                kept.push(complaint(format!("{about} excuses nothing; take it out")));
            }
        }
        kept
    }
}

fn complaint(message: String) -> Finding {
    Finding::new(Rule::Exception, Exceptions::PATH, message)
}
