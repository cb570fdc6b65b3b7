//! One rule.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;
use tool_core::{AgentId, Decision, Request, Ruling, SessionId};

use crate::condition::{Condition, Holds};
use crate::{Approval, Effect, Pattern};

/// One rule: what may be done to what, and by whom.
///
/// ```
/// use tool_permission::{Effect, Rule};
///
/// let rule = Rule::deny("read", "**/.env").reason("secrets stay where they are");
/// assert_eq!(rule.effect(), Effect::Deny);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    effect: Effect,
    action: Arc<str>,
    resource: Pattern,
    reason: Option<String>,
    source: Option<Pattern>,
    agent: Option<Pattern>,
    arguments: Vec<Condition>,
    sticky: bool,
    /// The one agent that its layer is for.
    only_agent: Option<AgentId>,
    /// The one session that its layer is for.
    only_session: Option<SessionId>,
    /// The approval that it stands for, where it stands for one.
    saved: Option<Arc<Approval>>,
    origin: Origin,
}

/// Where a rule comes from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Origin {
    /// The file, or the name of the layer where there is none.
    pub(crate) place: Arc<str>,
    /// The line of the rule's table, counted from 1; 0 where there is no file.
    pub(crate) line: usize,
}

impl Rule {
    /// The action of going outside of the workspace, beside what is done there.
    pub const EXTERNAL: &'static str = "external";

    /// The action of running a line in a shell.
    pub const SHELL: &'static str = "shell";

