//! Scenarios that are not held to pass.

use serde::Deserialize;

use super::Outcomes;
use crate::Error;

/// The list of scenarios that are not held to pass, each with its reason.
#[derive(Clone, Debug, Default)]
pub struct LeftOut {
    entries: Vec<Entry>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    /// `server` or `client`.
    #[serde(default = "server")]
    leg: String,
    /// The revision whose requirements are run.
    revision: String,
    /// The scenario, as the suite names it; with `/*` behind it all of a family.
    name: String,
    /// Why that is right.
    reason: String,
}

fn server() -> String {
    "server".to_owned()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    #[serde(default)]
    scenario: Vec<Entry>,
}

impl LeftOut {
    /// Where the list lies.
    pub const PATH: &'static str = "tests/conformance/left-out.toml";

    /// Reads the list.
    ///
    /// # Errors
    /// When it is no TOML, an entry has other keys, or one has no reason.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let document: Document = toml::from_str(text)
            .map_err(|error| Error::because(format!("{} could not be read", Self::PATH), error))?;
        match document
            .scenario
            .iter()
            .find(|entry| entry.reason.trim().is_empty())
        {
            Some(entry) => Err(Error::new(format!("{} has no reason", entry.name))),
            None => Ok(Self {
                entries: document.scenario,
            }),
        }
    }

    /// What is wrong with how a run ended.
    #[must_use]
    pub fn judge(&self, leg: &str, revision: &str, outcomes: &Outcomes) -> Vec<String> {
        let mut complaints = Vec::new();
        if outcomes.is_empty() {
            complaints.push(format!("{leg}, {revision}: no scenario ran"));
        }
        let of_run = |entry: &&Entry| entry.leg == leg && entry.revision == revision;
        for name in outcomes.failed() {
            let mut entries = self.entries.iter().filter(of_run);
            if !entries.any(|entry| entry.names(name)) {
                complaints.push(format!("{leg}, {revision}: {name} failed"));
            }
        }
        for entry in self.entries.iter().filter(of_run) {
            let name = &entry.name;
            match entry.passed(outcomes) {
                Some(false) => {}
                Some(true) => complaints.push(format!(
                    "{leg}, {revision}: {name} passes; take it out of {}",
                    Self::PATH
                )),
                None => complaints.push(format!(
                    "{leg}, {revision}: {name} did not run; take it out of {}",
                    Self::PATH
                )),
            }
        }
        complaints
    }
}

impl Entry {
    fn names(&self, scenario: &str) -> bool {
        match self.name.strip_suffix('*') {
            Some(family) if family.ends_with('/') => scenario.starts_with(family),
            _ => self.name == scenario,
        }
    }

    /// Whether all that it names passed. `None` where nothing of it ran.
    fn passed(&self, outcomes: &Outcomes) -> Option<bool> {
        let named = outcomes.all().filter(|(name, _)| self.names(name));
        named
            .map(|(_, passed)| passed)
            .reduce(|all, one| all && one)
    }
}

#[cfg(test)]
mod tests;
