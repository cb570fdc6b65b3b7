//! The parts of a model response, whoever the provider is.

use serde_json::Value;
use thiserror::Error;
use tool_core::{Call, CallId, FinishReason};

/// A part of a model response. Calls that stream in are told apart by an index of the host's.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Part {
    /// Text for the reader.
    Text(String),
    /// A call begins.
    CallStarted {
        /// Which call of the response.
        index: usize,
        /// The id, where the provider gives one.
        id: Option<CallId>,
        /// The name of the tool.
        name: String,
    },
    /// More of the text of a call's arguments.
    Arguments {
        /// Which call of the response.
        index: usize,
        /// The text that follows on what came before.
        text: String,
    },
    /// A call is complete.
    CallComplete {
        /// Which call of the response.
        index: usize,
    },
    /// A whole call at once.
    Call(Call),
    /// A call that the provider runs itself. It is recorded, never run; whether its arguments fit
    /// the tool is said by the event, and stops nothing.
    ProviderCall(Call),
    /// The result of such a call, as the provider gives it.
    ProviderResult {
        /// The call.
        id: CallId,
        /// The result.
        result: Value,
        /// Whether it failed.
        is_error: bool,
    },
    /// The response ends.
    Finish(FinishReason),
}

/// Parts that do not fit together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TurnError {
    /// A part of a call that did not begin, or that was complete already.
    #[error("call {index} of the response is not being assembled")]
    NotAssembling {
        /// Which call.
        index: usize,
    },
    /// A call that began twice.
    #[error("call {index} of the response began twice")]
    BeganTwice {
        /// Which call.
        index: usize,
    },
    /// A part after the end.
    #[error("the response went on after its end")]
    AfterFinish,
}
