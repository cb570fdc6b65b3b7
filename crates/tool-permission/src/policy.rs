//! The policy that rules make.

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

use tool_core::{
    Action, BoxFuture, Capability, Decision, NobodyToAsk, Permission, Policy, PolicyError, Request,
    Resource, Ruling,
};

use crate::index::Index;
use crate::judge::{Judge, strictest};
use crate::path::Places;
use crate::rule::Origin;
use crate::subject::Subject;
use crate::{Layer, ProbedVolumes, Rule, Volumes, command};

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
/// - Approvals that were [saved](crate::Desk) allow what they match, except what a rule denies or
///   what a sticky rule asks.
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
/// let pages = vec![Resource::from("https://docs.rs/tokio")];
/// let ruling = policy.judge(&Request::new(Action::new("fetch"), pages, &facts));
/// assert_eq!(ruling.decision, Decision::Allow);
/// # Ok(())
/// # }
/// ```
pub struct RulePolicy {
    rules: Index,
    saved: RwLock<Arc<Index>>,
    places: Places,
}

impl RulePolicy {
    /// A policy of the rules of all layers, with no home directory known.
    pub fn new(layers: impl IntoIterator<Item = Layer>) -> Self {
        let rules = layers.into_iter().flat_map(Layer::into_rules).collect();
        Self {
            rules: Index::new(rules, None),
            saved: RwLock::default(),
            places: Places {
                home: None,
                volumes: Arc::new(ProbedVolumes::new()),
            },
        }
    }

    /// Sets the home directory that a leading `~` stands for, in rules and in requests.
    ///
    /// Without one, a path that starts with `~` is never allowed.
    #[must_use]
    pub fn home(mut self, home: impl Into<PathBuf>) -> Self {
        let home = home.into();
        self.rules = Index::new(self.rules.into_rules(), Some(home.clone()));
        self.places.home = Some(home);
        self
    }

    /// Takes the home directory of the user who runs the process, as the environment has it.
    #[must_use]
    pub fn home_of_user(self) -> Self {
        match std::env::home_dir() {
            Some(home) if home.is_absolute() => self.home(home),
            _ => self,
        }
    }

    /// Sets what tells whether a volume ignores case. Defaults to [`ProbedVolumes`].
    #[must_use]
    pub fn volumes(mut self, volumes: impl Volumes + 'static) -> Self {
        self.places.volumes = Arc::new(volumes);
        self
    }

    /// This policy with nobody to ask: what it does not allow is denied.
    #[must_use]
    pub fn headless(self) -> Permission {
        Permission::new(self, NobodyToAsk)
    }

    /// Decides a request. It blocks while it looks at the file system.
    #[must_use]
    pub fn judge(&self, request: &Request<'_>) -> Ruling {
        let saved = Arc::clone(&self.saved.read().unwrap_or_else(PoisonError::into_inner));
        let judge = Judge::new(request, &self.rules, &saved, &self.places);
        // Of no resource the strictest ruling is to deny.
        strictest(
            request
                .resources
                .iter()
                .map(|resource| resource_ruling(&judge, request, resource)),
        )
    }

    /// Allows from now on what the patterns match, for the action, within what rules deny.
    pub(crate) fn save(&self, action: &str, patterns: &[String]) {
        if patterns.is_empty() {
            return;
        }
        let origin = Origin {
            place: "saved approval".into(),
            line: 0,
        };
        let mut saved = self.saved.write().unwrap_or_else(PoisonError::into_inner);
        let mut rules = saved.rules().to_vec();
        for pattern in patterns {
            let rule = Rule::allow(action, pattern).at(origin.clone());
            if !rules.contains(&rule) {
                rules.push(rule);
            }
        }
        *saved = Arc::new(Index::new(rules, self.places.home.clone()));
    }
}

fn resource_ruling(judge: &Judge<'_>, request: &Request<'_>, resource: &Resource) -> Ruling {
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
        Box::pin(async move { Ok(self.judge(request)) })
    }

    fn governs(&self, capability: &Capability) -> bool {
        self.rules.has_action(capability.as_str())
    }
}

impl fmt::Debug for RulePolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RulePolicy")
            .field("rules", &self.rules.rules().len())
            .finish_non_exhaustive()
    }
}
