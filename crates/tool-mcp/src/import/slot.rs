//! Where a request goes on for a client that calls again.

use std::sync::{Arc, OnceLock};

use serde_json::{Map, Value, json};
use tool_core::Digest;

use super::tickets::Tickets;
use super::turns::Turn;
use crate::serve::CallingClient;

const PARKED: &str = "parked";
const ASKED: &str = "asked";
const ANSWERED: &str = "answered";
const INSTANCE: &str = "instance";
const TICKET: &str = "ticket";

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
    tickets: Arc<Tickets>,
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
    /// Good for going on uncounted, once.
    ticket: Option<String>,
    /// Whether this round or the call of which it is one was counted.
    is_counted: bool,
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
    pub(crate) fn of(
        server: &str,
        method: &str,
        params: &Map<String, Value>,
        tickets: &Arc<Tickets>,
    ) -> Option<Self> {
        let slot = Slot::of(server, method, params, tickets)?;
        let (left, ticket) = slot.take().unzip();
        Some(Self {
            slot,
            left,
            ticket: ticket.flatten(),
            is_counted: false,
            turn: None,
        })
    }

    /// Whether it goes on in a call that was counted when it was begun. One that is on its way or
    /// answered is there once; from anything else each round goes on uncounted once.
    pub(crate) fn spend(&mut self) -> bool {
        let ticket = self.ticket.take();
        let tickets = &self.slot.tickets;
        self.is_counted = self.is_parked() || ticket.is_some_and(|ticket| tickets.spend(&ticket));
        self.is_counted
    }

    /// It was counted anew.
    pub(crate) fn count(&mut self) {
        self.is_counted = true;
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
            match self.is_counted {
                true => self.slot.keep(left),
                false => self.slot.put(left, self.ticket.as_deref()),
            }
        }
    }
}

impl Slot {
    fn of(
        server: &str,
        method: &str,
        params: &Map<String, Value>,
        tickets: &Arc<Tickets>,
    ) -> Option<Self> {
        let calling = CallingClient::current().filter(CallingClient::is_asked_by_result)?;
        let params = tool_core::canonical_json(&json!(params));
        let name = Digest::of_parts(&[server, method, &params]).hex();
        Some(Self {
            calling,
            name,
            instance: Arc::default(),
            tickets: Arc::clone(tickets),
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

    fn take(&self) -> Option<(GoingOn, Option<String>)> {
        let Value::Object(mut kept) = self.calling.take_kept(&self.name)? else {
            return None;
        };
        match (kept.remove(PARKED), kept.remove(ASKED)) {
            (Some(Value::String(key)), _) => Some((GoingOn::Parked(key), None)),
            (_, Some(result)) => {
                let answered = match kept.remove(ANSWERED) {
                    Some(Value::Object(answered)) => answered,
                    _ => Map::new(),
                };
                if let Some(Value::String(instance)) = kept.remove(INSTANCE) {
                    // Its questions have their names.
                    let _ = self.instance.set(instance);
                }
                let ticket = match kept.remove(TICKET) {
                    Some(Value::String(ticket)) => Some(ticket),
                    _ => None,
                };
                Some((GoingOn::Asked { result, answered }, ticket))
            }
            _ => None,
        }
    }

    /// Says what the request goes on from, or one that is the same, in a call that was counted.
    pub(crate) fn keep(&self, left: GoingOn) {
        let ticket = match left {
            GoingOn::Parked(_) => None,
            GoingOn::Asked { .. } => self.tickets.draw(),
        };
        self.put(left, ticket.as_deref());
    }

    fn put(&self, left: GoingOn, ticket: Option<&str>) {
        let kept = match left {
            GoingOn::Parked(key) => json!({PARKED: key}),
            GoingOn::Asked { result, answered } => json!({
                ASKED: result,
                ANSWERED: answered,
                INSTANCE: self.instance(),
                TICKET: ticket,
            }),
        };
        self.calling.keep(&self.name, kept);
    }

    /// Does something once it is known that there will be another round, if there will be one.
    pub(crate) fn when_going_on(&self, work: impl FnOnce(&Self) + Send + 'static) {
        // Without the call, which holds the work.
        let (name, instance) = (self.name.clone(), Arc::clone(&self.instance));
        let tickets = Arc::clone(&self.tickets);
        self.calling.when_going_on(move |calling| {
            work(&Self {
                calling: calling.clone(),
                name,
                instance,
                tickets,
            });
        });
    }

    /// Does something where it turns out that there can be no other round after all.
    pub(crate) fn when_broken_off(&self, work: impl FnOnce() + Send + 'static) {
        self.calling.when_broken_off(work);
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::Map;
    use tool_core::Facts;

    use super::{Slot, Tickets};
    use crate::serve::CallingClient;

    #[tokio::test]
    async fn a_call_that_ends_leaves_nothing_of_what_was_to_be_done_had_it_gone_on() {
        let calling = CallingClient::stateless(Facts::new());
        let tickets = Arc::<Tickets>::default();
        let of = async { Slot::of("srv", "tools/call", &Map::new(), &tickets) };
        let slot = calling.serve(of).await.expect("it is asked by the result");
        let kept = Arc::new(());
        let work = Arc::clone(&kept);
        slot.when_going_on(move |_| drop(work));
        let call = calling.downgrade();
        drop((slot, calling));
        assert!(call().is_none());
        assert_eq!(Arc::strong_count(&kept), 1);
    }
}
