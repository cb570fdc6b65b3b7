//! What all exchanges of one listener share.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use tool_core::{Facts, Identification};

use super::names::Names;
use super::pace::Pace;
use super::room::Room;
use super::session::Sessions;
use super::token::Auth;
use crate::serve::server::Served;
use crate::serve::serving::Serving;

/// What all exchanges of one listener share.
pub(crate) struct Site {
    pub(crate) served: Arc<Served>,
    pub(crate) names: Names,
    pub(crate) auth: Auth,
    pub(crate) sessions: Arc<Sessions>,
    pub(crate) serving: Serving,
    pub(crate) pace: Arc<Pace>,
    /// Of all clients together.
    pub(crate) room: Room,
    /// Given when the server is told to end.
    pub(crate) gone: CancellationToken,
}

impl Site {
    /// What is known of a caller, its token's principal among it where the host gave no identity.
    pub(crate) fn facts(&self, principal: Option<&str>) -> Facts {
        let facts = self.served.facts.clone();
        match principal {
            Some(principal) if facts.identification().is_none() => {
                facts.identity(Identification::principal(principal))
            }
            _ => facts,
        }
    }
}
