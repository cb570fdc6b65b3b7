//! The wire to one server, seen message by message.

use std::borrow::Cow;
use std::io;
use std::sync::Arc;

use rmcp::RoleClient;
use rmcp::model::{
    ClientNotification, EmptyResult, ErrorCode, ErrorData, GetExtensions, GetMeta, JsonRpcError,
    JsonRpcMessage, ProgressToken, RequestId, ServerResult,
};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::io::{AsyncRead, AsyncWrite};

use super::board::Board;
use super::mailbox::{Letter, Mailbox, Report};
use crate::wire::{Frame, Frames, Outbox, Overlong, Sort};

/// A transport of the protocol library that answers for what the library leaves open.
///
/// Results and progress go to their callers directly, whole and in order; the library, which would
/// read them into types of its own and hand notifications to racing tasks, is told only that an
/// answer came. Lines that are no messages are counted, and one that is too long fails the request
/// that it answers.
pub(crate) struct ClientTransport<R> {
    frames: Frames<R>,
    outbox: Outbox,
    board: Arc<Board>,
}

/// A message as far as it has to be read to know whose it is.
#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
    #[serde(borrow, default)]
    result: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct ProgressParams {
    #[serde(rename = "progressToken")]
    token: ProgressToken,
    #[serde(flatten)]
    report: Report,
}

#[derive(Deserialize)]
struct PeerError {
    #[serde(default)]
    code: i32,
    #[serde(default)]
    message: String,
    #[serde(default)]
    data: Option<Value>,
}

impl<R: AsyncRead + Send + Unpin> ClientTransport<R> {
    /// A transport over a server's stdout and stdin. Must be made inside a tokio runtime.
    pub(crate) fn new<W>(reader: R, writer: W, frame_bytes: usize, board: Arc<Board>) -> Self
    where
        W: AsyncWrite + Send + Unpin + 'static,
    {
        Self {
            frames: Frames::new(reader, frame_bytes),
            outbox: Outbox::start(writer),
            board,
        }
    }
}

impl<R: AsyncRead + Send + Unpin> Transport<RoleClient> for ClientTransport<R> {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        note_sent(&self.board, &message);
        self.outbox.push(&message)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        let Self {
            frames,
            outbox,
            board,
        } = self;
        loop {
            let routed = match frames.next().await {
                Ok(Some(Frame::Line(line))) => route(board, outbox, line),
                Ok(Some(Frame::TooLong(overlong))) => route_too_long(board, overlong),
                // What was not sent to the end is no message.
                Ok(None) | Err(_) => {
                    board.note_closed();
                    return None;
                }
            };
            if routed.is_some() {
                return routed;
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.board.note_closed();
        self.outbox.close().await;
        Ok(())
    }
}

fn note_sent(board: &Board, message: &TxJsonRpcMessage<RoleClient>) {
    match message {
        JsonRpcMessage::Request(request) => {
            let token = request.request.get_meta().get_progress_token();
            let mailbox = request.request.extensions().get::<Mailbox>().cloned();
            board.enter(request.id.clone(), token, mailbox);
        }
        JsonRpcMessage::Notification(sent) => {
            if let ClientNotification::CancelledNotification(cancelled) = &sent.notification
                && let Some(id) = &cancelled.params.request_id
            {
                board.take(id);
            }
        }
        JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => {}
    }
}

/// Delivers a message, or passes on to the library what is the library's.
fn route(board: &Board, outbox: &Outbox, line: &[u8]) -> Option<RxJsonRpcMessage<RoleClient>> {
    if line.iter().all(u8::is_ascii_whitespace) {
        return None;
    }
    let Ok(envelope) = serde_json::from_slice::<Envelope<'_>>(line) else {
        board.skip_line();
        return None;
    };
    match envelope {
        Envelope {
            id: None,
            method: Some(method),
            params,
            ..
        } => {
            route_notification(board, &method, params);
            None
        }
        Envelope {
            id: Some(id),
            method: Some(_),
            ..
        } => serde_json::from_slice(line).ok().or_else(|| {
            refuse_request(outbox, id);
            None
        }),
        Envelope {
            id: Some(id),
            result,
            error,
            ..
        } if result.is_some() || error.is_some() => {
            let id = read_id(id)?;
            match error {
                Some(error) => route_error(board, id, error),
                None => route_result(board, id, result?, line),
            }
        }
        // An answer without an id answers nobody.
        Envelope { error: Some(_), .. } => None,
        _ => {
            board.skip_line();
            None
        }
    }
}

