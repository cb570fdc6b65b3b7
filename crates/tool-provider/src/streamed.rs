//! The calls of a response that comes in pieces.

mod anthropic;
mod chat;
mod gemini;
mod responses;

pub use anthropic::AnthropicStream;
pub use chat::ChatStream;
pub use gemini::GeminiStream;
pub use responses::ResponsesStream;

use tool_core::{Arguments, CallId, FinishReason};

use crate::IncomingCall;
use crate::unique_ids::UniqueIds;

/// What an event of a stream says.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum StreamPart {
    /// A call began.
    CallStarted {
        /// Which call of the response, from 0.
        position: usize,
        /// Its id, unique in the response; `None` where the API gives none.
        id: Option<CallId>,
        /// The wire name of the tool.
        name: String,
    },
    /// A piece of a call's arguments, as it came.
    ArgumentsPiece {
        /// Which call of the response, from 0.
        position: usize,
        /// The text.
        piece: String,
    },
    /// A call is whole. What was cut off never gets here.
    Call(IncomingCall),
    /// Text for the reader.
    Text(String),
    /// The response ended.
    Finish(FinishReason),
    /// The provider failed; nothing that is still open is whole.
    Failed {
        /// Its kind of error, for the operator.
        kind: String,
    },
}

/// A call whose arguments are still coming.
#[derive(Clone, Debug)]
struct Open {
    key: u64,
    given_id: Option<String>,
    call: IncomingCall,
}

/// The calls of one response.
#[derive(Clone, Debug, Default)]
struct OpenCalls {
    open: Vec<Open>,
    ids: UniqueIds,
    started: usize,
    ended: bool,
}

impl Open {
    /// Whether nothing of its arguments came.
    fn is_empty(&self) -> bool {
        matches!(&self.call.arguments, Arguments::Text(text) if text.is_empty())
    }
}

impl OpenCalls {
    /// What an event adds, as `read` finds it. Nothing does after the end.
    fn feed(&mut self, read: impl FnOnce(&mut Self, &mut Vec<StreamPart>)) -> Vec<StreamPart> {
        let mut parts = Vec::new();
        if !self.ended {
            read(self, &mut parts);
        }
        parts
    }

    fn start(&mut self, key: u64, given_id: Option<&str>, name: &str) -> StreamPart {
        let id = given_id.map(|given| CallId::from(self.ids.next(given)));
        let position = self.started;
        self.started += 1;
        self.open.push(Open {
            key,
            given_id: given_id.map(str::to_owned),
            call: IncomingCall {
                position,
                id: id.clone(),
                name: name.to_owned(),
                arguments: Arguments::Text(String::new()),
            },
        });
        StreamPart::CallStarted {
            position,
            id,
            name: name.to_owned(),
        }
    }

    /// The last call under a key: some servers give every call the same index.
    fn last(&self, key: u64) -> Option<&Open> {
        self.open.iter().rev().find(|it| it.key == key)
    }

    fn extend(&mut self, key: u64, piece: &str) -> Option<StreamPart> {
        let open = self.open.iter_mut().rev().find(|it| it.key == key)?;
        let Arguments::Text(text) = &mut open.call.arguments else {
            return None;
        };
        if piece.is_empty() {
            return None;
        }
        text.push_str(piece);
        Some(StreamPart::ArgumentsPiece {
            position: open.call.position,
            piece: piece.to_owned(),
        })
    }

    fn complete(&mut self, key: u64) -> Option<StreamPart> {
        let at = self.open.iter().rposition(|it| it.key == key)?;
        Some(StreamPart::Call(self.open.remove(at).call))
    }

    /// Ends the response. Calls that are open are whole only if it is.
    fn finish(&mut self, finish: FinishReason, parts: &mut Vec<StreamPart>) {
        self.ended = true;
        let open = std::mem::take(&mut self.open);
        if finish.is_complete() {
            parts.extend(open.into_iter().map(|it| StreamPart::Call(it.call)));
        }
        parts.push(StreamPart::Finish(finish));
    }

    fn fail(&mut self, kind: &str) -> StreamPart {
        self.ended = true;
        StreamPart::Failed {
            kind: kind.to_owned(),
        }
    }
}
