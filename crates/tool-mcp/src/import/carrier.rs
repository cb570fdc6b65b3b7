//! What carries messages to a server and back.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Semaphore;
use tokio::task::{JoinHandle, JoinSet};

use super::board::{Addressee, Board};
use super::call_error::CallError;
use super::incoming::{Asked, route, route_too_long};
use super::party::Party;
use super::pending::answer_to;
use super::target::Target;
use crate::serve::Ask;
use crate::wire::{Frame, Frames, Id, Message, Outbox, RpcError, aside};

/// Questions of one server outside of any call that may wait for an answer at the same time.
const QUESTIONS: usize = 16;

/// What carries messages to a server and back.
pub(crate) enum Carrier {
    Lines(Lines),
    #[cfg(feature = "http-client")]
    Http(super::http::Http),
}

/// A server at the other end of two streams.
pub(crate) struct Lines {
    outbox: Arc<Outbox>,
    reading: JoinHandle<()>,
}

/// Answers what a server asks.
#[derive(Clone)]
pub(crate) struct Answering {
    pub(crate) party: Party,
    pub(crate) server: Arc<str>,
    permits: Arc<Semaphore>,
}

impl Carrier {
    /// Hands a message over. An answer comes by the board. Where it can wait for its turn, the tool
    /// that it is for is looked at once more.
    pub(crate) fn send(
        &self,
        message: &Message,
        _target: Option<&Arc<Target>>,
    ) -> Result<(), CallError> {
        match self {
            Self::Lines(lines) => lines
                .outbox
                .post(message)
                .map_err(|_unsent| CallError::NotSent),
            #[cfg(feature = "http-client")]
            Self::Http(http) => http.send(message, _target.cloned()),
        }
    }

    /// Answers a question of the server.
    #[cfg_attr(
        not(feature = "http-client"),
        expect(clippy::needless_pass_by_value, reason = "only HTTP keeps it")
    )]
    pub(crate) fn reply(&self, reply: Message) {
        match self {
            // A server that is gone waits for nothing.
            Self::Lines(lines) => drop(lines.outbox.post(&reply)),
            #[cfg(feature = "http-client")]
            Self::Http(http) => http.reply(reply),
        }
    }

    /// Gives up what is being received for a request. Whether the server has to be told as well.
    pub(crate) fn give_up(&self, _id: u64) -> bool {
        match self {
            Self::Lines(_) => true,
            #[cfg(feature = "http-client")]
            Self::Http(http) => http.give_up(_id),
        }
    }

    /// Settles what later requests carry of the era.
    pub(crate) fn settle(&self, _era: &super::era::Era) {
        match self {
            Self::Lines(_) => {}
            #[cfg(feature = "http-client")]
            Self::Http(http) => http.settle(_era),
        }
    }

    /// Learns what a request of a tool needs beside its arguments.
    pub(crate) fn learn(&self, _listing: &super::listing::Listing) {
        match self {
            Self::Lines(_) => {}
            #[cfg(feature = "http-client")]
            Self::Http(http) => http.learn(_listing),
        }
    }

    /// Whether tools may ask for arguments to be repeated beside them.
    pub(crate) fn mirrors(&self) -> bool {
        match self {
            Self::Lines(_) => false,
            #[cfg(feature = "http-client")]
            Self::Http(_) => true,
        }
    }

    /// Says that nothing more will be sent.
    pub(crate) async fn close(&self) {
        match self {
            Self::Lines(lines) => lines.outbox.close().await,
            #[cfg(feature = "http-client")]
            Self::Http(http) => http.close().await,
        }
    }
}

impl Lines {
    /// Starts to read. Must be called inside a tokio runtime.
    pub(crate) fn start<R, W>(reader: R, writer: W, board: Arc<Board>, answering: Answering) -> Self
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let lookout = Arc::clone(&board.lookout);
        let outbox = Arc::new(Outbox::start_with(writer, lookout));
        let frames = Frames::new(reader, board.frame_bytes);
        let reading = tokio::spawn(read(frames, Arc::clone(&outbox), board, answering));
        Self { outbox, reading }
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        self.reading.abort();
    }
}

