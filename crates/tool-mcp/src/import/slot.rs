//! Where a request goes on for a client that calls again.

use serde_json::{Map, Value, json};
use tool_core::Digest;

use crate::serve::CallingClient;

const PARKED: &str = "parked";
const ASKED: &str = "asked";
const ANSWERED: &str = "answered";

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
    /// The server has answered with what it wants first, and some of that is there.
    Asked {
        result: Value,
        answered: Map<String, Value>,
    },
}

/// What a server wants first, while that is being found. Kept where it is dropped in a round that
/// another one follows: an answer is good once, and the round may end before the others are there.
pub(crate) struct Asking<'a> {
    pub(crate) slot: Option<&'a Slot>,
    pub(crate) result: Value,
    pub(crate) answered: Map<String, Value>,
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        if let Some(slot) = self.slot.filter(|slot| slot.goes_on()) {
            let kept =
                json!({ASKED: self.result.take(), ANSWERED: std::mem::take(&mut self.answered)});
            slot.calling.keep(&slot.name, kept);
        }
    }
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

    /// The name of a question, among those of everything that the client's call comes to. No server
    /// has a say in the whole of it: what a person answers to one must never be another's.
    pub(crate) fn question(&self, key: &str) -> String {
        format!("{}-{key}", self.name)
    }

    /// Whether the request goes on from what the round before left.
    pub(crate) fn is_kept(&self) -> bool {
        self.calling.keeps(&self.name)
    }

    /// Takes what the round before left.
    pub(crate) fn take(&self) -> Option<GoingOn> {
        let Value::Object(mut kept) = self.calling.take_kept(&self.name)? else {
            return None;
        };
        match (kept.remove(PARKED), kept.remove(ASKED)) {
            (Some(Value::String(key)), _) => Some(GoingOn::Parked(key)),
            (_, Some(result)) => {
                let answered = match kept.remove(ANSWERED) {
                    Some(Value::Object(answered)) => answered,
                    _ => Map::new(),
                };
                Some(GoingOn::Asked { result, answered })
            }
            _ => None,
        }
    }

    /// Says that the request goes on under this key.
    pub(crate) fn keep_parked(&self, key: &str) {
        self.calling.keep(&self.name, json!({PARKED: key}));
    }

    /// Whether there will be another round.
    pub(crate) fn goes_on(&self) -> bool {
        self.calling.goes_on()
    }
}
