//! One message of a server, taken to whom it is for.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::board::Board;
use super::call_error::CallError;
use super::mailbox::{Answer, Logged, Report};
use crate::offerings::{OfferEvent, OfferKind};
use crate::serve::LogLevel;
use crate::wire::{Envelope, Id, Overlong, RpcError, Sort, clean, exact};

/// The longest text of a server's error that is kept, in bytes.
const ERROR_BYTES: usize = 8 * 1024;

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
    let message = clean::text(&error.message);
    let mut end = message.len().min(ERROR_BYTES);
    while !message.is_char_boundary(end) {
        end -= 1;
    }
    let cut = message.len() - end;
    let mut kept = message.get(..end).unwrap_or_default().to_owned();
    if cut > 0 {
        kept = format!("{kept} [{cut} bytes more]");
    }
    CallError::Peer {
        code: error.code,
        message: kept,
        data: error.data,
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
                    .map(|message| clean::text(&message).into_owned()),
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
            if let Some(uri) = params.get("uri").and_then(Value::as_str) {
                events.send(OfferEvent::Updated {
                    uri: uri.to_owned(),
                });
            }
        }
        "notifications/elicitation/complete" => {
            let params = value(params);
            board.page_done(params.get("elicitationId").and_then(Value::as_str));
        }
        "notifications/message" => {
            let mut params = value(params);
            let text = |key: &str| params.get(key).and_then(Value::as_str).map(str::to_owned);
            let (level, logger) = (text("level"), text("logger"));
            let level = level.unwrap_or_else(|| "info".to_owned());
            let data = params.get_mut("data").map(Value::take).unwrap_or_default();
            let to_caller = LogLevel::of(&level).is_some_and(|level| {
                board.log(of, || Logged {
                    level,
                    logger: logger.clone(),
                    data: data.clone(),
                })
            });
            events.send(OfferEvent::Logged {
                server: board.tally.server.clone(),
                level,
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
