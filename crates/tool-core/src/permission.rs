//! Policy and approver together, as the gate and the tools use them.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::{
    Action, Answer, Approver, Ask, BoxFuture, Capability, ClosedPolicy, Context, Decision, Denial,
    ErrorChain, EventKind, Gate, IntoResources, NobodyToAsk, Policy, PolicyError, Refusal, Request,
    Resources, Ruling,
};

/// Decides requests and asks where the decision is to ask. A tool captures one when it is built.
///
/// Without a policy everything is asked, and without anybody to ask everything is denied.
///
/// ```
/// use tool_core::{Context, HandlerError, Permission, Tool};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Forget {
///     topic: String,
/// }
///
/// fn forget(permission: Permission) -> Tool {
///     Tool::new("Forget a topic", move |input: Forget, cx: Context| {
///         let permission = permission.clone();
///         async move {
///             permission.assert(&cx, "forget", [&input.topic]).save("*").await?;
///             Ok("forgotten")
///         }
///     })
///     .asserts_permission()
///     .into()
/// }
/// # let _ = forget(Permission::closed());
/// ```
#[derive(Clone)]
pub struct Permission {
    policy: Arc<dyn Policy>,
    approver: Arc<dyn Approver>,
}

impl Permission {
    /// A policy, and who is asked where it says so.
    pub fn new(policy: impl Policy + 'static, approver: impl Approver + 'static) -> Self {
        Self {
            policy: Arc::new(policy),
            approver: Arc::new(approver),
        }
    }

    /// No policy and nobody to ask: everything that is asked for is denied.
    #[must_use]
    pub fn closed() -> Self {
        Self::new(ClosedPolicy, NobodyToAsk)
    }

    /// Asks for leave to do something, from inside a handler, and names one resource at least.
    ///
    /// Await the result, and pass its error on with `?`: it is this call's refusal. The refusal
    /// also sticks to the call, so that no error mapping of the handler can turn a "no" into
    /// output.
    ///
    /// # Cancel safety
    /// Dropping the future withdraws the question; nothing is saved.
    pub fn assert<'a>(
        &'a self,
        cx: &'a Context,
        action: &'a str,
        resources: impl IntoResources<'a>,
    ) -> Assertion<'a> {
        Assertion {
            permission: self,
            cx,
            action,
            resources: resources.into_resources(),
            save: Vec::new(),
            metadata: Map::new(),
        }
    }

    /// Decides a request without asking anybody and without waiting; `None` where the policy has
    /// to wait, and then `then` was not called. Otherwise the ruling is that of
    /// [`decide`](Self::decide), and what is made of it comes back. It is lent, as most are looked at
    /// and no more.
    #[inline]
    #[must_use = "`None` is no leave: the policy has to be waited for"]
    pub fn decide_at_once<T>(
        &self,
        request: &Request<'_>,
        then: impl FnOnce(&Ruling) -> T,
    ) -> Option<T> {
        let decided = self.policy.decide_at_once(request);
        decided.as_ref().map(|decided| match decided {
            Ok(ruling) => then(ruling),
            Err(error) => then(&broken(error)),
        })
    }

    /// Decides a request without asking anybody. A policy that fails denies.
    ///
    /// # Cancel safety
    /// Dropping the future changes nothing.
    pub async fn decide(&self, request: &Request<'_>) -> Ruling {
        let decided = match self.policy.decide_at_once(request) {
            Some(decided) => decided,
            None => self.policy.decide(request).await,
        };
        decided.unwrap_or_else(|error| broken(&error))
    }

    /// Carries a ruling out: allowed, asked and approved, or refused.
    ///
    /// # Errors
    /// The refusal, when the ruling denies, nobody can be asked, asking fails or the answer is no.
    ///
    /// # Cancel safety
    /// Dropping the future withdraws the question.
    pub async fn enforce(&self, request: &Request<'_>, ruling: &Ruling) -> Result<(), Refusal> {
        self.enforce_told(request, ruling).await.0
    }

    /// The same, and who gave the answer. `None` where nobody was asked, nobody answered, or the
    /// approver does not say.
    ///
    /// # Cancel safety
    /// Dropping the future withdraws the question.
    pub async fn enforce_told(
        &self,
        request: &Request<'_>,
        ruling: &Ruling,
    ) -> (Result<(), Refusal>, Option<Cow<'static, str>>) {
        let denied = |because: String| {
            Refusal::Denied(
                Denial::new(request.action.as_str(), because).reason(ruling.reason.clone()),
            )
        };
        let asked = match ruling.decision {
            Decision::Allow => return (Ok(()), None),
            Decision::Deny => return (Err(denied(ruling.because.to_string())), None),
            Decision::Ask => self.approver.ask(Ask::new(request, ruling)).await,
        };
        let word = match asked {
            Ok(word) => word,
            Err(error) => return (Err(denied(ErrorChain::of(&error).to_string())), None),
        };
        match word.answer {
            Answer::Approved => (Ok(()), word.by),
            Answer::Declined { note } => (Err(Refusal::Declined { note }), word.by),
            Answer::Stopped { note } => (Err(Refusal::Stopped { note }), word.by),
            Answer::Nobody => {
                let because = format!("{}, and nobody is there to ask", ruling.because);
                (Err(denied(because)), None)
            }
        }
    }

    /// Whether the policy has a say on a capability.
    #[must_use]
    pub fn governs(&self, capability: &Capability) -> bool {
        self.policy.governs(capability)
    }
}

