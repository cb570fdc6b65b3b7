//! Requests to a client of the era in which a server makes them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::outlet::{Gone, Outlet};
use crate::wire::{Id, Message, RpcError};

/// Requests to one client that wait for their answers.
#[derive(Default)]
pub(crate) struct Asks(Mutex<Waiting>);

#[derive(Default)]
struct Waiting {
    last: u64,
    answers: HashMap<Id, oneshot::Sender<Result<Value, RpcError>>>,
}

impl Asks {
    /// Asks the client and waits for its answer.
    ///
    /// # Cancel safety
    /// Dropping the future withdraws the request.
    pub(crate) async fn ask(
        self: &Arc<Self>,
        outlet: &Outlet,
        method: &'static str,
        params: Value,
    ) -> Result<Result<Value, RpcError>, Gone> {
        let (answer, answered) = oneshot::channel();
        let id = {
            let mut waiting = self.waiting();
            waiting.last += 1;
            let id = Id::from(waiting.last);
            waiting.answers.insert(id.clone(), answer);
            id
        };
        let withdrawn = Withdrawn {
            asks: self,
            outlet,
            id: Some(id.clone()),
        };
        outlet.send(&Message::request(id, method, params)).await?;
        let answer = answered.await.map_err(|_| Gone)?;
        let mut withdrawn = withdrawn;
        withdrawn.id = None;
        Ok(answer)
    }

    /// Hands an answer to whoever waits for it. One that nobody waits for is passed over.
    pub(crate) fn answered(&self, id: &Id, outcome: Result<Value, RpcError>) {
        let waiting = self.waiting().answers.remove(id);
        if let Some(waiting) = waiting {
            // Whoever asked may be gone by now.
            let _ = waiting.send(outcome);
        }
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tells the client when nobody waits for its answer any more.
struct Withdrawn<'a> {
    asks: &'a Asks,
    outlet: &'a Outlet,
    id: Option<Id>,
}

impl Drop for Withdrawn<'_> {
    fn drop(&mut self) {
        if let Some(id) = self.id.take() {
            self.asks.waiting().answers.remove(&id);
            let params = json!({"requestId": id, "reason": "the call has ended"});
            self.outlet
                .post(&Message::notice("notifications/cancelled", Some(params)));
        }
    }
}
