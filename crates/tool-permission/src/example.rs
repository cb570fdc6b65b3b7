//! Examples that authors write beside a rule.

use std::path::Path;

use serde_json::Value;

use crate::condition::Holds;
use crate::path::rule_text;
use crate::subject::{Spelling, Subject};
use crate::{CommandAnalysis, Pattern, Rule, command};

/// What a rule is tried on when its file is loaded.
#[derive(Clone, Debug)]
pub(crate) struct Example {
    pub(crate) resource: String,
    /// Without arguments the conditions on them are left aside.
    pub(crate) arguments: Option<Value>,
}

impl Example {
    pub(crate) fn of(resource: &str) -> Self {
        Self {
            resource: resource.to_owned(),
            arguments: None,
        }
    }

    /// Whether the rule matches, read as the rule is read when it is in force.
    ///
    /// A line matches when one of its commands does. What is read as a name or as a path depends
    /// on who asks, so that for actions of a tool's own either reading counts.
    pub(crate) fn matches(&self, rule: &Rule) -> bool {
        let arguments = match &self.arguments {
            None => true,
            given => rule.arguments_hold(|| given.as_ref()) == Holds::Yes,
        };
        arguments && self.resource_matches(rule)
    }

    fn resource_matches(&self, rule: &Rule) -> bool {
        match rule.action() {
            Rule::SHELL => {
                let analysis = CommandAnalysis::new("/", "/", &self.resource);
                command::matches(&analysis, rule.effect(), rule.resource())
            }
            action if Rule::PATH_ACTIONS.contains(&action) => self.is_path_of(rule),
            _ => rule.resource().matches(&self.resource) || self.is_path_of(rule),
        }
    }

    fn is_path_of(&self, rule: &Rule) -> bool {
        let spelling = Spelling::Composed;
        let text = |text: &str| spelling.fold(&rule_text(text, None));
        let pattern = Pattern::new(text(rule.resource().as_str()));
        let path = text(&self.resource);
        let absolute = Path::new(&path).has_root() || !pattern.as_str().starts_with('/');
        absolute && pattern.covers(&Subject::path(&path))
    }
}
