//! A session of a server, for as long as it lasts.

use std::future::Future as _;
use std::task::{Context, Waker};

use tokio::runtime::Handle;
use tool_core::Facts;
use tool_storage::SessionPin;

use crate::Upkeep;

/// Keeps what a session has stored for as long as it lasts, and removes it when it has ended.
#[derive(Debug)]
pub(crate) struct LiveSession {
    upkeep: Upkeep,
    facts: Facts,
    pin: Option<SessionPin>,
}

impl LiveSession {
    pub(crate) fn begin(upkeep: &Upkeep, facts: &Facts) -> Self {
        let outputs = upkeep.outputs.as_ref();
        Self {
            pin: outputs
                .zip(facts.session_id())
                .map(|(outputs, session)| outputs.pin_session(session.clone())),
            upkeep: upkeep.clone(),
            facts: facts.clone(),
        }
    }
}

impl Drop for LiveSession {
    fn drop(&mut self) {
        drop(self.pin.take());
        let (upkeep, facts) = (self.upkeep.clone(), self.facts.clone());
        // What cannot be removed now leaves when it has had its time, as any other does.
        let mut removed = Box::pin(async move {
            let _ = upkeep.end_session(&facts).await;
        });
        // A directory is done at once, also where no runtime is left; a bucket takes its time.
        let mut cx = Context::from_waker(Waker::noop());
        if removed.as_mut().poll(&mut cx).is_pending()
            && let Ok(runtime) = Handle::try_current()
        {
            runtime.spawn(removed);
        }
    }
}
