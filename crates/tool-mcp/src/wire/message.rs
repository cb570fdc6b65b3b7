//! Messages, as far as every method has them in common.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::{Envelope, Id, RpcError};

/// A message of a peer. Parameters stay text until it is known what they should be.
#[derive(Debug)]
pub(crate) enum Incoming {
    Request {
        id: Id,
        method: String,
        params: Option<Box<RawValue>>,
    },
    Notification {
        method: String,
        params: Option<Box<RawValue>>,
    },
    Answer {
        id: Id,
        outcome: Result<Value, RpcError>,
    },
}

/// Why a text is no message.
#[derive(Debug)]
pub(crate) enum Misfit {
    /// It is no JSON.
    Text,
    /// It is JSON and no message, of that id where it has one.
    Json(Option<Id>),
}

impl Incoming {
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, Misfit> {
        let envelope: Envelope<'_> = serde_json::from_slice(bytes).map_err(|_| misfit(bytes))?;
        let id = match envelope.id {
            None => None,
            Some(id) => match serde_json::from_str(id.get()) {
                Ok(id) => Some(id),
                Err(_) => return Err(Misfit::Json(None)),
            },
        };
        if envelope.jsonrpc.is_none_or(|version| version.0 != "2.0") {
            return Err(Misfit::Json(id));
        }
        let params = envelope.params.map(ToOwned::to_owned);
        match (envelope.method, id) {
            (Some(method), Some(id)) => Ok(Self::Request {
                id,
                method: method.0.into_owned(),
                params,
            }),
            (Some(method), None) => Ok(Self::Notification {
                method: method.0.into_owned(),
                params,
            }),
            (None, Some(id)) => match (envelope.result, envelope.error) {
                (_, Some(error)) => Ok(Self::Answer {
                    id,
                    outcome: Err(RpcError::read(error)),
                }),
                (Some(result), None) => match serde_json::from_str(result.get()) {
                    Ok(result) => Ok(Self::Answer {
                        id,
                        outcome: Ok(result),
                    }),
                    Err(_) => Err(Misfit::Json(None)),
                },
                (None, None) => Err(Misfit::Json(Some(id))),
            },
            (None, None) => Err(Misfit::Json(None)),
        }
    }
}

fn misfit(bytes: &[u8]) -> Misfit {
    #[derive(Deserialize)]
    struct Named {
        id: Id,
        #[serde(rename = "method")]
        _method: serde::de::IgnoredAny,
    }
    match serde_json::from_slice::<serde::de::IgnoredAny>(bytes) {
        Err(_) => Misfit::Text,
        Ok(_) => Misfit::Json(
            serde_json::from_slice(bytes)
                .ok()
                .map(|Named { id, .. }| id),
        ),
    }
}

/// A message to a peer.
#[derive(Debug, Serialize)]
pub(crate) struct Message {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<Id>,
    #[serde(skip_serializing_if = "Option::is_none")]
    method: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    params: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<RpcError>,
}

impl Message {
    const EMPTY: Self = Self {
        jsonrpc: "2.0",
        id: None,
        method: None,
        params: None,
        result: None,
        error: None,
    };

    pub(crate) fn answer(id: Id, outcome: Result<Value, RpcError>) -> Self {
        let (result, error) = match outcome {
            Ok(result) => (Some(result), None),
            Err(error) => (None, Some(error)),
        };
        Self {
            id: Some(id),
            result,
            error,
            ..Self::EMPTY
        }
    }

    /// An error that answers nothing in particular.
    #[cfg(feature = "http")]
    pub(crate) fn error(id: Option<Id>, error: RpcError) -> Self {
        Self {
            id,
            error: Some(error),
            ..Self::EMPTY
        }
    }

    pub(crate) fn notice(method: &'static str, params: Option<Value>) -> Self {
        Self {
            method: Some(method),
            params,
            ..Self::EMPTY
        }
    }

    pub(crate) fn request(id: Id, method: &'static str, params: Value) -> Self {
        Self {
            id: Some(id),
            method: Some(method),
            params: Some(params),
            ..Self::EMPTY
        }
    }

    /// What it asks for or tells; none where it answers.
    #[cfg(feature = "http-client")]
    pub(crate) fn method(&self) -> Option<&'static str> {
        self.method
    }

    /// The id of a request of ours, which are numbered.
    #[cfg(feature = "http-client")]
    pub(crate) fn number(&self) -> Option<u64> {
        self.id.as_ref().and_then(Id::number)
    }

    #[cfg(feature = "http-client")]
    pub(crate) fn params(&self) -> Option<&Value> {
        self.params.as_ref()
    }

    /// The error that it answers, if it does.
    #[cfg(feature = "http")]
    pub(crate) fn error_code(&self) -> Option<i64> {
        self.error.as_ref().map(|error| error.code)
    }

    /// Whether it answers a request.
    #[cfg(feature = "http")]
    pub(crate) fn is_answer(&self) -> bool {
        self.method.is_none()
    }
}
