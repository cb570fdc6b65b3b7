//! The one answer to a call.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use crate::{
    CallId, CallName, Content, Defect, FailureMode, FailureOrigin, Identity, Outcome, Output,
    Refusal, Repair, Retained,
};

/// The settlement of one call: how it ended and what of it is shown.
///
/// There is exactly one for every call, whatever happened to its siblings.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Settlement {
    /// The id that the call came with.
    pub call: Option<CallId>,
    /// The wire name of the tool that ran, else the name as it was called.
    pub tool: CallName,
    /// The tool, whatever name it was called by; absent where none was found.
    pub identity: Option<Identity>,
    /// How the call ended.
    pub outcome: Outcome,
    /// What the model is shown: never empty for an error, bounded.
    pub content: Vec<Content>,
    /// The tool's whole encoded output, untouched by projection, bounding and retention;
    /// [`output`](Self::output) reads it.
    pub output: Option<Output>,
    /// What programs are shown; [`structured`](Self::structured) reads it.
    pub structured: Structured,
    /// Data for programs that is no part of the output, as the tool gave it.
    pub meta: Option<Box<Map<String, Value>>>,
    /// Where longer output was retained.
    pub retained: Vec<Retained>,
    /// What was repaired in the arguments that were validated. None for arguments that did not fit
    /// in the end.
    pub repairs: Vec<Repair>,
    /// How the tool wants its failures to reach a caller that takes a `Result`.
    pub failure_mode: FailureMode,
}

/// What programs are shown of a call.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a further way must break every match"
)]
pub enum Structured {
    /// Nothing.
    #[default]
    Nothing,
    /// The output itself, which is not held twice.
    Output,
    /// Something else: the smaller `structured` projection of the output, or the data of a failure.
    Own(Box<Value>),
}

impl Structured {
    /// A value of its own.
    #[must_use]
    pub fn own(value: Value) -> Self {
        Self::Own(Box::new(value))
    }
}

impl From<Option<Value>> for Structured {
    fn from(value: Option<Value>) -> Self {
        value.map_or(Self::Nothing, Self::own)
    }
}

impl Settlement {
    /// The settlement of a call that produced nothing: the outcome and its text for the model.
    pub fn without_output(
        call: Option<CallId>,
        tool: impl Into<CallName>,
        outcome: Outcome,
    ) -> Self {
        Self {
            call,
            content: text_of(&outcome).map(Content::text).into_iter().collect(),
            outcome,
            ..Self::completed(tool.into())
        }
    }

    /// Makes it the settlement of a call that produced nothing: the outcome and its text for the
    /// model. What is known of the call and of its tool stays, and so do repairs of its arguments.
    pub fn end_without_output(&mut self, outcome: Outcome) {
        // Not cleared: what a tool produced may have had room for much.
        self.content = text_of(&outcome).map(Content::text).into_iter().collect();
        self.outcome = outcome;
        self.output = None;
        self.structured = Structured::Nothing;
        self.meta = None;
        self.retained.clear();
    }

    /// The settlement of a call that completed, so far with nothing to show.
    #[inline]
    #[must_use]
    pub fn completed(tool: CallName) -> Self {
        Self {
            call: None,
            tool,
            identity: None,
            outcome: Outcome::Completed,
            content: Vec::new(),
            output: None,
            structured: Structured::Nothing,
            meta: None,
            retained: Vec::new(),
            repairs: Vec::new(),
            failure_mode: FailureMode::default(),
        }
    }

    /// The settlement as the tool's failure mode wants it: under [`FailureMode::Error`] every
    /// failure is an error, under [`FailureMode::Return`] declared failures and arguments that do
    /// not fit are results. Defects and interruptions are errors in both.
    ///
    /// # Errors
    /// [`CallError`] with the whole settlement and the origin of the failure.
    pub fn into_result(self) -> Result<Self, CallError> {
        let Some(origin) = self.outcome.origin() else {
            return Ok(self);
        };
        let returned = matches!(
            self.outcome,
            Outcome::Failed(_) | Outcome::Refused(Refusal::InvalidArguments(_))
        );
        if returned && self.failure_mode == FailureMode::Return {
            return Ok(self);
        }
        Err(CallError {
            settlement: Box::new(self),
            origin,
        })
    }

