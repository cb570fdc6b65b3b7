//! Requests of clients without a handshake that take several rounds.

use serde_json::{Map, Value, json};
use tool_core::ResumeFault;

use super::calling_client::{CallingClient, Needed};
use super::client::Client;
use super::request_state::{Bound, MOST_BYTES, RequestState, Unclosed};
use super::server::Served;
use super::{Ask, AskKind};
use crate::wire::RpcError;

/// What a request is answered with.
pub(crate) enum Answered {
    /// The result.
    Complete(Map<String, Value>),
    /// What the client has to answer first.
    InputRequired(Map<String, Value>),
}

/// Opens the state that a client carries. None is a state without anything in it.
pub(crate) fn open(
    served: &Served,
    client: &Client,
    state: Option<&str>,
    bound: &Bound<'_>,
) -> Result<RequestState, ResumeFault> {
    match state {
        Some(state) if client.is_stateless() => served
            .state_key
            .as_ref()
            .ok_or(ResumeFault::Forged)
            .and_then(|key| key.open(state, bound)),
        _ => Ok(RequestState::default()),
    }
}

/// What a client is told whose state was not opened: the same whatever the cause.
pub(crate) fn unopened() -> RpcError {
    RpcError::params(
        "the requestState is not this server's, not for this request, or too old; begin without one",
    )
}

/// Ends a round with what has to come before the next.
pub(crate) fn needed(
    served: &Served,
    calling: &CallingClient,
    needed: Needed,
    bound: &Bound<'_>,
) -> Result<Answered, RpcError> {
    match needed {
        Needed::Capabilities(kinds) => {
            let can: Vec<_> = kinds.iter().map(|kind| kind.as_str()).collect();
            let can = can.join(" and ");
            let text = format!("the client did not say that it can {can}");
            let required = AskKind::capabilities(&kinds);
            let error = RpcError::new(RpcError::CAPABILITY, text);
            Err(error.data(json!({"requiredCapabilities": required})))
        }
        #[cfg(feature = "child")]
        Needed::Else(error) => Err(error),
        Needed::Answers(asks) => {
            let asked = ask(served, asks, calling.state(), bound);
            #[cfg(feature = "child")]
            if asked.is_err() {
                calling.break_off();
            }
            asked
        }
    }
}

pub(crate) fn ask(
    served: &Served,
    asks: Vec<(String, Ask)>,
    state: RequestState,
    bound: &Bound<'_>,
) -> Result<Answered, RpcError> {
    let closed = served
        .state_key
        .as_ref()
        .ok_or(Unclosed::Broken)
        .and_then(|key| key.close(state, bound))
        .map_err(|unclosed| match unclosed {
            Unclosed::TooLong(bytes) => RpcError::params(format!(
                "arguments and answers of the request take {bytes} bytes to carry on, and the most \
                 is {MOST_BYTES}; send less"
            )),
            Unclosed::Broken => {
                RpcError::new(RpcError::INTERNAL, "the request cannot be continued")
            }
        })?;
    let asks: Map<String, Value> = asks
        .into_iter()
        .map(|(key, ask)| (key, ask.request()))
        .collect();
    let mut result = Map::new();
    result.insert("inputRequests".to_owned(), asks.into());
    result.insert("requestState".to_owned(), closed.into());
    Ok(Answered::InputRequired(result))
}
