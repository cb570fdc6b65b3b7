//! What the headers of a request ask for, whatever its body says.

use std::sync::Arc;

use axum::http::header::ACCEPT;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;

use super::reply;
use super::session::Session;
use super::site::Site;
use crate::wire::RpcError;

/// Names the session that a client with a handshake has begun.
pub(crate) const SESSION: &str = "mcp-session-id";

/// Why a request has no session.
pub(crate) enum NoSession {
    /// It names none, and is of no use without one.
    Unnamed,
    /// There is none of that name, or not for this principal.
    Unknown,
}

impl NoSession {
    pub(crate) fn reply(self) -> Response {
        let status = match self {
            Self::Unnamed => StatusCode::BAD_REQUEST,
            Self::Unknown => StatusCode::NOT_FOUND,
        };
        reply::error(status, None, self.error())
    }

    pub(crate) fn error(&self) -> RpcError {
        RpcError::request(match self {
            Self::Unnamed => "the request names no session; begin with initialize",
            Self::Unknown => "there is no such session; begin anew",
        })
    }
}

/// The session that a request names.
pub(crate) fn session<'a>(
    site: &Site,
    headers: &'a HeaderMap,
    principal: Option<&str>,
) -> Result<(&'a str, Arc<Session>), NoSession> {
    let id = headers.get(SESSION).ok_or(NoSession::Unnamed)?;
    id.to_str()
        .ok()
        .and_then(|id| Some((id, site.sessions.get(id, principal)?)))
        .ok_or(NoSession::Unknown)
}

pub(crate) fn says(headers: &HeaderMap, name: &str, media: &str) -> bool {
    headers
        .get(name)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split(';').next())
        .is_some_and(|value| value.trim().eq_ignore_ascii_case(media))
}

/// Whether the client takes a media type. One that says nothing, or anything, takes the plain
/// answer.
pub(crate) fn takes(headers: &HeaderMap, media: &str) -> bool {
    headers.get_all(ACCEPT).iter().any(|value| {
        value.to_str().is_ok_and(|value| {
            value
                .split(',')
                .filter_map(|one| one.split(';').next())
                .any(|one| one.trim().eq_ignore_ascii_case(media))
        })
    })
}
