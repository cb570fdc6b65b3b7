//! What the host knows about the caller.

use std::sync::Arc;

use crate::{AgentId, MessageId, RunId, SessionId};

/// The facts of one caller, exactly as the host gave them.
///
/// Every field is optional and an absent one stays absent: neither the registry nor a tool makes
/// one up. Calls of one model response share their facts; the call's own id travels with the
/// [`Call`](crate::Call). Clones are cheap.
///
/// ```
/// use tool_core::Facts;
///
/// let facts = Facts::new().session("s1").agent("build");
/// assert_eq!(facts.session_id().map(|id| id.as_str()), Some("s1"));
/// assert!(facts.message_id().is_none());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct Facts(Arc<Known>);

#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
struct Known {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    session: Option<SessionId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    agent: Option<AgentId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    message: Option<MessageId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    run: Option<RunId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    identity: Option<Identification>,
}

/// Who the host says the caller is.
///
/// This is what the caller passed, never something that the runtime concluded.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub struct Identification {
    /// The person or service, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub principal: Option<String>,
    /// The organisation that the principal acts in, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
}

impl Identification {
    /// An identity with a principal and no tenant.
    pub fn principal(principal: impl Into<String>) -> Self {
        Self {
            principal: Some(principal.into()),
            tenant: None,
        }
    }

    /// The same principal inside a tenant.
    #[must_use]
    pub fn tenant(mut self, tenant: impl Into<String>) -> Self {
        self.tenant = Some(tenant.into());
        self
    }
}

impl Facts {
    /// No fact at all.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the session.
    #[must_use]
    pub fn session(mut self, id: impl Into<SessionId>) -> Self {
        self.known().session = Some(id.into());
        self
    }

    /// Sets the agent.
    #[must_use]
    pub fn agent(mut self, id: impl Into<AgentId>) -> Self {
        self.known().agent = Some(id.into());
        self
    }

    /// Sets the assistant message.
    #[must_use]
    pub fn message(mut self, id: impl Into<MessageId>) -> Self {
        self.known().message = Some(id.into());
        self
    }

    /// Sets the run.
    #[must_use]
    pub fn run(mut self, id: impl Into<RunId>) -> Self {
        self.known().run = Some(id.into());
        self
    }

    /// Sets the identity.
    #[must_use]
    pub fn identity(mut self, identity: Identification) -> Self {
        self.known().identity = Some(identity);
        self
    }

    /// The session, if the host gave one.
    #[must_use]
    pub fn session_id(&self) -> Option<&SessionId> {
        self.0.session.as_ref()
    }

    /// The agent, if the host gave one.
    #[must_use]
    pub fn agent_id(&self) -> Option<&AgentId> {
        self.0.agent.as_ref()
    }

    /// The assistant message, if the host gave one.
    #[must_use]
    pub fn message_id(&self) -> Option<&MessageId> {
        self.0.message.as_ref()
    }

    /// The run, if the host gave one.
    #[must_use]
    pub fn run_id(&self) -> Option<&RunId> {
        self.0.run.as_ref()
    }

    /// The identity, if the host gave one.
    #[must_use]
    pub fn identification(&self) -> Option<&Identification> {
        self.0.identity.as_ref()
    }

    fn known(&mut self) -> &mut Known {
        Arc::make_mut(&mut self.0)
    }
}
