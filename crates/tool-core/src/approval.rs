//! When a tool wants a person's leave, whatever policy says.

use std::error::Error;
use std::fmt;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::contained::contained;
use crate::{BoxFuture, CallId, Facts};

type Failure = Box<dyn Error + Send + Sync>;
type Predicate =
    dyn Fn(&Value, CallFacts) -> BoxFuture<'static, Result<bool, Failure>> + Send + Sync;
type Trips = dyn Fn(&Value) -> Result<bool, Failure> + Send + Sync;

/// What a predicate is told of a call beside its input.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct CallFacts {
    /// Who calls.
    pub facts: Facts,
    /// The id of the call, where it has one.
    pub call: Option<CallId>,
}

impl CallFacts {
    /// The facts of a call.
    #[must_use]
    pub fn new(facts: Facts, call: Option<CallId>) -> Self {
        Self { facts, call }
    }
}

/// Whether calls of a tool need approval. A predicate that fails says yes.
///
/// ```
/// use tool_core::{CallFacts, NeedsApproval};
///
/// #[derive(serde::Deserialize)]
/// struct Refund {
///     cents: u64,
/// }
///
/// let large = NeedsApproval::when(|refund: Refund, _: CallFacts| async move {
///     Ok(refund.cents > 10_000)
/// });
/// # let _ = large;
/// ```
#[derive(Clone, Default)]
pub struct NeedsApproval(Approval);

#[derive(Clone, Default)]
enum Approval {
    #[default]
    Never,
    Always,
    When(Arc<Predicate>),
}

impl NeedsApproval {
    /// No call needs approval. The default.
    pub const NEVER: Self = Self(Approval::Never);
    /// Every call needs approval.
    pub const ALWAYS: Self = Self(Approval::Always);

    /// Calls need approval for which the predicate says so, over the decoded input.
    ///
    /// The predicate runs once for each attempt, after validation, and again when the call is
    /// resumed. One that fails, panics, cannot read the input or takes longer than the runtime
    /// lets its gates take says yes.
    pub fn when<I, F, Fut>(predicate: F) -> Self
    where
        I: DeserializeOwned,
        F: Fn(I, CallFacts) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<bool, Failure>> + Send + 'static,
    {
        Self(Approval::When(Arc::new(
            move |input, facts| match I::deserialize(input) {
                Ok(input) => Box::pin(predicate(input, facts)),
                Err(error) => Box::pin(async move { Err(error.into()) }),
            },
        )))
    }

    /// Whether no call needs approval, whatever its input.
    #[must_use]
    pub fn is_never(&self) -> bool {
        matches!(self.0, Approval::Never)
    }

    /// Whether a call needs approval. A predicate that fails, panics or cannot read the input
    /// counts as yes.
    ///
    /// # Cancel safety
    /// As the predicate's.
    pub async fn holds(&self, input: &Value, facts: impl FnOnce() -> CallFacts) -> bool {
        match &self.0 {
            Approval::Never => false,
            Approval::Always => true,
            Approval::When(predicate) => {
                let facts = facts();
                let Some(mut asking) = contained(|| predicate(input, facts)) else {
                    return true;
                };
                poll_fn(|cx| match contained(|| asking.as_mut().poll(cx)) {
                    Some(Poll::Pending) => Poll::Pending,
                    Some(Poll::Ready(said)) => Poll::Ready(said.unwrap_or(true)),
                    None => Poll::Ready(true),
                })
                .await
            }
        }
    }
}

impl From<bool> for NeedsApproval {
    fn from(always: bool) -> Self {
        if always { Self::ALWAYS } else { Self::NEVER }
    }
}

impl fmt::Debug for NeedsApproval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Approval::Never => "Never",
            Approval::Always => "Always",
            Approval::When(_) => "When(..)",
        })
    }
}

/// A tool checks in with a person before it acts, and may bring a component to ask with.
///
/// ```
/// use tool_core::{CheckIn, Component};
///
/// #[derive(serde::Deserialize)]
/// struct Mail {
///     to: Vec<String>,
/// }
///
/// let crowd = CheckIn::when(|mail: Mail| Ok(mail.to.len() > 10));
/// let crowd = crowd.component(Component::new("recipients"));
/// assert!(crowd.trips(&serde_json::json!({"to": "not a list"})), "what cannot be read asks");
/// ```
#[derive(Clone)]
pub struct CheckIn {
    trips: Option<Arc<Trips>>,
    component: Option<Component>,
}

/// A piece of user interface that collects the answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Component {
    /// Which component of the host.
    pub id: String,
    /// What it is given.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub props: Map<String, Value>,
}

impl Component {
    /// A component of the host, without props.
    pub fn new(id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            props: Map::new(),
        }
    }

    /// Sets what it is given.
    #[must_use]
    pub fn props(mut self, props: Map<String, Value>) -> Self {
        self.props = props;
        self
    }
}

impl CheckIn {
    /// Every call checks in.
    #[must_use]
    pub fn always() -> Self {
        Self {
            trips: None,
            component: None,
        }
    }

    /// Calls check in for which the predicate says so, over the decoded input. One that fails,
    /// panics or cannot read the input says yes.
    pub fn when<I: DeserializeOwned>(
        trips: impl Fn(I) -> Result<bool, Failure> + Send + Sync + 'static,
    ) -> Self {
        let trips = move |input: &Value| trips(I::deserialize(input)?);
        Self {
            trips: Some(Arc::new(trips)),
            component: None,
        }
    }

    /// Brings a component to ask with.
    #[must_use]
    pub fn component(mut self, component: Component) -> Self {
        self.component = Some(component);
        self
    }

    /// Whether a call checks in.
    #[must_use]
    pub fn trips(&self, input: &Value) -> bool {
        let Some(trips) = &self.trips else {
            return true;
        };
        !matches!(contained(|| trips(input)), Some(Ok(false)))
    }

    /// The component to ask with, if there is one.
    #[must_use]
    pub fn asks_with(&self) -> Option<&Component> {
        self.component.as_ref()
    }
}

impl fmt::Debug for CheckIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CheckIn")
            .field("always", &self.trips.is_none())
            .field("component", &self.component)
            .finish()
    }
}
