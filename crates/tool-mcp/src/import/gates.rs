//! What a request passes before it is sent.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::time::{Instant, timeout_at};
use tool_core::Concurrency;

use super::slot::Claim;
use super::throttle::{Place, Throttle};
use super::tickets::Tickets;
use super::turns::{Turn, Turns};

/// What a request passes before it is sent: the limits of its tool and of its server, and the class
/// of its tool.
#[derive(Clone, Default)]
pub(crate) struct Gates {
    pub(super) tool: Option<Arc<Throttle>>,
    pub(super) server: Option<Arc<Throttle>>,
    pub(super) class: Option<Class>,
    /// How long it may wait in all.
    pub(super) patience: Duration,
    /// Those of all that a server is asked, so that it is one for all rounds of a call.
    pub(super) tickets: Arc<Tickets>,
}

/// Which calls of a tool wait for each other.
#[derive(Clone)]
pub(crate) struct Class {
    pub(super) turns: Arc<Turns>,
    pub(super) tool: Arc<str>,
    /// The tool, as the subject of a sentence.
    pub(super) whose: Arc<str>,
    pub(super) concurrency: Concurrency,
}

/// What a request holds while it is on its way.
#[derive(Default)]
pub(crate) struct Places {
    pub(crate) turn: Option<Arc<Turn>>,
    #[expect(dead_code, reason = "held, not read")]
    places: [Option<Place>; 2],
}

impl Gates {
    /// Lets a request through, and holds its places as long as what is returned. One that goes on
    /// was counted when it was begun, unless its client goes on from one round several times; one
    /// that is on its way has its turn.
    ///
    /// # Errors
    /// What the model reads.
    ///
    /// # Cancel safety
    /// A dropped future holds nothing. The request may have been counted.
    pub(crate) async fn enter(
        &self,
        arguments: &Value,
        mut claim: Option<&mut Claim>,
    ) -> Result<Places, String> {
        if self.tool.is_none() && self.server.is_none() && self.class.is_none() {
            return Ok(Places::default());
        }
        let goes_on = claim.as_ref().is_some_and(|claim| claim.goes_on());
        let is_parked = claim.as_ref().is_some_and(|claim| claim.is_parked());
        let is_counted = claim.as_mut().is_some_and(|claim| claim.spend());
        let deadline = Instant::now() + self.patience;
        // Refused at once, whatever it would wait for. The tool's first: a call that its own limit
        // refuses takes nothing from the others.
        if !is_counted {
            self.tool.as_ref().map_or(Ok(()), |tool| tool.count())?;
            self.server
                .as_ref()
                .map_or(Ok(()), |server| server.has_room())?;
        }
        let turn = match &self.class {
            Some(class) if !is_parked => {
                class
                    .turn(arguments, deadline, goes_on, self.patience)
                    .await?
            }
            _ => None,
        };
        let mut places = [None, None];
        if let Some(tool) = &self.tool {
            places[0] = tool.place(deadline, self.patience, goes_on).await?;
        }
        if let Some(server) = self.server.as_ref().filter(|_| !is_counted) {
            server.count()?;
        }
        if let Some(claim) = claim {
            claim.count();
        }
        if let Some(server) = &self.server {
            places[1] = server.place(deadline, self.patience, goes_on).await?;
        }
        Ok(Places { turn, places })
    }
}

impl Class {
    async fn turn(
        &self,
        arguments: &Value,
        deadline: Instant,
        goes_on: bool,
        patience: Duration,
    ) -> Result<Option<Arc<Turn>>, String> {
        let entering = self.turns.enter(&self.tool, &self.concurrency, arguments);
        match timeout_at(deadline, entering).await {
            Ok(turn) => Ok(turn.map(Arc::new)),
            Err(_) => Err(format!(
                "{} runs no two such calls at the same time, and the one before did not end within \
                 {} s; {}",
                self.whose,
                patience.as_secs_f64(),
                became(goes_on),
            )),
        }
    }
}

/// What became of a call that came to no place, as a clause.
pub(super) fn became(goes_on: bool) -> &'static str {
    match goes_on {
        false => "the call was not sent",
        true => "the call cannot go on and may have run in part",
    }
}
