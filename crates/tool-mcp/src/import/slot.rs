//! Where a request goes on for a client that calls again.

use serde_json::{Map, Value, json};
use tool_core::Digest;

use crate::serve::CallingClient;

const PARKED: &str = "parked";
const ASKED: &str = "asked";

/// Where a request to a server keeps what it goes on from, while a client that is asked by the
/// result of its call is about to call again.
#[derive(Clone)]
pub(crate) struct Slot {
    calling: CallingClient,
    name: String,
}

/// What a request goes on from.
pub(crate) enum GoingOn {
    /// The server still waits, in the middle of the request that is kept under this key.
    Parked(String),
    /// The server has answered with what it wants first.
    Asked(Value),
}

impl Slot {
    /// That of a request in the call that this task serves. `None` where whoever called waits for
    /// the answer.
    pub(crate) fn of(server: &str, method: &str, params: &Map<String, Value>) -> Option<Self> {
        let calling = CallingClient::current().filter(CallingClient::is_asked_by_result)?;
        let params = tool_core::canonical_json(&json!(params));
        let name = Digest::of_parts(&[server, method, &params]).hex();
        Some(Self { calling, name })
    }

    /// Takes what the round before left.
    pub(crate) fn take(&self) -> Option<GoingOn> {
        let Value::Object(mut kept) = self.calling.take_kept(&self.name)? else {
            return None;
        };
        match (kept.remove(PARKED), kept.remove(ASKED)) {
            (Some(Value::String(key)), _) => Some(GoingOn::Parked(key)),
            (_, Some(asked)) => Some(GoingOn::Asked(asked)),
            _ => None,
        }
    }

    pub(crate) fn keep(&self, going_on: GoingOn) {
        let kept = match going_on {
            GoingOn::Parked(key) => json!({PARKED: key}),
            GoingOn::Asked(asked) => json!({ASKED: asked}),
        };
        self.calling.keep(&self.name, kept);
    }

    /// Whether there will be another round.
    pub(crate) fn goes_on(&self) -> bool {
        self.calling.goes_on()
    }
}