/// Closes the board however reading ends, its task being dropped included.
struct Closing(Arc<Board>);

impl Drop for Closing {
    fn drop(&mut self) {
        self.0.close();
    }
}

async fn read<R: AsyncRead + Unpin>(
    mut frames: Frames<R>,
    outbox: Arc<Outbox>,
    board: Arc<Board>,
    answering: Answering,
) {
    let closing = Closing(board);
    let board = &closing.0;
    let mut questions = JoinSet::new();
    loop {
        while questions.try_join_next().is_some() {}
        let frame = tokio::select! {
            frame = frames.next() => frame,
            // A server that does not read cannot be asked anything any more.
            () = outbox.broken().cancelled() => return,
        };
        let asked = match frame {
            Ok(Some(Frame::Line(line))) => {
                board.lookout.came();
                aside(line.len(), || route(board, None, line))
            }
            Ok(Some(Frame::TooLong(overlong))) => {
                route_too_long(board, &overlong);
                None
            }
            // What was not sent to the end is no message.
            Ok(None) | Err(_) => return,
        };
        if let Some(asked) = asked {
            let later = Arc::clone(&outbox);
            let now = answering.answer(board, None, asked, &mut questions, move |reply| {
                let _ = later.post(&reply);
                std::future::ready(())
            });
            if let Some(reply) = now {
                // A server that is gone waits for nothing.
                let _ = outbox.post(&reply);
            }
        }
    }
}

impl Answering {
    pub(crate) fn new(party: Party, server: &str) -> Self {
        Self {
            party,
            server: server.into(),
            permits: Arc::new(Semaphore::new(QUESTIONS)),
        }
    }

    /// Takes a question to whoever is to answer it: the caller in the middle of whose request it was
    /// asked, or a task of its own. What needs nobody is answered at once.
    ///
    /// `of` is the request to which it belongs, where the server said so.
    pub(crate) fn answer<F: Future<Output = ()> + Send>(
        &self,
        board: &Board,
        of: Option<u64>,
        asked: Asked,
        questions: &mut JoinSet<()>,
        reply: impl FnOnce(Message) -> F + Send + 'static,
    ) -> Option<Message> {
        if asked.method == "ping" {
            return Some(Message::answer(asked.id, Ok(json!({}))));
        }
        if Ask::read(&asked.method, Value::Null).is_none() {
            return Some(unanswered(asked.id, RpcError::METHOD));
        }
        let Asked {
            id, method, params, ..
        } = match board.ask(of, asked) {
            Addressee::Caller => return None,
            Addressee::Busy(asked) => return Some(unanswered(asked.id, RpcError::BUSY)),
            Addressee::Unknown(asked) => {
                let server = &*self.server;
                tracing::warn!(server, "a question belongs to one of several callers");
                return Some(unanswered(asked.id, RpcError::INTERNAL));
            }
            Addressee::Nobody(asked) => asked,
        };
        let Ok(permit) = Arc::clone(&self.permits).try_acquire_owned() else {
            return Some(unanswered(id, RpcError::BUSY));
        };
        let (party, server) = (self.party.clone(), Arc::clone(&self.server));
        questions.spawn(async move {
            let _permit = permit;
            let answer = party.provide(&server, String::new(), &method, params).await;
            reply(answer_to(&server, id, answer)).await;
        });
        None
    }
}

/// What a server is told that gets no answer.
pub(crate) fn unanswered(id: Id, code: i64) -> Message {
    let text = match code {
        RpcError::METHOD => "this client has no such method",
        RpcError::BUSY => "too many questions wait for an answer",
        _ => "the question was not answered",
    };
    Message::answer(id, Err(RpcError::new(code, text)))
}

#[cfg(test)]
mod tests;
