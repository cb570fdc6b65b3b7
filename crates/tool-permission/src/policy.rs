//! The policy that rules make.

use std::collections::HashMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

use tool_core::{
    Action, AgentId, BoxFuture, Capability, Decision, ErrorChain, Facts, NobodyToAsk, Permission,
    Policy, PolicyError, Request, Resource, Ruling, SessionId,
};

use crate::index::Index;
use crate::judge::{Judge, Saved, strictest};
use crate::path::Places;
use crate::subject::Subject;
use crate::{Approvals, Layer, ProbedVolumes, Rule, Volumes, command};

/// Decides requests by rules: deny beats ask, ask beats allow, and what no rule matches is asked.
///
/// All resources of a request are judged: one that is denied denies it, else one that is asked
/// asks it. Neither the order of the rules nor that of the layers changes a decision.
///
/// - A call of a tool as a whole that no rule matches is left to the tool, where the tool asks
///   for itself; otherwise it is asked.
/// - A capability is governed when a rule has it as its action, or has the action `*`.
/// - A path is judged as it is spelled and as it really is, with all links followed, and the
///   stricter answer counts. Outside of its root it needs an allow of `external` as well. What
///   names nothing (empty, a NUL, a loop of links) is denied.
/// - A line for a shell is read by its grammar. Every command in it is judged, also behind wrappers
///   and in substitutions, and every file that it redirects to as a path. A line that cannot be
///   read is asked at best.
/// - [`Approvals`] that were saved allow what they match, except what a rule denies or what a
///   sticky rule asks.
/// - An agent that works for another gets what both may.
///
/// Judging a path looks at the file system and blocks for as long as that takes.
///
/// ```
/// use tool_core::{Action, Decision, Facts, Request, Resource};
/// use tool_permission::{Layer, Rule, RulePolicy};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let rules = [Rule::allow("fetch", "https://docs.rs/*"), Rule::deny("fetch", "*?token=*")];
/// let policy = RulePolicy::new([Layer::new("built in", rules)?]);
///
/// let facts = Facts::new();
/// let pages = [Resource::from("https://docs.rs/tokio")];
/// let ruling = policy.judge(&Request::new(Action::new("fetch"), pages, &facts));
/// assert_eq!(ruling.decision, Decision::Allow);
/// # Ok(())
/// # }
/// ```
pub struct RulePolicy {
    rules: Index,
    /// Layers that came after the start, each for a session.
    sessions: RwLock<HashMap<SessionId, Arc<Index>>>,
    /// For whom agents work.
    parents: RwLock<HashMap<AgentId, AgentId>>,
    approvals: Approvals,
    places: Places,
    workspace: Option<PathBuf>,
}

impl RulePolicy {
    /// A policy of the rules of all layers, with no home directory known, and with approvals that
    /// live as long as the process.
    pub fn new(layers: impl IntoIterator<Item = Layer>) -> Self {
        let rules = layers.into_iter().flat_map(Layer::into_rules).collect();
        Self {
            rules: Index::new(rules, None, None),
            sessions: RwLock::default(),
            parents: RwLock::default(),
            approvals: Approvals::in_memory(),
            places: Places {
                home: None,
                volumes: Arc::new(ProbedVolumes::new()),
            },
            workspace: None,
        }
    }

    /// Sets the home directory that a leading `~` stands for, in rules and in requests.
    ///
    /// Without one, a path that starts with `~` is never allowed.
    #[must_use]
    pub fn home(mut self, home: impl Into<PathBuf>) -> Self {
        self.places.home = Some(home.into());
        self.arranged()
    }

    /// Takes the home directory of the user who runs the process, as the environment has it.
    #[must_use]
    pub fn home_of_user(self) -> Self {
        match std::env::home_dir() {
            Some(home) if home.is_absolute() => self.home(home),
            _ => self,
        }
    }

    /// Sets the folder that relative paths of rules start from, so that a rule that denies or asks
    /// about a link also does so about what the link leads to.
    ///
    /// Without one, a relative rule holds for the path that it spells. Links are followed once,
    /// when a rule is first needed.
    #[must_use]
    pub fn workspace(mut self, root: impl Into<PathBuf>) -> Self {
        self.workspace = Some(root.into());
        self.arranged()
    }

    /// Sets what tells whether a volume ignores case. Defaults to [`ProbedVolumes`].
    #[must_use]
    pub fn volumes(mut self, volumes: impl Volumes + 'static) -> Self {
        self.places.volumes = Arc::new(volumes);
        self
    }

