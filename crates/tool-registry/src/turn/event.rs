//! What a turn hands out.

use tool_core::{Call, FinishReason, InvalidArguments, Output, Progress, Settlement};

use super::TurnError;

/// Something that happened in a turn. Positions count the calls of the response from 0.
#[derive(Debug)]
#[non_exhaustive]
pub enum TurnEvent<E> {
    /// A call of an earlier turn was settled since. Comes before anything of the response.
    Resolved(Box<Settlement>),
    /// Text for the reader.
    Text(String),
    /// The model made a call. It comes before anything else of that call.
    Call {
        /// Which call.
        position: usize,
        /// The call. Its id is unique in the turn.
        call: Call,
    },
    /// The provider made and runs a call itself. It is recorded, never run.
    ProviderCall {
        /// The call. Its id is unique in the turn.
        call: Call,
        /// Why its arguments do not fit the tool of that name in the request, if they do not.
        invalid: Option<InvalidArguments>,
    },
    /// A running call reported progress.
    Progress {
        /// Which call.
        position: usize,
        /// The report.
        progress: Progress,
    },
    /// A result that comes before the final one. It is no part of history.
    Preliminary {
        /// Which call.
        position: usize,
        /// The result.
        value: Output,
    },
    /// A call was settled. Calls settle in the order in which they end.
    Settled {
        /// Which call.
        position: usize,
        /// The settlement.
        settlement: Box<Settlement>,
    },
    /// The response has ended and every call is answered or waits. The last event.
    Finish(FinishReason),
    /// The provider failed. The last event.
    Failed(E),
    /// The parts did not fit together. The last event.
    Malformed(TurnError),
}
