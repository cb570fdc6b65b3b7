//! How open questions of a call are settled, and what resumes a call that waits.

use std::borrow::Cow;

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
    /// The same where a service needs the consent of a person.
    pub(crate) consent: Approvals,
    /// What a call that goes on knows of itself. Few do.
    going_on: Option<Box<GoingOn>>,
}

#[derive(Debug)]
struct GoingOn {
    /// Gates that earlier decisions passed, and the one that was decided now.
    passed: Vec<Gate>,
    /// The suspension that this call resumes.
    resumed: Suspension,
    /// What came back for it, until it is admitted.
    resolution: Option<Resolution>,
    /// Whose resolution it is, where that is said.
    by: Option<Cow<'static, str>>,
    /// The result that came from outside.
    outside: Option<Box<Result<Produced, ToolFailure>>>,
}

impl Gating {
    /// Of a call that goes on after a suspension, and suspends again where it has to.
    pub(crate) fn resumed(suspension: Suspension, resolution: Resolution) -> Self {
        let mut passed = suspension.passed.clone();
        passed.push(suspension.gate.clone());
        Self {
            approvals: Approvals::Suspend,
            consent: Approvals::Suspend,
            going_on: Some(Box::new(GoingOn {
                passed,
                resumed: suspension,
                resolution: Some(resolution),
                by: None,
                outside: None,
            })),
        }
    }

    /// Whether the call may end as a suspension.
    pub(crate) fn may_suspend(&self) -> bool {
        self.approvals == Approvals::Suspend || self.consent == Approvals::Suspend
    }

    /// Says who resolved the suspension.
    pub(crate) fn set_by(&mut self, by: Cow<'static, str>) {
        if let Some(going_on) = &mut self.going_on {
            going_on.by = Some(by);
        }
    }

    /// Who resolved the suspension.
    pub(crate) fn by(&self) -> Option<&str> {
        self.going_on.as_ref()?.by.as_deref()
    }

    pub(crate) fn passed(&self) -> &[Gate] {
        let going_on = self.going_on.as_ref();
        going_on.map_or(&[], |going_on| &going_on.passed)
    }

    pub(crate) fn suspension(&self) -> Option<&Suspension> {
        self.going_on.as_ref().map(|going_on| &going_on.resumed)
    }

    /// What came back, once.
    pub(crate) fn take_resolution(&mut self) -> Option<Resolution> {
        self.going_on.as_mut()?.resolution.take()
    }

    /// Keeps the result that came from outside until the call executes.
    pub(crate) fn keep_outside(&mut self, result: Box<Result<Produced, ToolFailure>>) {
        if let Some(going_on) = &mut self.going_on {
            going_on.outside = Some(result);
        }
    }

    /// The result that came from outside, once.
    pub(crate) fn take_outside(&mut self) -> Option<Box<Result<Produced, ToolFailure>>> {
        self.going_on.as_mut()?.outside.take()
    }
}
