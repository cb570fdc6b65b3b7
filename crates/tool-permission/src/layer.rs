//! Rules that come from one place.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use tool_core::{AgentId, SessionId};

use crate::file;
use crate::rule::Origin;
use crate::{LoadError, LoadErrorKind, Rule};

/// Rules that come from one place: built in, or a policy file.
///
/// Layers only add rules. As deny beats ask and ask beats allow wherever a rule stands, no layer
/// can undo a deny of another, and neither their order nor that of their rules matters.
#[derive(Clone, Debug)]
pub struct Layer {
    name: Arc<str>,
    rules: Vec<Rule>,
}

impl Layer {
    /// A layer of rules that were written in code, under a name that explanations show.
    ///
    /// # Errors
    /// [`LoadErrorKind::Value`] when a rule can never do what it
    /// says.
    pub fn new(
        name: impl Into<Arc<str>>,
        rules: impl IntoIterator<Item = Rule>,
    ) -> Result<Self, LoadError> {
        let name = name.into();
        let origin = Origin {
            place: Arc::clone(&name),
            line: 0,
        };
        let rules = rules.into_iter().map(|rule| {
            rule.check().map_err(|problem| {
                let problem = format!("rule \"{rule}\": {problem}");
                LoadError::new(LoadErrorKind::Value, &name, problem)
            })?;
            Ok(rule.at(origin.clone()))
        });
        Ok(Self {
            rules: rules.collect::<Result<_, _>>()?,
            name: Arc::clone(&name),
        })
    }

    /// Reads a policy file. It blocks.
    ///
    /// # Errors
    /// [`LoadError`] when the file is not there, cannot be read whole, or holds anything that the
    /// grammar does not know. Nothing of such a file is in force.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, LoadError> {
        let path = path.as_ref();
        let name = path.display().to_string();
        let text = fs::read_to_string(path).map_err(|error| LoadError::unreadable(&name, error))?;
        Self::parse(name, &text)
    }

    /// Reads the text of a policy file, under the name that errors and explanations show.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn parse(name: impl Into<Arc<str>>, text: &str) -> Result<Self, LoadError> {
        Self::parse_beside(name, text, &[])
    }

    /// Reads the rules of a text that holds more than a policy: the top-level keys in `beside` are
    /// left to whoever reads them.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn parse_beside(
        name: impl Into<Arc<str>>,
        text: &str,
        beside: &[&str],
    ) -> Result<Self, LoadError> {
        let name = name.into();
        Ok(Self {
            rules: file::rules(&name, text, beside)?,
            name,
        })
    }

    /// Makes the layer hold for one agent alone, by its exact id.
    ///
    /// ```
    /// use tool_permission::{Layer, Rule};
    ///
    /// # fn main() -> Result<(), tool_permission::LoadError> {
    /// let explore = Layer::new("explore", [Rule::deny("write", "**")])?.of_agent("explore");
    /// # let _ = explore;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn of_agent(self, agent: impl Into<AgentId>) -> Self {
        let agent = agent.into();
        self.map(|rule| rule.only_agent(agent.clone()))
    }

    /// Makes the layer hold for one session alone.
    #[must_use]
    pub fn of_session(self, session: impl Into<SessionId>) -> Self {
        let session = session.into();
        self.map(|rule| rule.only_session(session.clone()))
    }

    fn map(self, narrow: impl Fn(Rule) -> Rule) -> Self {
        Self {
            name: self.name,
            rules: self.rules.into_iter().map(narrow).collect(),
        }
    }

    /// The file, or the name that the layer was given.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The rules, as they stand in the file.
    #[must_use]
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    pub(crate) fn into_rules(self) -> Vec<Rule> {
        self.rules
    }
}
