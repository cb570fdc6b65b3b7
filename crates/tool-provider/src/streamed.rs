//! The calls of a response that comes in pieces.

mod anthropic;
mod chat;
mod gemini;
mod responses;

pub use anthropic::AnthropicStream;
pub use chat::ChatStream;
pub use gemini::GeminiStream;
pub use responses::ResponsesStream;

use std::collections::BTreeSet;

use tool_core::{Arguments, CallId, FinishReason};

use crate::IncomingCall;

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
    text: String,
}

/// The calls of one response.
#[derive(Clone, Debug, Default)]
struct OpenCalls {
    open: Vec<Open>,
    taken: BTreeSet<String>,
    started: usize,
    ended: bool,
}

impl OpenCalls {
    fn start(&mut self, key: u64, given_id: Option<&str>, name: &str) -> StreamPart {
        let id = given_id.map(|given| CallId::from(self.unique(given)));
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
            text: String::new(),
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
        if piece.is_empty() {
            return None;
        }
        open.text.push_str(piece);
        Some(StreamPart::ArgumentsPiece {
            position: open.call.position,
            piece: piece.to_owned(),
        })
    }

    fn complete(&mut self, key: u64) -> Option<StreamPart> {
        let at = self.open.iter().rposition(|it| it.key == key)?;
        Some(whole(self.open.remove(at)))
    }

    /// Ends the response. Calls that are open are whole only if it is.
    fn finish(&mut self, finish: FinishReason, parts: &mut Vec<StreamPart>) {
        self.ended = true;
        let open = std::mem::take(&mut self.open);
        if finish.is_complete() {
            parts.extend(open.into_iter().map(whole));
        }
        parts.push(StreamPart::Finish(finish));
    }

    fn fail(&mut self, kind: &str) -> StreamPart {
        self.ended = true;
        self.open.clear();
        StreamPart::Failed {
            kind: kind.to_owned(),
        }
    }

    fn unique(&mut self, given: &str) -> String {
        let mut id = given.to_owned();
        let mut count = 2_usize;
        while !self.taken.insert(id.clone()) {
            id = format!("{given}-{count}");
            count += 1;
        }
        id
    }
}

fn whole(open: Open) -> StreamPart {
    let mut call = open.call;
    if matches!(call.arguments, Arguments::Text(_)) {
        call.arguments = Arguments::Text(open.text);
    }
    StreamPart::Call(call)
}