    /// Sets where saved approvals are kept. Defaults to [`Approvals::in_memory`].
    #[must_use]
    pub fn approvals(mut self, approvals: Approvals) -> Self {
        self.approvals = approvals;
        self
    }

    /// The approvals that answer what the rules ask.
    #[must_use]
    pub fn saved(&self) -> &Approvals {
        &self.approvals
    }

    /// Adds a layer for a session, beside all others and beside earlier ones of that session. It
    /// goes with [`end_session`](Self::end_session).
    pub fn start_session(&self, session: impl Into<SessionId>, layer: Layer) {
        let session = session.into();
        let mut sessions = self
            .sessions
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        let earlier = sessions.get(&session);
        let mut rules = earlier.map_or_else(Vec::new, |index| index.rules().to_vec());
        rules.extend(layer.of_session(session.clone()).into_rules());
        let index = self.index(rules);
        sessions.insert(session, Arc::new(index));
    }

    /// Drops the layers of a session.
    pub fn end_session(&self, session: &SessionId) {
        let mut sessions = self
            .sessions
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        sessions.remove(session);
    }

    /// Says that an agent works for another: from now on it may do what both may, and those that
    /// the other works for in turn. Whatever its own rules say, it gets no more.
    ///
    /// ```
    /// use tool_core::{Action, Decision, Facts, Request, Resource};
    /// use tool_permission::{Layer, Rule, RulePolicy};
    ///
    /// # fn main() -> Result<(), tool_permission::LoadError> {
    /// let build = Layer::new("build", [Rule::deny("write", "**")])?.of_agent("build");
    /// let explore = Layer::new("explore", [Rule::allow("write", "**")])?.of_agent("explore");
    /// let policy = RulePolicy::new([build, explore]);
    /// policy.start_child("explore", "build");
    ///
    /// let facts = Facts::new().agent("explore");
    /// let file = [Resource::path("/repo", "a.rs")];
    /// let ruling = policy.judge(&Request::new(Action::new("write"), file, &facts));
    /// assert_eq!(ruling.decision, Decision::Deny);
    /// # Ok(())
    /// # }
    /// ```
    pub fn start_child(&self, child: impl Into<AgentId>, parent: impl Into<AgentId>) {
        let mut parents = self.parents.write().unwrap_or_else(PoisonError::into_inner);
        parents.insert(child.into(), parent.into());
    }

    /// Forgets for whom an agent works, once it does nothing any more.
    pub fn end_child(&self, child: &AgentId) {
        let mut parents = self.parents.write().unwrap_or_else(PoisonError::into_inner);
        parents.remove(child);
    }

    /// This policy with nobody to ask: what it does not allow is denied.
    #[must_use]
    pub fn headless(self) -> Permission {
        Permission::new(self, NobodyToAsk)
    }

    /// Decides a request by the rules and the approvals that were seen last. It blocks while it
    /// looks at the file system.
    ///
    /// [`decide`](Policy::decide) also looks for approvals that another gateway gave or took back,
    /// and for one of this call alone.
    #[must_use]
    pub fn judge(&self, request: &Request<'_>) -> Ruling {
        let approved = self.approvals.current();
        self.judge_with(request, Saved::Of(&approved, self.approvals.now()))
    }

    fn judge_with(&self, request: &Request<'_>, saved: Saved<'_>) -> Ruling {
        self.with_judges(request, saved, |judges| {
            // Of no resource the strictest ruling is to deny.
            strictest(judges.iter().flat_map(|(judge, request)| {
                let resources = request.resources.iter();
                resources.map(|resource| resource_ruling(judge, request, resource))
            }))
        })
    }

    /// Shows one judge for the agent that asks, and one for each that it works for.
    pub(crate) fn with_judges<T>(
        &self,
        request: &Request<'_>,
        saved: Saved<'_>,
        then: impl FnOnce(&[(Judge<'_>, &Request<'_>)]) -> T,
    ) -> T {
        let session = request.facts.session_id().and_then(|session| {
            let sessions = self.sessions.read().unwrap_or_else(PoisonError::into_inner);
            sessions.get(session).cloned()
        });
        let mut layers = vec![&self.rules];
        layers.extend(session.as_deref());
        let ancestors: Vec<Facts> = self
            .ancestors(request.facts.agent_id())
            .into_iter()
            .map(|agent| request.facts.clone().agent(agent))
            .collect();
        let of_ancestors: Vec<Request<'_>> = ancestors
            .iter()
            .map(|facts| {
                let mut request = request.clone();
                request.facts = facts;
                request
            })
            .collect();
        let judges: Vec<_> = std::iter::once(request)
            .chain(&of_ancestors)
            .map(|request| (Judge::new(request, &layers, saved, &self.places), request))
            .collect();
        then(&judges)
    }