    /// The actions whose resources are always paths.
    pub(crate) const PATH_ACTIONS: [&'static str; 3] = ["read", "write", Self::EXTERNAL];

    /// The word that stands for every action.
    pub const ANY_ACTION: &'static str = "*";

    /// A rule without conditions, written in code.
    ///
    /// The action is one word, or `*` for every action. How the resource is read is in
    /// [`Pattern`].
    pub fn new(effect: Effect, action: impl Into<Arc<str>>, resource: impl AsRef<str>) -> Self {
        Self {
            effect,
            action: action.into(),
            resource: Pattern::new(resource),
            reason: None,
            source: None,
            agent: None,
            arguments: Vec::new(),
            sticky: false,
            only_agent: None,
            only_session: None,
            saved: None,
            origin: Origin {
                place: "code".into(),
                line: 0,
            },
        }
    }

    /// A rule that allows.
    pub fn allow(action: impl Into<Arc<str>>, resource: impl AsRef<str>) -> Self {
        Self::new(Effect::Allow, action, resource)
    }

    /// A rule that asks.
    pub fn ask(action: impl Into<Arc<str>>, resource: impl AsRef<str>) -> Self {
        Self::new(Effect::Ask, action, resource)
    }

    /// A rule that denies.
    pub fn deny(action: impl Into<Arc<str>>, resource: impl AsRef<str>) -> Self {
        Self::new(Effect::Deny, action, resource)
    }

    /// Sets what the model reads when the rule denies.
    #[must_use]
    pub fn reason(mut self, reason: impl Into<String>) -> Self {
        self.reason = Some(reason.into());
        self
    }

    /// Narrows the rule to tools of a server or plugin whose name matches the pattern.
    #[must_use]
    pub fn source(mut self, source: impl AsRef<str>) -> Self {
        self.source = Some(Pattern::new(source));
        self
    }

    /// Narrows the rule to agents whose id matches the pattern.
    #[must_use]
    pub fn agent(mut self, agent: impl AsRef<str>) -> Self {
        self.agent = Some(Pattern::new(agent));
        self
    }

    /// Narrows the rule to calls with an argument that matches the pattern. The pointer is a JSON
    /// pointer into the arguments of the call, as they would run; several conditions must all hold.
    ///
    /// A text is matched as it is, any other value in its canonical JSON, an absent one not at
    /// all. Arguments are known to the action `call` and to capabilities. Where they are not, the
    /// rule allows nothing, and one that denies or asks makes the request ask.
    ///
    /// ```
    /// use tool_permission::Rule;
    ///
    /// let rule = Rule::allow("call", "db/query").argument("/sql", "SELECT *");
    /// assert_eq!(rule.to_string(), "allow call db/query [/sql=SELECT *]");
    /// ```
    #[must_use]
    pub fn argument(mut self, pointer: impl Into<Arc<str>>, pattern: impl AsRef<str>) -> Self {
        self.arguments.push(Condition::new(pointer, pattern));
        self
    }

    /// Makes a rule that asks ask every time, whatever was answered with "always" before.
    ///
    /// Without it a saved approval answers the question. It says nothing about other effects.
    #[must_use]
    pub fn sticky(mut self) -> Self {
        self.sticky = true;
        self
    }

    /// What the rule does.
    #[must_use]
    pub fn effect(&self) -> Effect {
        self.effect
    }

    /// The action that it is about; `*` is every action.
    #[must_use]
    pub fn action(&self) -> &str {
        &self.action
    }

    /// What it is about.
    #[must_use]
    pub fn resource(&self) -> &Pattern {
        &self.resource
    }

    /// The ruling of a match, naming the rule and its place.
    pub(crate) fn ruling(&self) -> Ruling {
        self.ruled(self.effect.decision(), format!("{self} ({})", self.origin))
            .reason(self.reason.clone())
    }

    /// The ruling of a match that depends on what only running can tell: nothing is sure enough
    /// to deny, and nothing may be allowed.
    pub(crate) fn possible_ruling(&self) -> Ruling {
        self.ruled(Decision::Ask, format!("{self} may match ({})", self.origin))
    }

    /// A ruling of this rule with the text for the operator. The text of a saved approval is what
    /// was asked about, so that the approval is named by its id alone.
    fn ruled(&self, decision: Decision, told: String) -> Ruling {
        match self.saved {
            Some(_) => Ruling::of_rule(decision, self.origin.to_string()).told_as(told),
            None => Ruling::of_rule(decision, told),
        }
    }

    /// Whether the rule can do what it says. The text of the error names the way out.
    pub(crate) fn check(&self) -> Result<(), String> {
        let action = self.action();
        let wild = action.contains(['*', '?']) && action != Self::ANY_ACTION;
        if action.is_empty()
            || wild
            || action.contains(|c: char| c.is_whitespace() || c.is_control())
        {
            return Err("`action` must be one word, or \"*\" for every action".to_owned());
        }
        if self.sticky && self.effect != Effect::Ask {
            return Err("only a rule that asks can be `sticky`; leave it out".to_owned());
        }
        self.arguments.iter().try_for_each(Condition::check)?;
        let resource = self.resource.as_str();
        if resource.trim().is_empty() || resource.contains('\0') {
            return Err(
                "`resource` must not be blank or hold a NUL; write \"*\" for everything".to_owned(),
            );
        }
        if Self::PATH_ACTIONS.contains(&action) {
            self.check_path(resource)?;
        }
        Ok(())
    }

    fn check_path(&self, resource: &str) -> Result<(), String> {
        if resource.split('/').any(|segment| segment == "..") {
            return Err(
                "a path with `..` never matches, as paths are compared without it; write where it leads"
                    .to_owned(),
            );
        }
        if resource.len() > 1 && resource.ends_with('/') {
            return Err(format!(
                "a path with a slash at the end never matches; write \"{resource}**\" for a folder and all in it"
            ));
        }
        let anywhere = resource.starts_with(['/', '~', '*', '?']) || Path::new(resource).has_root();
        if self.action() == Self::EXTERNAL && !anywhere {
            return Err(
                "a relative path never matches outside of the workspace; write it absolute or with `~`"
                    .to_owned(),
            );
        }
        Ok(())
    }

    pub(crate) fn saved_as(mut self, approval: Arc<Approval>) -> Self {
        self.saved = Some(approval);
        self
    }

    pub(crate) fn saved(&self) -> Option<&Approval> {
        self.saved.as_deref()
    }

    /// The one of two rules that explains a decision.
    pub(crate) fn preferred<'a>(one: &'a Self, other: &'a Self) -> &'a Self {
        match one.preference() <= other.preference() {
            true => one,
            false => other,
        }
    }

    pub(crate) fn at(mut self, origin: Origin) -> Self {
        self.origin = origin;
        self
    }

    pub(crate) fn is_sticky(&self) -> bool {
        self.sticky
    }

    /// The order in which rules explain a decision that several of them lead to: all that makes a
    /// rule, so that no two different ones stand in the order of their layers.
    pub(crate) fn preference(&self) -> impl Ord + use<> {
        let text = |pattern: &Option<Pattern>| pattern.as_ref().map(|p| p.as_str().to_owned());
        (
            self.origin.clone(),
            Arc::clone(&self.action),
            self.resource.as_str().to_owned(),
            text(&self.source),
            text(&self.agent),
            self.arguments
                .iter()
                .map(Condition::to_string)
                .collect::<Vec<_>>(),
            (self.reason.clone(), self.sticky),
            (self.only_agent.clone(), self.only_session.clone()),
        )
    }

    /// Whether the conditions on who asks, and with which arguments, hold. An absent fact meets no
    /// condition; arguments that are not known may.
    pub(crate) fn applies_to(&self, request: &Request<'_>) -> Holds {
        let source = request.source.and_then(|source| source.namespace());
        let agent = request.facts.agent_id();
        let only = self.only_agent.is_none() || self.only_agent.as_ref() == agent;
        let session =
            self.only_session.is_none() || self.only_session.as_ref() == request.facts.session_id();
        let who = only
            && session
            && holds(self.source.as_ref(), source.map(|name| name.as_str()))
            && holds(self.agent.as_ref(), agent.map(|id| id.as_str()));
        Holds::of(who).min(self.arguments_hold(|| request.arguments()))
    }

    /// Whether the conditions on arguments hold.
    pub(crate) fn arguments_hold<'v>(
        &self,
        arguments: impl FnOnce() -> Option<&'v Value>,
    ) -> Holds {
        if self.arguments.is_empty() {
            return Holds::Yes;
        }
        let arguments = arguments();
        let holds = self.arguments.iter().map(|one| one.holds(arguments));
        holds.min().unwrap_or(Holds::Yes)
    }

