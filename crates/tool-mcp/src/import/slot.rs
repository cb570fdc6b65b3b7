//! Where a request goes on for a client that calls again.

use std::sync::{Arc, OnceLock};

use serde_json::{Map, Value, json};
use tool_core::Digest;

use super::turns::Turn;
use crate::serve::CallingClient;

const PARKED: &str = "parked";
const ASKED: &str = "asked";
const ANSWERED: &str = "answered";
const INSTANCE: &str = "instance";

/// Where a request to a server keeps what it goes on from, while a client that is asked by the
/// result of its call is about to call again.
///
/// Requests that are the same share it: what one of them left is as good for another, and each
/// goes on from another of what was left.
#[derive(Clone)]
pub(crate) struct Slot {
    calling: CallingClient,
    name: String,
    /// Tells its questions from those of a request that is the same.
    instance: Arc<OnceLock<String>>,
}

/// What a request goes on from.
pub(crate) enum GoingOn {
    /// The request that is kept under this key is on its way, or answered, or the server waits in
    /// its middle.
    Parked(String),
    /// The server has answered with what it wants first, and some of that is there.
    Asked {
        result: Value,
        answered: Map<String, Value>,
    },
}

/// A request of a call that may take several rounds, with what a round before left of it. That is
/// put back where the round ends before anything was made of it.
pub(crate) struct Claim {
    pub(crate) slot: Slot,
    left: Option<GoingOn>,
    /// Held as long as the server may be at work on the request.
    pub(crate) turn: Option<Arc<Turn>>,
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
            slot.keep(GoingOn::Asked {
                result: self.result.take(),
                answered: std::mem::take(&mut self.answered),
            });
        }
    }
}

impl Claim {
    /// Claims what is left of a request in the call that this task serves. `None` where whoever
    /// called waits for the answer.
    pub(crate) fn of(server: &str, method: &str, params: &Map<String, Value>) -> Option<Self> {
        let slot = Slot::of(server, method, params)?;
        let left = slot.take();
        Some(Self {
            slot,
            left,
            turn: None,
        })
    }

    /// Whether the request goes on from what a round before left.
    pub(crate) fn goes_on(&self) -> bool {
        self.left.is_some()
    }

    /// Whether it goes on in a request that has its turn.
    pub(crate) fn is_parked(&self) -> bool {
        matches!(self.left, Some(GoingOn::Parked(_)))
    }

    /// Takes what it goes on from.
    pub(crate) fn take(&mut self) -> Option<GoingOn> {
        self.left.take()
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if let Some(left) = self.left.take().filter(|_| self.slot.goes_on()) {
            self.slot.keep(left);
        }
    }
}

impl Slot {
    fn of(server: &str, method: &str, params: &Map<String, Value>) -> Option<Self> {
        let calling = CallingClient::current().filter(CallingClient::is_asked_by_result)?;
        let params = tool_core::canonical_json(&json!(params));
        let name = Digest::of_parts(&[server, method, &params]).hex();
        Some(Self {
            calling,
            name,
            instance: Arc::default(),
        })
    }

    /// The name of a question, among those of everything that the client's call comes to. No server
    /// has a say in the whole of it: what a person answers to one must never be another's.
    pub(crate) fn question(&self, key: &str) -> String {
        format!("{}-{}-{key}", self.name, self.instance())
    }

    fn instance(&self) -> &str {
        // Without randomness nothing can be carried to a next round either.
        self.instance
            .get_or_init(|| drawn_key().unwrap_or_default())
    }

    fn take(&self) -> Option<GoingOn> {
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
                if let Some(Value::String(instance)) = kept.remove(INSTANCE) {
                    // Its questions have their names.
                    let _ = self.instance.set(instance);
                }
                Some(GoingOn::Asked { result, answered })
            }
            _ => None,
        }
    }

    /// Says what the request goes on from, or one that is the same.
    pub(crate) fn keep(&self, left: GoingOn) {
        let kept = match left {
            GoingOn::Parked(key) => json!({PARKED: key}),
            GoingOn::Asked { result, answered } => {
                json!({ASKED: result, ANSWERED: answered, INSTANCE: self.instance()})
            }
        };
        self.calling.keep(&self.name, kept);
    }

    /// Does something once it is known that there will be another round, if there will be one.
    pub(crate) fn when_going_on(&self, work: impl FnOnce(&Self) + Send + 'static) {
        let slot = self.clone();
        self.calling.when_going_on(move || work(&slot));
    }

    /// Whether anybody was asked for something in this round.
    pub(crate) fn has_asked(&self) -> bool {
        self.instance.get().is_some()
    }

    /// Whether there will be another round.
    pub(crate) fn goes_on(&self) -> bool {
        self.calling.goes_on()
    }
}

/// What nobody can guess, each time another one. Without randomness there is none.
pub(crate) fn drawn_key() -> Option<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).ok()?;
    Some(format!("{:032x}", u128::from_be_bytes(bytes)))
}
