//! Why a request to a server got no result.

use std::time::Duration;

use serde_json::Value;
use serde_json::value::RawValue;

/// Why a request to a server got no result. The text is for operators.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CallError {
    /// Sent, as far as is known, and never answered: it may have run.
    #[error("the connection to the server ended after the request was sent")]
    Gone,
    /// It never left.
    #[error("the request could not be sent")]
    NotSent,
    /// There is no connection now; another attempt is under way or was given up.
    #[error("the server is not connected")]
    Away,
    /// The server has changed it, or has not said what it changed.
    #[error("the tool is not as it was trusted, or as it was listed for this request")]
    Changed,
    /// It was sent before, and a later part of it was not.
    #[error("the request was begun and cannot go on")]
    Unfinished(#[source] Box<Self>),
    #[error("the server answered with error {code}: {message}")]
    Peer {
        code: i64,
        message: String,
        data: Option<Value>,
    },
    #[error("the server answered with HTTP status {0}")]
    #[cfg_attr(
        not(feature = "http-client"),
        expect(dead_code, reason = "only HTTP has a status")
    )]
    Status(u16),
    /// The server wants to know who calls, or wants somebody with more rights to call.
    #[cfg(feature = "oauth")]
    #[error("the server {reason}")]
    Login {
        reason: String,
        lack: crate::oauth::Lack,
    },
    /// It has too many requests and did nothing about this one; with the wait that it wants.
    #[error("the server takes no more requests for now{}", .0.map(wanted).unwrap_or_default())]
    #[cfg_attr(
        not(feature = "http-client"),
        expect(dead_code, reason = "only HTTP has a status")
    )]
    TooMany(Option<Duration>),
    #[error("the answer is longer than {limit} bytes")]
    TooLong { limit: usize },
    #[error("the answer cannot be read")]
    Unreadable,
    /// It is JSON that no value holds: nested too deeply, or with a number beyond every range.
    #[error("the answer cannot be read: it is nested too deeply or holds a number out of range")]
    TooDeep(Box<RawValue>),
    #[error("the server sent neither an answer nor progress for {} s", .0.as_secs_f64())]
    Idle(Duration),
    #[error("the server did not answer within {} s", .0.as_secs_f64())]
    Total(Duration),
    /// An answer of a type that this revision does not know or allow here.
    #[error("the server answered with a result of type \"{}\"", .0.escape_debug())]
    ResultType(String),
    /// It wants something first that cannot be had.
    #[error("the server asked for \"{}\", which was refused: {reason}", method.escape_debug())]
    Refused { method: String, reason: String },
    #[error("the server asked for something {0} times over and never answered")]
    Rounds(usize),
}

impl CallError {
    /// The same of a request of which a part was sent before, where that matters: it may have run
    /// in part.
    pub(crate) fn after(self, begun: bool) -> Self {
        match self {
            Self::NotSent | Self::Away | Self::Changed if begun => Self::Unfinished(Box::new(self)),
            error => error,
        }
    }

    /// Why a person has to log in before there is another attempt, as a clause that follows on the
    /// server's name.
    pub(crate) fn wants_login(&self) -> Option<&str> {
        #[cfg(feature = "oauth")]
        if let Self::Login { reason, lack } = self
            && *lack != crate::oauth::Lack::Nothing
        {
            return Some(reason);
        }
        None
    }

    /// Whether nothing at all can be sent until somebody logs in.
    #[cfg(feature = "http-client")]
    pub(crate) fn is_locked(&self) -> bool {
        #[cfg(feature = "oauth")]
        if let Self::Login { lack, .. } = self {
            return *lack == crate::oauth::Lack::Login;
        }
        false
    }
}

fn wanted(wait: Duration) -> String {
    format!(", and wants to be left alone for {} s", wait.as_secs())
}
