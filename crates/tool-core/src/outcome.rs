//! How a call ended.

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::{CallId, FailureOrigin, Refusal, RefusalKind, Suspension, ToolFailure};

/// How a call ended: typed, never to be told by text.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Outcome {
    /// The tool ran and its output fits its codec.
    Completed,
    /// The tool ran and reported a failure that it meant to report.
    Failed(ToolFailure),
    /// The call was refused, and unless it asked for leave while running, did not run.
    Refused(Refusal),
    /// The call waits for a decision. Nothing has run.
    Suspended(Box<Suspension>),
    /// The call was cancelled. Effects that came before stay.
    Cancelled,
    /// The call took longer than its timeout. Effects that came before stay.
    TimedOut {
        /// The timeout.
        after: Duration,
    },
    /// Something broke that nobody meant the model to read about.
    Defect(Defect),
    /// The call was never started.
    NotDispatched {
        /// The call that stopped the batch, where one did.
        stopped_by: Option<CallId>,
    },
}

impl Outcome {
    /// Whether the model is told that the call did not succeed.
    #[must_use]
    pub fn is_error(&self) -> bool {
        !matches!(self, Self::Completed | Self::Suspended(_))
    }

    /// Where the call failed; `None` for one that completed or that waits.
    #[must_use]
    pub fn origin(&self) -> Option<FailureOrigin> {
        Some(match self {
            Self::Completed | Self::Suspended(_) => return None,
            Self::Failed(_) => FailureOrigin::Handler,
            Self::Refused(refusal) => match refusal.kind() {
                RefusalKind::Unknown | RefusalKind::Unavailable | RefusalKind::InvalidArguments => {
                    FailureOrigin::Validation
                }
                RefusalKind::Ceiling | RefusalKind::TooLong | RefusalKind::Columns => {
                    FailureOrigin::Result
                }
                _ => FailureOrigin::Denied,
            },
            Self::Cancelled | Self::TimedOut { .. } | Self::NotDispatched { .. } => {
                FailureOrigin::Interrupted
            }
            Self::Defect(defect) => match defect.kind() {
                DefectKind::Panic | DefectKind::Handler | DefectKind::Unasserted => {
                    FailureOrigin::Handler
                }
                DefectKind::Output
                | DefectKind::Projection
                | DefectKind::Retention
                | DefectKind::Hook => FailureOrigin::Result,
            },
        })
    }

    /// Whether the model may succeed by calling again in another way.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::Failed(_) | Self::TimedOut { .. } | Self::NotDispatched { .. } => true,
            Self::Refused(refusal) => matches!(
                refusal.kind(),
                RefusalKind::Unknown
                    | RefusalKind::InvalidArguments
                    | RefusalKind::Artifact
                    | RefusalKind::Component
                    | RefusalKind::Ceiling
                    | RefusalKind::TooLong
            ),
            Self::Completed | Self::Suspended(_) | Self::Cancelled | Self::Defect(_) => false,
        }
    }

    /// What refused the call or what broke, in one word that is stable across versions; `None` for
    /// every other outcome.
    #[must_use]
    pub fn kind(&self) -> Option<&'static str> {
        match self {
            Self::Refused(refusal) => Some(refusal.kind().as_str()),
            Self::Defect(defect) => Some(defect.kind().as_str()),
            _ => None,
        }
    }

    /// One word, stable across versions: `completed`, `failed`, `refused`, `cancelled`,
    /// `timed_out`, `defect`, `suspended` or `not_dispatched`.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Failed(_) => "failed",
            Self::Refused(_) => "refused",
            Self::Suspended(_) => "suspended",
            Self::Cancelled => "cancelled",
            Self::TimedOut { .. } => "timed_out",
            Self::Defect(_) => "defect",
            Self::NotDispatched { .. } => "not_dispatched",
        }
    }
}

/// A fault of the tool or of the runtime: a panic, an unexpected error, an output that does not
/// fit, a store that could not keep the whole.
///
/// [`Display`](fmt::Display) is for the operator. The model reads one fixed text.
#[derive(Clone, Debug)]
pub struct Defect {
    kind: DefectKind,
    source: Option<Arc<dyn Error + Send + Sync>>,
}

/// The sort of a [`Defect`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DefectKind {
    /// The handler, a projection or a hook panicked.
    Panic,
    /// The handler returned an error that is no [`ToolFailure`].
    Handler,
    /// The output does not fit the tool's own output schema, or cannot be encoded.
    Output,
    /// A projection failed.
    Projection,
    /// The output was too long to show and could not be retained whole.
    Retention,
    /// A hook failed after the call.
    Hook,
    /// The tool says that it formulates its own permission request and completed without one.
    Unasserted,
}

impl DefectKind {
    /// One word, stable across versions.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Panic => "panic",
            Self::Handler => "handler",
            Self::Output => "output",
            Self::Projection => "projection",
            Self::Retention => "retention",
            Self::Hook => "hook",
            Self::Unasserted => "unasserted",
        }
    }
}

impl Defect {
    /// What a model reads of any defect.
    pub const MODEL_TEXT: &'static str =
        "the tool failed unexpectedly; it may have run in part, and calling again may not help";

    /// A defect without a cause.
    #[must_use]
    pub fn new(kind: DefectKind) -> Self {
        Self { kind, source: None }
    }

    /// A defect with its cause.
    pub fn because(kind: DefectKind, cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self {
            kind,
            source: Some(Arc::from(cause.into())),
        }
    }

    /// A defect whose cause is shared.
    #[must_use]
    pub fn shared(kind: DefectKind, cause: Arc<dyn Error + Send + Sync>) -> Self {
        Self {
            kind,
            source: Some(cause),
        }
    }

    /// Which sort it is.
    #[must_use]
    pub fn kind(&self) -> DefectKind {
        self.kind
    }
}

impl fmt::Display for Defect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.kind {
            DefectKind::Panic => "tool panicked",
            DefectKind::Handler => "tool returned an unexpected error",
            DefectKind::Output => "tool output does not fit its schema",
            DefectKind::Projection => "tool output could not be projected",
            DefectKind::Retention => "tool output could not be retained whole",
            DefectKind::Hook => "hook failed after the call",
            DefectKind::Unasserted => {
                "tool completed without the permission request that it declares"
            }
        })
    }
}

impl Error for Defect {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source
            .as_deref()
            .map(|source| source as &(dyn Error + 'static))
    }
}
