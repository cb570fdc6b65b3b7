//! What a person allowed from now on.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::json;
use tool_core::{AgentId, Digest, Request, SessionId, canonical_json};

use crate::rule::Origin;
use crate::{Effect, Rule};

/// An approval that outlives its question: what a person allowed, for whom, and until when.
///
/// It allows exactly what its pattern matches, for its action, and is qualified by the tool and
/// the definition that it was given for. It answers ask rules that are not sticky, and never lifts
/// a deny.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Approval {
    /// Its name. The same approval has the same name wherever it is given.
    pub id: String,
    /// The action that is allowed.
    pub action: String,
    /// The pattern of what is allowed, as it was shown.
    pub resource: String,
    /// For whom.
    pub scope: Scope,
    /// The tool that it is for; any where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The digest of the definition that it is for. Another definition is another tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub definition: Option<String>,
    /// When it was given, in milliseconds since 1970-01-01 UTC.
    pub created_ms: u64,
    /// When it ends, in the same unit; never where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_ms: Option<u64>,
}

/// For whom an approval holds.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Scope {
    /// One call, once: the tool by its identity and definition, its canonical arguments and its
    /// caller. The text is a digest over them.
    Call(String),
    /// One session.
    Session(SessionId),
    /// One agent, in every session.
    Agent(AgentId),
    /// The whole project.
    Project,
}

impl Approval {
    /// How long an approval of one call waits for it.
    pub const CALL_LASTS: Duration = Duration::from_secs(60 * 60);

    /// Allows what the pattern matches, for an action.
    ///
    /// It is given at no time yet; [`Approvals::grant`](crate::Approvals::grant) dates it.
    #[must_use]
    pub fn new(action: impl Into<String>, resource: impl Into<String>, scope: Scope) -> Self {
        let mut approval = Self {
            id: String::new(),
            action: action.into(),
            resource: resource.into(),
            scope,
            tool: None,
            definition: None,
            created_ms: 0,
            expires_ms: None,
        };
        approval.id = approval.name();
        approval
    }

    /// Allows one call once. None where the request does not say which call it is: its tool, the
    /// definition and the arguments have to be known.
    #[must_use]
    pub fn of_call(request: &Request<'_>) -> Option<Self> {
        let resource = request.tool?.to_string();
        let binding = binding(request)?;
        let approval = Self::new(request.action.as_str(), resource, Scope::Call(binding));
        Some(approval.for_tool_of(request))
    }

    /// Qualifies it by the tool of a request and its definition.
    #[must_use]
    pub fn for_tool_of(mut self, request: &Request<'_>) -> Self {
        self.tool = request.tool.map(ToString::to_string);
        self.definition = request.definition.map(Digest::to_string);
        self.id = self.name();
        self
    }

    /// Qualifies it by a tool, written as its identity: the name, or namespace and name with a
    /// slash between.
    #[must_use]
    pub fn for_tool(mut self, tool: impl Into<String>) -> Self {
        self.tool = Some(tool.into());
        self.id = self.name();
        self
    }

    /// Whether it holds for what a request names, as far as the request alone goes.
    pub(crate) fn applies_to(&self, request: &Request<'_>, now: u64) -> bool {
        let of_tool = match &self.tool {
            None => true,
            Some(tool) => request.tool.is_some_and(|asked| asked.to_string() == *tool),
        };
        let as_defined = match &self.definition {
            None => true,
            Some(digest) => request
                .definition
                .is_some_and(|asked| asked.to_string() == *digest),
        };
        let in_scope = match &self.scope {
            Scope::Call(bound) => binding(request).is_some_and(|asked| asked == *bound),
            Scope::Session(session) => request.facts.session_id() == Some(session),
            Scope::Agent(agent) => request.facts.agent_id() == Some(agent),
            Scope::Project => true,
        };
        !self.is_over(now) && of_tool && as_defined && in_scope
    }

    pub(crate) fn is_over(&self, now: u64) -> bool {
        self.expires_ms.is_some_and(|end| end <= now)
    }

    /// The rule that it stands for.
    pub(crate) fn rule(self: &Arc<Self>) -> Rule {
        let place = format!("saved approval {}", self.id);
        Rule::new(Effect::Allow, self.action.as_str(), &self.resource)
            .at(Origin {
                place: place.into(),
                line: 0,
            })
            .saved_as(Arc::clone(self))
    }

    /// What is wrong with it, if anything is.
    pub(crate) fn check(&self) -> Result<(), String> {
        Rule::new(Effect::Allow, self.action.as_str(), &self.resource).check()
    }

    fn name(&self) -> String {
        let whole = json!([
            self.action,
            self.resource,
            self.scope,
            self.tool,
            self.definition
        ]);
        let digest = Digest::of_json(&whole).hex();
        format!("ap_{}", digest.get(..16).unwrap_or(&digest))
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Call(_) => f.write_str("one call"),
            Self::Session(session) => write!(f, "session {session}"),
            Self::Agent(agent) => write!(f, "agent {agent}"),
            Self::Project => f.write_str("project"),
        }
    }
}

/// What makes a call this call: the tool by identity and definition, the action, the canonical
/// arguments and the caller.
pub(crate) fn binding(request: &Request<'_>) -> Option<String> {
    let tool = request.tool?.to_string();
    let definition = request.definition?.to_string();
    let arguments = canonical_json(request.arguments()?);
    let facts = request.facts;
    let caller = json!([facts.session_id(), facts.agent_id(), facts.identification()]);
    let parts = [
        tool.as_str(),
        &definition,
        request.action.as_str(),
        &arguments,
        &canonical_json(&caller),
    ];
    Some(Digest::of_parts(&parts).hex())
}