    /// Whether there are conditions on arguments.
    pub(crate) fn looks_at_arguments(&self) -> bool {
        !self.arguments.is_empty()
    }

    /// Whether every request that the other applies to is one that this applies to, as far as that
    /// can be told.
    pub(crate) fn applies_at_least_like(&self, other: &Self) -> bool {
        let within = |own: &Option<Pattern>, others: &Option<Pattern>| match (own, others) {
            (None, _) => true,
            (Some(own), Some(others)) => own.contains_names(others),
            (Some(_), None) => false,
        };
        within(&self.source, &other.source)
            && within(&self.agent, &other.agent)
            && (self.only_agent.is_none() || self.only_agent == other.only_agent)
            && (self.only_session.is_none() || self.only_session == other.only_session)
            && self.arguments.iter().all(|own| {
                other.arguments.iter().any(|others| {
                    own.pointer() == others.pointer()
                        && own.pattern().contains_names(others.pattern())
                })
            })
    }

    /// Narrows the rule to one agent.
    pub(crate) fn only_agent(mut self, agent: AgentId) -> Self {
        self.only_agent = Some(agent);
        self
    }

    /// Narrows the rule to one session.
    pub(crate) fn only_session(mut self, session: SessionId) -> Self {
        self.only_session = Some(session);
        self
    }

    /// The rule with its file and line, for people.
    #[must_use]
    pub fn named(&self) -> String {
        format!("\"{self}\" ({})", self.origin)
    }

    /// The file or layer that the rule comes from.
    #[must_use]
    pub fn place(&self) -> &str {
        &self.origin.place
    }

    /// The line of the rule in its file, counted from 1; none for a rule that is in no file.
    #[must_use]
    pub fn line(&self) -> Option<usize> {
        (self.origin.line > 0).then_some(self.origin.line)
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.effect, self.action, self.resource)?;
        match self.arguments.as_slice() {
            [] => Ok(()),
            conditions => {
                let shown: Vec<_> = conditions.iter().map(Condition::to_string).collect();
                write!(f, " [{}]", shown.join(", "))
            }
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(&self.place),
            line => write!(f, "{}:{line}", self.place),
        }
    }
}

fn holds(condition: Option<&Pattern>, fact: Option<&str>) -> bool {
    match (condition, fact) {
        (None, _) => true,
        (Some(pattern), Some(fact)) => pattern.matches(fact),
        (Some(_), None) => false,
    }
}
