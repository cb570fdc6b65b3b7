//! What a host may do around every call.

use serde_json::Value;
use thiserror::Error;

use crate::{Arguments, BoxFuture, CallId, Declarations, Digest, Facts, Identity, Settlement};

/// Runs before a call is looked up, for unknown names too.
///
/// It may repair name and arguments, or reject the call by an error: a hook that fails, panics or
/// takes too long refuses, it never lets through. Hooks run one after the other, and again when a
/// suspended call goes on: one that makes other arguments of the same call then has it refused.
///
/// ```
/// use tool_core::{BeforeHook, BoxFuture, Facts, HookError, Incoming};
///
/// /// Lets nobody call anything outside of a session.
/// struct InSession;
///
/// impl BeforeHook for InSession {
///     fn before<'a>(
///         &'a self,
///         _incoming: &'a mut Incoming,
///         facts: &'a Facts,
///     ) -> BoxFuture<'a, Result<(), HookError>> {
///         let known = facts.session_id().is_some();
///         Box::pin(async move {
///             known.then_some(()).ok_or_else(|| HookError::rejected("begin a session first"))
///         })
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(message = "`{Self}` is not a hook that runs before calls")]
pub trait BeforeHook: Send + Sync {
    /// Looks at a call, and may change it.
    ///
    /// # Errors
    /// [`HookError`] to refuse the call. The model reads only what [`HookError::rejected`] gives.
    ///
    /// # Cancel safety
    /// The future is dropped when the call is, or when it takes too long.
    fn before<'a>(
        &'a self,
        incoming: &'a mut Incoming,
        facts: &'a Facts,
    ) -> BoxFuture<'a, Result<(), HookError>>;
}

/// Runs after a call that reached execution, with the bounded settlement; not for one that was
/// refused, also while it ran, or that waits.
///
/// It may transform what is shown. Nothing is bounded a second time. It must not fail over what it
/// only observes: one that fails or panics makes a defect of a call that ran.
#[diagnostic::on_unimplemented(message = "`{Self}` is not a hook that runs after calls")]
pub trait AfterHook: Send + Sync {
    /// Looks at a settlement, and may change it.
    ///
    /// # Errors
    /// [`HookError`] makes the call a defect; what the tool produced is then not shown.
    ///
    /// # Cancel safety
    /// The future is dropped when the call is, or when the call runs out of its time.
    fn after<'a>(
        &'a self,
        settlement: &'a mut Settlement,
        call: &'a SettledCall<'a>,
    ) -> BoxFuture<'a, Result<(), HookError>>;
}

/// The call that a settlement is of.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct SettledCall<'a> {
    /// Who called.
    pub facts: &'a Facts,
    /// The tool that ran, whatever name it was called by.
    pub identity: &'a Identity,
    /// What the tool declares of itself.
    pub declarations: &'a Declarations,
    /// The arguments that ran, references to artifacts unredeemed.
    pub arguments: Option<&'a Value>,
    /// The digest of the text that is kept as an artifact and for which a ticket is shown, or that was
    /// truncated and is kept nowhere, where the settlement has no output to tell by.
    pub placed: Option<Digest>,
}

impl<'a> SettledCall<'a> {
    /// A call of a tool.
    #[must_use]
    pub fn new(
        facts: &'a Facts,
        identity: &'a Identity,
        declarations: &'a Declarations,
        arguments: Option<&'a Value>,
    ) -> Self {
        Self {
            facts,
            identity,
            declarations,
            arguments,
            placed: None,
        }
    }

    /// Says of which text a ticket is shown, or which was truncated.
    #[must_use]
    pub fn placed(mut self, placed: Option<Digest>) -> Self {
        self.placed = placed;
        self
    }
}

/// A call on its way in.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Incoming {
    /// The id that the call came with. Changing it changes nothing: settlements keep theirs.
    pub id: Option<CallId>,
    /// The wire name.
    pub name: String,
    /// The arguments, not yet parsed. A rule about values belongs into policy, which sees them as
    /// they will run: a text may spell one value in many ways, and is put right only later.
    pub arguments: Arguments,
}

impl Incoming {
    /// A call on its way in.
    pub fn new(id: Option<CallId>, name: impl Into<String>, arguments: Arguments) -> Self {
        Self {
            id,
            name: name.into(),
            arguments,
        }
    }
}

/// A hook that refuses, or that broke.
#[derive(Debug, Error)]
#[error("{operator}")]
pub struct HookError {
    operator: String,
    model: Option<String>,
}

impl HookError {
    /// A deliberate refusal, with the text that the model reads.
    pub fn rejected(reason: impl Into<String>) -> Self {
        let reason = reason.into();
        Self {
            operator: format!("hook rejected the call: {reason}"),
            model: Some(reason),
        }
    }

    /// A hook that broke. Only the operator reads the text.
    pub fn broken(operator: impl Into<String>) -> Self {
        Self {
            operator: operator.into(),
            model: None,
        }
    }

    /// What the model reads, if the refusal was deliberate.
    #[must_use]
    pub fn model(&self) -> Option<&str> {
        self.model.as_deref()
    }
}
