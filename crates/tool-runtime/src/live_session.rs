//! A session of a server, for as long as it lasts.

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
        // What cannot be removed now leaves when it has had its time, as any other does.
        let _ = self.upkeep.end_session(&self.facts);
    }
}