    /// For whom an agent works, and for whom they do.
    fn ancestors(&self, agent: Option<&AgentId>) -> Vec<AgentId> {
        let Some(agent) = agent else {
            return Vec::new();
        };
        let parents = self.parents.read().unwrap_or_else(PoisonError::into_inner);
        let mut found: Vec<AgentId> = Vec::new();
        let mut next = parents.get(agent);
        while let Some(parent) = next
            && parent != agent
            && !found.contains(parent)
        {
            found.push(parent.clone());
            next = parents.get(parent);
        }
        found
    }

    fn index(&self, rules: Vec<Rule>) -> Index {
        Index::new(rules, self.places.home.clone(), self.workspace.clone())
    }

    fn arranged(mut self) -> Self {
        let rules = std::mem::take(&mut self.rules).into_rules();
        self.rules = self.index(rules);
        self
    }

    async fn decide_by_all(&self, request: &Request<'_>) -> Ruling {
        let by_rules = self.judge_with(request, Saved::None);
        if by_rules.decision != Decision::Ask {
            return by_rules;
        }
        if let Err(error) = self.approvals.refresh().await {
            let because = format!("{}; {}", by_rules.because, ErrorChain::of(&error));
            // It stays the ruling of its rule: whoever asks whether a rule spoke is told so.
            return by_rules.told_as(because);
        }
        let (approved, now) = (self.approvals.current(), self.approvals.now());
        if approved.is_empty() {
            return by_rules;
        }
        let ruling = self.judge_with(request, Saved::Of(&approved, now));
        let Some(approval) = approved.of_call(request, now) else {
            return ruling;
        };
        if ruling.decision != Decision::Ask {
            return ruling;
        }
        let rule = approval.rule();
        let whole = self.judge_with(request, Saved::Whole(&rule));
        let allowed = whole.decision == Decision::Allow;
        match allowed && matches!(self.approvals.use_up(approval).await, Ok(true)) {
            true => whole,
            false => ruling,
        }
    }
}

pub(crate) fn resource_ruling(
    judge: &Judge<'_>,
    request: &Request<'_>,
    resource: &Resource,
) -> Ruling {
    let action = request.action.as_str();
    match resource {
        Resource::Name(name) => {
            let subject = Subject::name(name);
            if request.asserts && request.action == Action::CALL {
                return judge.rule(action, &subject).unwrap_or_else(|| {
                    // The tool meets this policy again when it asks.
                    Ruling::new(Decision::Allow, "left to the tool's own request")
                });
            }
            judge.subject(action, &subject)
        }
        Resource::Path { root, path } => judge.path(action, root, root, path),
        Resource::Command { root, cwd, line } => command::rule(judge, action, root, cwd, line),
        _ => Ruling::new(Decision::Deny, "this kind of resource is not known"),
    }
}

impl Policy for RulePolicy {
    fn decide<'a>(
        &'a self,
        request: &'a Request<'a>,
    ) -> BoxFuture<'a, Result<Ruling, PolicyError>> {
        Box::pin(async move { Ok(self.decide_by_all(request).await) })
    }

    fn decide_at_once(&self, request: &Request<'_>) -> Option<Result<Ruling, PolicyError>> {
        let is_name = |resource: &Resource| matches!(resource, Resource::Name(_));
        // Names need no look at the file system, so that looking twice costs little.
        if !request.resources.iter().all(is_name) {
            return None;
        }
        let ruling = self.judge_with(request, Saved::None);
        // What is to be asked may be answered by approvals, which may have changed.
        (ruling.decision != Decision::Ask).then_some(Ok(ruling))
    }

    fn governs(&self, capability: &Capability) -> bool {
        let sessions = self.sessions.read().unwrap_or_else(PoisonError::into_inner);
        std::iter::once(&self.rules)
            .chain(sessions.values().map(|index| &**index))
            .any(|rules| rules.has_action(capability.as_str()))
    }
}

impl fmt::Debug for RulePolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RulePolicy")
            .field("rules", &self.rules.rules().len())
            .finish_non_exhaustive()
    }
}