fn route_notification(board: &Board, method: &str, params: Option<&RawValue>) {
    match method {
        "notifications/progress" => {
            let params = params.map(|params| serde_json::from_str::<ProgressParams>(params.get()));
            if let Some(Ok(ProgressParams { token, report })) = params
                && let Some(mailbox) = board.reports_to(&token)
            {
                mailbox.put(Letter::Progress(report));
            }
        }
        "notifications/tools/list_changed" => board.note_list_changed(),
        // Nothing else that a server tells unasked has a reader yet.
        _ => {}
    }
}

fn route_result(
    board: &Board,
    id: RequestId,
    result: &RawValue,
    line: &[u8],
) -> Option<RxJsonRpcMessage<RoleClient>> {
    match board.take(&id)?.mailbox {
        Some(mailbox) => {
            mailbox.put(match serde_json::from_str(result.get()) {
                Ok(result) => Letter::Answer(result),
                Err(_) => Letter::Unreadable,
            });
            Some(answered(id))
        }
        None => match serde_json::from_slice(line) {
            Ok(message) => Some(message),
            Err(_) => Some(failed(
                id,
                ErrorData::internal_error("the answer does not fit the protocol", None),
            )),
        },
    }
}

fn route_error(
    board: &Board,
    id: RequestId,
    error: &RawValue,
) -> Option<RxJsonRpcMessage<RoleClient>> {
    board.take(&id)?;
    let error = match serde_json::from_str::<PeerError>(error.get()) {
        Ok(error) => ErrorData::new(ErrorCode(error.code), error.message, error.data),
        Err(_) => ErrorData::internal_error("the error does not fit the protocol", None),
    };
    Some(failed(id, error))
}

fn route_too_long(board: &Board, overlong: Overlong) -> Option<RxJsonRpcMessage<RoleClient>> {
    let id = overlong
        .id
        .filter(|_| overlong.sort == Sort::Answer)
        .and_then(numeric)?;
    match board.take(&id)?.mailbox {
        Some(mailbox) => {
            mailbox.put(Letter::TooLong);
            Some(answered(id))
        }
        None => Some(failed(
            id,
            ErrorData::internal_error("the answer is too long", None),
        )),
    }
}

fn refuse_request(outbox: &Outbox, id: &RawValue) {
    let Ok(id) = serde_json::from_str(id.get()) else {
        return;
    };
    let error = ErrorData::invalid_request("the request does not fit the protocol", None);
    // The line is in its place; nobody has to wait for it to be written.
    drop(outbox.push(&JsonRpcError::new(Some(id), error)));
}

fn read_id(id: &RawValue) -> Option<RequestId> {
    numeric(serde_json::from_str(id.get()).ok()?)
}

/// Our ids are numbers; a server that answers with their text means them.
fn numeric(id: RequestId) -> Option<RequestId> {
    match &id {
        RequestId::Number(_) => Some(id),
        RequestId::String(text) => text.parse().ok().map(RequestId::Number),
    }
}

fn answered(id: RequestId) -> RxJsonRpcMessage<RoleClient> {
    JsonRpcMessage::response(ServerResult::EmptyResult(EmptyResult {}), id)
}

fn failed(id: RequestId, error: ErrorData) -> RxJsonRpcMessage<RoleClient> {
    JsonRpcMessage::error(error, Some(id))
}
