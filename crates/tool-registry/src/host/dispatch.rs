//! Calls that the handler of one call makes.

use std::pin::pin;
use std::sync::atomic::Ordering;

use futures_util::future::{Either, select};
use serde_json::Value;
use tool_core::{BoxFuture, Call, CallId, Dispatch, Outcome, Settlement};

use super::Host;
use crate::Door;

impl Dispatch for Host {
    fn has(&self, name: &str) -> bool {
        self.snapshot.get(name).is_some()
    }

    fn call(&self, name: String, arguments: Value) -> BoxFuture<'static, Settlement> {
        let id = self.call.as_ref().map(|outer| {
            let number = self.inner_calls.fetch_add(1, Ordering::Relaxed) + 1;
            CallId::new(format!("{outer}#inner-{number}"))
        });
        let (outer, over) = (self.call.clone(), self.over());
        let common = self.common.clone();
        let unsettled = {
            let (id, name) = (id.clone(), name.clone());
            |outcome| Settlement::without_output(id, name, outcome)
        };
        let mut call = Call::new(name, arguments);
        if let Some(id) = id {
            call = call.id(id);
        }
        let settling = self.snapshot.settle(call, &self.facts).door(Door::Inner);
        Box::pin(async move {
            // A task that outlives the handler may come too late, or be at it when the call ends.
            if over.is_cancelled() {
                return unsettled(Outcome::NotDispatched { stopped_by: outer });
            }
            match select(settling.into_future(), pin!(over.cancelled())).await {
                Either::Left((settlement, _)) => {
                    if let Some(common) = common {
                        common.stop.note_inner(&settlement, outer.as_ref());
                    }
                    settlement
                }
                Either::Right(((), _)) => unsettled(Outcome::Cancelled),
            }
        })
    }
}
