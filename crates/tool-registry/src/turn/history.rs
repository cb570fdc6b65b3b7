//! What a turn adds to the conversation.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tool_core::{Arguments, Call, CallId, Content, FailureOrigin, Outcome, Settlement, Suspension};

/// What a turn adds to the conversation: the assistant's message, the results for it, and the
/// calls that wait. Preliminary results are no part of it.
///
/// A call that waits is answered later: resume it with
/// [`Snapshot::resume`](crate::Snapshot::resume), and give the next request the
/// [`ResultPart`] of its settlement.
#[derive(Clone, Debug, Default)]
pub struct History {
    pub(super) assistant: Vec<AssistantPart>,
    /// By position of the call.
    pub(super) settled: Vec<Option<Settlement>>,
}

/// A part of the assistant's message, in the order of arrival.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum AssistantPart {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// A call.
    Call {
        /// Its id, unique in the turn.
        id: Option<CallId>,
        /// The name that the model called.
        name: String,
        /// The arguments as the model sent them: text as a string, else the value.
        arguments: Value,
        /// Whether the provider runs it.
        provider_executed: bool,
    },
    /// The result of a call that the provider ran. It stays in the assistant's message.
    ProviderResult {
        /// The call.
        id: CallId,
        /// The result.
        result: Value,
        /// Whether it failed.
        is_error: bool,
    },
}

/// The result of one call, as the next request carries it: made from a [`Settlement`] by `from`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ResultPart {
    /// The id of the call.
    pub id: Option<CallId>,
    /// The name of the tool.
    pub name: String,
    /// How it ended, as [`Outcome::as_str`] says.
    pub outcome: String,
    /// Whether the model is told that it did not succeed.
    pub is_error: bool,
    /// Where it failed, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<FailureOrigin>,
    /// What refused it or what broke, as [`Outcome::kind`] says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Whether the model may succeed by calling again in another way.
    #[serde(default)]
    pub is_retryable: bool,
    /// What the model is shown.
    pub content: Vec<Content>,
    /// What programs are shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structured: Option<Value>,
}

impl History {
    /// The assistant's message.
    #[must_use]
    pub fn assistant(&self) -> &[AssistantPart] {
        &self.assistant
    }

    /// The results, in the order of the calls. A call that waits has none.
    #[must_use]
    pub fn results(&self) -> Vec<ResultPart> {
        self.settled
            .iter()
            .flatten()
            .filter(|settlement| !matches!(settlement.outcome, Outcome::Suspended(_)))
            .map(ResultPart::from)
            .collect()
    }

    /// The calls that wait for a decision, in their order.
    #[must_use]
    pub fn waiting(&self) -> Vec<&Suspension> {
        self.settled
            .iter()
            .flatten()
            .filter_map(|settlement| match &settlement.outcome {
                Outcome::Suspended(suspension) => Some(&**suspension),
                _ => None,
            })
            .collect()
    }

    pub(super) fn push_text(&mut self, more: &str) {
        if let Some(AssistantPart::Text { text }) = self.assistant.last_mut() {
            text.push_str(more);
        } else {
            self.assistant.push(AssistantPart::Text {
                text: more.to_owned(),
            });
        }
    }

    pub(super) fn push_call(&mut self, call: &Call, provider_executed: bool) {
        let arguments = match call.arguments() {
            Arguments::Text(text) => Value::String(text.clone()),
            Arguments::Value(value) => (**value).clone(),
            _ => Value::Null,
        };
        self.assistant.push(AssistantPart::Call {
            id: call.call_id().cloned(),
            name: call.name().to_owned(),
            arguments,
            provider_executed,
        });
    }
}

impl From<&Settlement> for ResultPart {
    fn from(settlement: &Settlement) -> Self {
        Self {
            id: settlement.call.clone(),
            name: settlement.tool.to_string(),
            outcome: settlement.outcome.as_str().to_owned(),
            is_error: settlement.is_error(),
            origin: settlement.outcome.origin(),
            kind: settlement.outcome.kind().map(str::to_owned),
            is_retryable: settlement.outcome.is_retryable(),
            content: settlement.content.clone(),
            structured: settlement.structured().cloned(),
        }
    }
}
