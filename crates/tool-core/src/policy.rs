//! Who decides what is allowed.

use std::borrow::Cow;
use std::sync::Arc;

use thiserror::Error;

use crate::{BoxFuture, Capability, Request};

/// Decides what is allowed. It never asks anybody; that is the [`Approver`](crate::Approver)'s.
///
/// An implementation fails closed: what it cannot judge it answers with [`Decision::Ask`],
/// [`Decision::Deny`] or an error, and an error counts as a denial. It may be called from many
/// calls at once.
#[diagnostic::on_unimplemented(message = "`{Self}` does not decide permission requests")]
pub trait Policy: Send + Sync {
    /// Decides one request.
    ///
    /// # Errors
    /// [`PolicyError`] when the policy itself is broken; the request is denied and only the
    /// operator reads why.
    ///
    /// # Cancel safety
    /// Dropping the future must change nothing.
    fn decide<'a>(&'a self, request: &'a Request<'a>)
    -> BoxFuture<'a, Result<Ruling, PolicyError>>;

    /// Decides one request without waiting; `None` where it has to wait. Whoever asks may ask here
    /// first, and then takes this answer for that of [`decide`](Self::decide).
    ///
    /// Override it in a policy that decides from what it has at hand: it spares each call a future.
    fn decide_at_once(&self, request: &Request<'_>) -> Option<Result<Ruling, PolicyError>> {
        let _ = request;
        None
    }

    /// Whether the policy has a say on a capability. One that has none is not asked about it.
    fn governs(&self, capability: &Capability) -> bool {
        let _ = capability;
        false
    }
}

/// What may be done with a request. Deny beats ask, ask beats allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a further decision must break every match"
)]
pub enum Decision {
    /// Go on.
    Allow,
    /// Ask a person; without one, deny.
    Ask,
    /// Refuse.
    Deny,
}

impl Decision {
    /// One word, stable across versions: `allow`, `ask` or `deny`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

/// A decision and why.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ruling {
    /// The decision.
    pub decision: Decision,
    /// The reason that the rule's author wrote for the model.
    pub reason: Option<String>,
    /// What decided, for the operator: a rule with its file and line, or the want of one.
    pub because: Cow<'static, str>,
    rule: Named,
}

/// Which rule decided.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Named {
    Nothing,
    Because,
    Rule(Cow<'static, str>),
}

/// A policy that is broken.
#[derive(Clone, Debug, Error)]
#[error("policy could not decide")]
pub struct PolicyError {
    #[source]
    source: Arc<dyn std::error::Error + Send + Sync>,
}

/// The policy of a runtime that was given none: everything is asked, nothing is allowed unasked.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "it holds nothing and never will")]
pub struct ClosedPolicy;

impl Ruling {
    /// A decision with what the operator reads.
    #[inline]
    pub fn new(decision: Decision, because: impl Into<Cow<'static, str>>) -> Self {
        Self {
            decision,
            reason: None,
            because: because.into(),
            rule: Named::Nothing,
        }
    }

    /// A decision of a rule, by the text that names it and its place.
    pub fn of_rule(decision: Decision, rule: impl Into<Cow<'static, str>>) -> Self {
        Self {
            rule: Named::Because,
            ..Self::new(decision, rule)
        }
    }

    /// The rule that decided, where one did. Unlike [`because`](Self::because) it says nothing of
    /// what was asked about, so that it may be kept where arguments may not.
    #[must_use]
    pub fn rule(&self) -> Option<&str> {
        match &self.rule {
            Named::Nothing => None,
            Named::Because => Some(&self.because),
            Named::Rule(rule) => Some(rule),
        }
    }

    /// The same decision with another text for the operator.
    #[must_use]
    pub fn told_as(self, because: impl Into<Cow<'static, str>>) -> Self {
        Self {
            rule: match self.rule {
                Named::Because => Named::Rule(self.because),
                rule => rule,
            },
            because: because.into(),
            ..self
        }
    }

    /// Adds what the model reads.
    #[must_use]
    pub fn reason(mut self, reason: Option<String>) -> Self {
        self.reason = reason;
        self
    }
}

impl PolicyError {
    /// An error with its cause.
    pub fn new(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self {
            source: Arc::from(source.into()),
        }
    }
}

impl Policy for ClosedPolicy {
    fn decide<'a>(
        &'a self,
        request: &'a Request<'a>,
    ) -> BoxFuture<'a, Result<Ruling, PolicyError>> {
        let ruling = closed(request);
        Box::pin(async move { Ok(ruling) })
    }

    fn decide_at_once(&self, request: &Request<'_>) -> Option<Result<Ruling, PolicyError>> {
        Some(Ok(closed(request)))
    }
}

fn closed(request: &Request<'_>) -> Ruling {
    if request.asserts {
        // The tool asks itself, and meets this policy again when it does.
        Ruling::new(Decision::Allow, "left to the tool's own request")
    } else {
        Ruling::new(Decision::Ask, "no policy is configured")
    }
}

impl<P: Policy + ?Sized> Policy for Arc<P> {
    fn decide<'a>(
        &'a self,
        request: &'a Request<'a>,
    ) -> BoxFuture<'a, Result<Ruling, PolicyError>> {
        (**self).decide(request)
    }

    fn decide_at_once(&self, request: &Request<'_>) -> Option<Result<Ruling, PolicyError>> {
        (**self).decide_at_once(request)
    }

    fn governs(&self, capability: &Capability) -> bool {
        (**self).governs(capability)
    }
}
