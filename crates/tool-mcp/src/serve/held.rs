//! What is held while a session lasts.

use std::any::Any;
use std::sync::{Arc, OnceLock};

use tool_core::Facts;

use super::server::Served;

/// Makes what is held while a session lasts.
pub(crate) type Hold = Arc<dyn Fn(&Facts) -> Box<dyn Any + Send + Sync> + Send + Sync>;

/// What is held while a session lasts: by the session, and by each of its calls. Nothing, where
/// there is no session or the host names it.
#[derive(Clone, Default)]
pub(crate) struct Held(Option<Arc<Holding>>);

struct Holding {
    hold: Hold,
    held: OnceLock<Box<dyn Any + Send + Sync>>,
}

impl Held {
    /// What a session of this server holds.
    pub(crate) fn of(served: &Served) -> Self {
        let is_the_hosts = served.facts.session_id().is_some();
        let hold = served.hold.clone().filter(|_| !is_the_hosts);
        Self(hold.map(|hold| {
            Arc::new(Holding {
                hold,
                held: OnceLock::new(),
            })
        }))
    }

    /// A call of the session begins.
    pub(crate) fn begin(&self, facts: &Facts) {
        if let Some(holding) = &self.0
            && facts.session_id().is_some()
        {
            holding.held.get_or_init(|| (holding.hold)(facts));
        }
    }
}