    /// The tool's whole encoded output as a value, which is made for the first who asks.
    #[must_use]
    pub fn output(&self) -> Option<&Value> {
        self.output.as_ref().map(Output::value)
    }

    /// What programs are shown: the output, or the smaller `structured` projection of it.
    #[must_use]
    pub fn structured(&self) -> Option<&Value> {
        match &self.structured {
            Structured::Nothing => None,
            Structured::Output => self.output(),
            Structured::Own(value) => Some(value),
        }
    }

    /// Takes out what programs are shown; the output goes with it where they are shown that.
    pub fn take_structured(&mut self) -> Option<Value> {
        match std::mem::take(&mut self.structured) {
            Structured::Nothing => None,
            Structured::Output => self.output.take().map(Output::into_value),
            Structured::Own(value) => Some(*value),
        }
    }

    /// Whether the model is told that the call did not succeed.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.outcome.is_error()
    }

    /// The text blocks, one after the other, separated by newlines.
    #[must_use]
    pub fn text(&self) -> String {
        self.content
            .iter()
            .filter_map(Content::as_text)
            .collect::<Vec<_>>()
            .join("\n")
    }
}

/// What the model is told of a call that ended so, where the runtime has anything to say.
fn text_of(outcome: &Outcome) -> Option<String> {
    match outcome {
        Outcome::Completed => None,
        Outcome::Failed(failure) => Some(failure.message().to_owned()),
        Outcome::Refused(refusal) => Some(told(refusal)),
        Outcome::Suspended(_) => Some("the call waits for a decision".to_owned()),
        Outcome::Cancelled => Some("the call was cancelled".to_owned()),
        Outcome::TimedOut { after } => Some(format!(
            "the call took longer than {} seconds and was stopped; it may have run in part",
            after.as_secs_f64()
        )),
        Outcome::Defect(_) => Some(Defect::MODEL_TEXT.to_owned()),
        Outcome::NotDispatched { stopped_by: None } => Some("the call was not started".to_owned()),
        Outcome::NotDispatched {
            stopped_by: Some(id),
        } => Some(format!(
            "the call was not started, because of how call {} ended",
            id.as_str().escape_debug()
        )),
    }
}

/// What a model reads of a refusal. Written into room for an ordinary one, as it comes in pieces.
fn told(refusal: &Refusal) -> String {
    let mut text = String::with_capacity(ORDINARY_REFUSAL);
    let _ = write!(text, "{refusal}");
    text
}

/// Bytes of the text of an ordinary refusal.
const ORDINARY_REFUSAL: usize = 128;

/// A call that failed, for callers that want failures as errors.
#[derive(Clone, Debug)]
pub struct CallError {
    settlement: Box<Settlement>,
    origin: FailureOrigin,
}

impl CallError {
    /// The error of a settlement, whatever the tool's failure mode; `None` for one that completed
    /// or that waits.
    #[must_use]
    pub fn of(settlement: &Settlement) -> Option<Self> {
        let origin = settlement.outcome.origin()?;
        Some(Self {
            settlement: Box::new(settlement.clone()),
            origin,
        })
    }

    /// Where the call failed.
    #[must_use]
    pub fn origin(&self) -> FailureOrigin {
        self.origin
    }

    /// The settlement, unchanged.
    #[must_use]
    pub fn settlement(&self) -> &Settlement {
        &self.settlement
    }
}

impl std::fmt::Display for CallError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{}: {}",
            self.settlement.tool,
            self.settlement.outcome.as_str()
        )
    }
}

impl std::error::Error for CallError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.settlement.outcome {
            Outcome::Failed(failure) => Some(failure),
            Outcome::Refused(refusal) => Some(refusal),
            Outcome::Defect(defect) => Some(defect),
            _ => None,
        }
    }
}
