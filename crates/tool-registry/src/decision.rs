//! How open questions of a call are settled, and what resumes a call that waits.

use tool_core::{Gate, Produced, Suspension, ToolFailure, Verdict};

/// What happens to a question that policy or a tool leaves open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "there is no third way")]
pub enum Approvals {
    /// The approver is asked and awaited. The default. A call that needs consent to a service is
    /// refused.
    #[default]
    Inline,
    /// The call ends as a suspension, which the host carries and resumes with
    /// [`Snapshot::resume`](crate::Snapshot::resume). Where the door cannot suspend, it is refused.
    Suspend,
}

/// What comes back for a suspended call: a [`Verdict`] on one that waits for somebody's word, or
/// the result of one that is settled from outside. Either is made by `into()`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Resolution {
    /// Somebody's word.
    Verdict(Verdict),
    /// The result of a call that is settled from outside. It is held to the tool's output schema,
    /// ceiling and bound like any other.
    Result(Box<Result<Produced, ToolFailure>>),
}

impl From<Verdict> for Resolution {
    fn from(verdict: Verdict) -> Self {
        Self::Verdict(verdict)
    }
}

impl From<Result<Produced, ToolFailure>> for Resolution {
    fn from(result: Result<Produced, ToolFailure>) -> Self {
        Self::Result(Box::new(result))
    }
}

/// What is known of a call's gates when it enters the pipeline.
#[derive(Debug, Default)]
pub(crate) struct Gating {
    pub(crate) approvals: Approvals,
    /// Gates that earlier decisions passed.
    pub(crate) passed: Vec<Gate>,
    /// The suspension that this call resumes.
    pub(crate) resumed: Option<Box<Suspension>>,
    /// What came back for it, until it is admitted.
    pub(crate) resolution: Option<Box<Resolution>>,
    /// The result that came from outside.
    pub(crate) outside: Option<Box<Result<Produced, ToolFailure>>>,
}