/// The ruling of a policy that fails.
#[cold]
fn broken(error: &PolicyError) -> Ruling {
    Ruling::new(Decision::Deny, ErrorChain::of(error).to_string())
}

impl Default for Permission {
    fn default() -> Self {
        Self::closed()
    }
}

impl fmt::Debug for Permission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Permission(..)")
    }
}

/// A request that is being formulated. Await it.
#[must_use = "nothing is asked until it is awaited"]
pub struct Assertion<'a> {
    permission: &'a Permission,
    cx: &'a Context,
    action: &'a str,
    resources: Resources<'a>,
    save: Vec<String>,
    metadata: Map<String, Value>,
}

impl Assertion<'_> {
    /// Adds a pattern that "always" would allow from now on. Without one, "always" means "once".
    pub fn save(mut self, pattern: impl Into<String>) -> Self {
        self.save.push(pattern.into());
        self
    }

    /// Adds a datum for the person who is asked.
    pub fn metadata(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.metadata.insert(key.into(), value.into());
        self
    }
}

impl<'a> IntoFuture for Assertion<'a> {
    type Output = Result<(), Refusal>;
    type IntoFuture = BoxFuture<'a, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let cx = self.cx;
            let mut request = Request::new(Action::new(self.action), self.resources, cx.facts());
            request.save = &self.save;
            request.metadata = Some(&self.metadata);
            request.call = cx.call_id();
            request.tool = cx.tool();
            request.source = cx.source();

            let ruling = self.permission.decide(&request).await;
            let action = self.action;
            tell(cx, || EventKind::Asserted {
                action,
                ruling: &ruling,
            });
            let gate = (ruling.decision == Decision::Ask).then(|| Gate::Policy {
                action: action.to_owned(),
            });
            if let Some(gate) = &gate {
                tell(cx, || EventKind::Asked(gate));
            }
            let (answer, by) = self.permission.enforce_told(&request, &ruling).await;
            if let Some(gate) = &gate {
                tell(cx, || EventKind::Answered {
                    gate,
                    approved: answer.is_ok(),
                    by: by.as_deref(),
                });
            }
            match &answer {
                Ok(()) => cx.note_assertion(),
                Err(refusal) => cx.note_refusal(refusal.clone()),
            }
            answer
        })
    }
}

impl fmt::Debug for Assertion<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Assertion")
            .field("action", &self.action)
            .finish_non_exhaustive()
    }
}

/// Tells what happened in the course of a call, until it has settled.
fn tell<'e>(cx: &Context, kind: impl FnOnce() -> EventKind<'e>) {
    if !cx.host().state().is_settled() {
        cx.host().tell(kind());
    }
}
