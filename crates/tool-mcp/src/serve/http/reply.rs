//! Answers over HTTP.

use axum::body::{Body, Bytes};
use axum::http::header::{
    ALLOW, CACHE_CONTROL, CONNECTION, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE,
};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::Response;

use super::event_log::Events;
use super::room::Full;
use super::token::Turned;
use crate::wire::{Id, Message, RpcError};

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const EVENTS: HeaderValue = HeaderValue::from_static("text/event-stream");

pub(crate) fn json(status: StatusCode, body: impl Into<Bytes>) -> Response {
    let mut response = Response::new(Body::from(body.into()));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, JSON);
    response
}

/// The same as a success, with the map of the headers of its request, which are over: it has room, and
/// that of the answer is the room that the next request of the connection gets.
pub(crate) fn json_in(mut room: HeaderMap, body: impl Into<Bytes>) -> Response {
    let mut response = Response::new(Body::from(body.into()));
    room.clear();
    room.insert(CONTENT_TYPE, JSON);
    *response.headers_mut() = room;
    response
}

pub(crate) fn message(status: StatusCode, message: &Message) -> Response {
    match serde_json::to_vec(message) {
        Ok(body) => json(status, body),
        Err(_) => empty(StatusCode::INTERNAL_SERVER_ERROR),
    }
}

/// An error ahead of any answer.
pub(crate) fn error(status: StatusCode, id: Option<Id>, error: RpcError) -> Response {
    message(status, &Message::error(id, error))
}

/// An error for whoever has to wait until there is room.
pub(crate) fn full(id: Option<Id>, full: &Full) -> Response {
    let status = match full.own {
        true => StatusCode::TOO_MANY_REQUESTS,
        false => StatusCode::SERVICE_UNAVAILABLE,
    };
    let mut response = error(status, id, RpcError::request(full.to_string()));
    let soon = HeaderValue::from_static("1");
    response.headers_mut().insert(RETRY_AFTER, soon);
    response
}

/// The same answer as the last one of its connection.
pub(crate) fn closing(mut response: Response) -> Response {
    let close = HeaderValue::from_static("close");
    response.headers_mut().insert(CONNECTION, close);
    response
}

pub(crate) fn events(events: Events) -> Response {
    let mut response = Response::new(Body::from_stream(events));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, EVENTS);
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}

pub(crate) fn empty(status: StatusCode) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    response
}

pub(crate) fn method_not_allowed() -> Response {
    let mut response = empty(StatusCode::METHOD_NOT_ALLOWED);
    let allowed = HeaderValue::from_static("POST");
    response.headers_mut().insert(ALLOW, allowed);
    response
}

/// Says how a client comes to be served.
///
/// Source: RFC 6750, section 3.
pub(crate) fn unauthorized(turned: Turned) -> Response {
    if matches!(turned, Turned::Unknown) {
        return empty(StatusCode::SERVICE_UNAVAILABLE);
    }
    let mut response = empty(StatusCode::UNAUTHORIZED);
    let challenge = HeaderValue::from_static(match turned {
        Turned::Missing => "Bearer realm=\"mcp\"",
        Turned::Wrong | Turned::Unknown => "Bearer realm=\"mcp\", error=\"invalid_token\"",
    });
    response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
    response
}

/// The status of an answer to a client without a handshake. A result and what is wrong with a call
/// are no matter of HTTP.
pub(crate) fn status(code: Option<i64>) -> StatusCode {
    match code {
        Some(RpcError::VERSION | RpcError::CAPABILITY | RpcError::HEADERS) => {
            StatusCode::BAD_REQUEST
        }
        Some(RpcError::METHOD) => StatusCode::NOT_FOUND,
        _ => StatusCode::OK,
    }
}
