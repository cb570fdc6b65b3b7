//! The one answer to a call.

use serde_json::Value;

use crate::{CallId, Content, Defect, Outcome, Retained};

/// The settlement of one call: how it ended and what of it is shown.
///
/// There is exactly one for every call, whatever happened to its siblings.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Settlement {
    /// The id that the call came with.
    pub call: Option<CallId>,
    /// The wire name of the tool that ran, else the name as it was called.
    pub tool: String,
    /// How the call ended.
    pub outcome: Outcome,
    /// What the model is shown: never empty for an error, bounded.
    pub content: Vec<Content>,
    /// The tool's whole encoded output, untouched by projection, bounding and retention.
    pub output: Option<Value>,
    /// What programs are shown: the output, or the smaller `structured` projection of it.
    pub structured: Option<Value>,
    /// Where longer output was retained.
    pub retained: Vec<Retained>,
    /// What was repaired in the arguments before they were validated.
    pub repairs: Vec<Repair>,
}

/// One repair of a call's arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Repair {
    /// JSON pointer of the repaired place.
    pub path: String,
    /// The rule that repaired it.
    pub rule: &'static str,
}

impl Repair {
    /// A repair at a place by a rule.
    pub fn new(path: impl Into<String>, rule: &'static str) -> Self {
        Self {
            path: path.into(),
            rule,
        }
    }
}

impl Settlement {
    /// The settlement of a call that produced nothing: the outcome and its text for the model.
    pub fn without_output(call: Option<CallId>, tool: impl Into<String>, outcome: Outcome) -> Self {
        let text = match &outcome {
            Outcome::Completed => None,
            Outcome::Failed(failure) => Some(failure.message().to_owned()),
            Outcome::Refused(refusal) => Some(refusal.to_string()),
            Outcome::Cancelled => Some("the call was cancelled".to_owned()),
            Outcome::TimedOut { after } => Some(format!(
                "the call took longer than {} seconds and was stopped; it may have run in part",
                after.as_secs_f64()
            )),
            Outcome::Defect(_) => Some(Defect::MODEL_TEXT.to_owned()),
            Outcome::NotDispatched { .. } => Some("the call was not started".to_owned()),
        };
        Self {
            call,
            tool: tool.into(),
            outcome,
            content: text.map(Content::text).into_iter().collect(),
            output: None,
            structured: None,
            retained: Vec::new(),
            repairs: Vec::new(),
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
