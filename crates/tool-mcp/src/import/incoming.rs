//! One message of a server, taken to whom it is for.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::board::Board;
use super::call_error::CallError;
use super::listing::size;
use super::mailbox::{Answer, Logged, Report};
use crate::offerings::{OfferEvent, OfferKind};
use crate::serve::LogLevel;
use crate::wire::{Envelope, Id, Overlong, RpcError, Sort, clean, exact};

/// The longest text of a server's error and of a report of progress that is kept, in bytes.
const TEXT_BYTES: usize = 8 * 1024;
/// The most that is kept of what a server logs, as JSON: hundreds of messages may wait for a slow
/// client.
const LOG_BYTES: usize = 16 * 1024;
/// The longest name of what logs.
const LOGGER_BYTES: usize = 1024;
/// The longest URI of a resource that is told to have changed.
const URI_BYTES: usize = 8 * 1024;

/// Something that a server asks for.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) id: Id,
    pub(crate) method: String,
    pub(crate) params: Value,
    /// The request in the middle of which it is asked, where the server said so.
    pub(crate) of: Option<u64>,
    /// Under which name somebody was asked already.
    pub(crate) key: Option<String>,
}

#[derive(Deserialize)]
struct ProgressParams {
    #[serde(rename = "progressToken")]
    token: Value,
    progress: f64,
    #[serde(default)]
    total: Option<f64>,
    #[serde(default)]
    message: Option<String>,
}

/// Takes a message to whom it is for. A request of the server is the caller's to answer. `of` is the
/// request in whose answer it came, where there is a stream for each.
pub(crate) fn route(board: &Board, of: Option<u64>, text: &[u8]) -> Option<Asked> {
    if text.iter().all(u8::is_ascii_whitespace) {
        return None;
    }
    let Ok(envelope) = serde_json::from_slice::<Envelope<'_>>(text) else {
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
            notified(board, of, &method.0, params);
            None
        }
        Envelope {
            id: Some(id),
            method: Some(method),
            params,
            ..
        } => Some(Asked {
            // One with an id that is none cannot be answered.
            id: serde_json::from_str(id.get()).ok()?,
            method: method.0.into_owned(),
            params: params
                .and_then(|params| serde_json::from_str(params.get()).ok())
                .unwrap_or_default(),
            of: None,
            key: None,
        }),
        Envelope {
            id: Some(id),
            result,
            error,
            ..
        } if result.is_some() || error.is_some() => {
            match numeric(id) {
                Some(id) => board.end(id, read(result, error)),
                None => board.stray(),
            }
            None
        }
        // An answer without an id answers nobody.
        Envelope {
            result: Some(_), ..
        }
        | Envelope { error: Some(_), .. } => {
            board.stray();
            None
        }
        _ => {
            board.skip_line();
            None
        }
    }
}

/// Fails the request to which a message belongs that was too long to be kept.
pub(crate) fn route_too_long(board: &Board, overlong: &Overlong) {
    use rmcp::model::RequestId;
    if overlong.sort != Sort::Answer {
        return board.stray();
    }
    let id = match &overlong.id {
        Some(RequestId::Number(id)) => u64::try_from(*id).ok(),
        Some(RequestId::String(id)) => id.parse().ok(),
        None => None,
    };
    match id {
        Some(id) => {
            let limit = board.frame_bytes;
            board.end(id, Err(CallError::TooLong { limit }));
        }
        None => board.stray(),
    }
}

fn read(result: Option<&RawValue>, error: Option<&RawValue>) -> Result<Answer, CallError> {
    if let Some(error) = error {
        return Err(peer_error(RpcError::read(error)));
    }
    let result = result.ok_or(CallError::Unreadable)?;
    let Ok((mut result, rounded)) = exact::read(result) else {
        return Err(CallError::TooDeep(result.to_owned()));
    };
    let cleaned = clean::value(&mut result);
    if cleaned > 0 {
        tracing::debug!(
            texts = cleaned,
            "hidden characters were taken out of an answer"
        );
    }
    Ok(Answer { result, rounded })
}

/// An error of a server, as far as anybody reads it.
pub(crate) fn peer_error(error: RpcError) -> CallError {
    CallError::Peer {
        code: error.code,
        message: cut(&clean::text(&error.message), TEXT_BYTES),
        data: error.data,
    }
}

/// A text of at most so many bytes, and then how many there were more.
fn cut(text: &str, most: usize) -> String {
    let kept = text.floor_char_boundary(most);
    let (kept, more) = text.split_at(kept);
    match more.len() {
        0 => kept.to_owned(),
        more => format!("{kept} [{more} bytes more]"),
    }
}

/// What a server logs, where it is short enough; else as much of its text.
fn logged(data: Value) -> Value {
    if size(&data) <= LOG_BYTES {
        return data;
    }
    match data.as_str() {
        Some(text) => cut(text, LOG_BYTES).into(),
        None => cut(&data.to_string(), LOG_BYTES).into(),
    }
}

fn notified(board: &Board, of: Option<u64>, method: &str, params: Option<&RawValue>) {
    let events = &board.tally.events;
    match method {
        "notifications/progress" => {
            let params = params.map(|params| serde_json::from_str::<ProgressParams>(params.get()));
            let Some(Ok(params)) = params else {
                return board.stray();
            };
            let report = Report {
                progress: params.progress,
                total: params.total,
                message: params
                    .message
                    .map(|message| cut(&clean::text(&message), TEXT_BYTES)),
            };
            board.report(&params.token, report);
        }
        "notifications/cancelled" => {
            let id = value(params).get_mut("requestId").map(Value::take);
            if let Some(id) = id.and_then(|id| serde_json::from_value(id).ok()) {
                board.withdraw(&id);
            }
        }
        "notifications/tools/list_changed" => board.note_tools_changed(),
        "notifications/prompts/list_changed" => board.tally.change(OfferKind::Prompt),
        "notifications/resources/list_changed" => {
            board.tally.change(OfferKind::Resource);
            board.tally.change(OfferKind::Template);
        }
        "notifications/resources/updated" => {
            let params = value(params);
            match params.get("uri").and_then(Value::as_str) {
                Some(uri) if uri.len() <= URI_BYTES => events.send(OfferEvent::Updated {
                    uri: uri.to_owned(),
                }),
                _ => board.stray(),
            }
        }
        "notifications/elicitation/complete" => {
            let params = value(params);
            board.page_done(params.get("elicitationId").and_then(Value::as_str));
        }
        "notifications/message" => {
            let mut params = value(params);
            let text = |key: &str| params.get(key).and_then(Value::as_str);
            let level = text("level").and_then(LogLevel::of);
            let level = level.unwrap_or(LogLevel::Info);
            let logger = text("logger").map(|logger| cut(logger, LOGGER_BYTES));
            let data = params.get_mut("data").map(Value::take);
            let data = logged(data.unwrap_or_default());
            let to_caller = board.log(of, || Logged {
                level,
                logger: logger.clone(),
                data: data.clone(),
            });
            events.send(OfferEvent::Logged {
                server: board.tally.server.clone(),
                level: level.as_str().to_owned(),
                logger,
                data,
                to_caller,
            });
        }
        // Nothing else that a server tells unasked has a reader.
        _ => {}
    }
}

fn value(params: Option<&RawValue>) -> Value {
    let mut params = params
        .and_then(|params| serde_json::from_str(params.get()).ok())
        .unwrap_or_default();
    clean::value(&mut params);
    params
}

/// Our ids are numbers; a server that answers with their text means them.
fn numeric(id: &RawValue) -> Option<u64> {
    let text = id.get();
    text.trim_matches('"').parse().ok()
}
