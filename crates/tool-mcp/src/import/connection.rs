//! Requests to one server.

use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use serde_json::{Map, Value};
use tokio::time::{Instant, sleep_until};

use super::Limits;
use super::board::Board;
use super::call_error::CallError;
use super::carrier::Carrier;
use super::era::Era;
use super::inputs::WantedInput;
use super::mailbox::{Answer, Letter, Mailbox, Report};
use super::party::Party;
use crate::wire::Outgoing;

/// What a server is told when a request of ours is given up, whatever the cause: causes are
/// nobody's business but ours.
const CANCEL_REASON: &str = "the caller no longer waits";
/// How often a server may ask for something before it answers one request.
const MOST_ROUNDS: usize = 10;

/// A server that can be sent requests.
pub(crate) struct Connection {
    carrier: Carrier,
    board: Arc<Board>,
    limits: Limits,
    party: Party,
    era: OnceLock<Era>,
    next_id: AtomicU64,
    listening: AtomicBool,
}

/// A request on its way. Dropping it tells the server that nobody waits any more.
pub(crate) struct Pending<'a> {
    connection: &'a Connection,
    id: u64,
    mailbox: Mailbox,
    /// Whether the server is to be told.
    told: bool,
}

impl Connection {
    /// Waits until the server's tools were looked at since it last said that they changed, as long
    /// as it may take to connect.
    pub(crate) async fn tools_seen(&self) -> Result<(), CallError> {
        let seen = tokio::time::timeout(self.limits.connect, self.board.tools_seen());
        seen.await.map_err(|_| CallError::Changed)
    }

    pub(crate) fn new(carrier: Carrier, board: Arc<Board>, limits: Limits, party: Party) -> Self {
        Self {
            carrier,
            board,
            limits,
            party,
            era: OnceLock::new(),
            next_id: AtomicU64::new(1),
            listening: AtomicBool::new(false),
        }
    }

    pub(crate) fn board(&self) -> &Board {
        &self.board
    }

    pub(crate) fn party(&self) -> &Party {
        &self.party
    }

    /// Settles the era, once.
    pub(crate) fn settle(&self, era: Era) {
        self.carrier.settle(&era);
        // It is settled by the only one who greets.
        let _ = self.era.set(era);
    }

    /// Whether it is known which era the server speaks.
    pub(crate) fn is_settled(&self) -> bool {
        self.era.get().is_some()
    }

    /// Whether the server tells of changes on a request that stays open.
    pub(crate) fn is_listening(&self) -> bool {
        self.listening.load(Ordering::Relaxed)
    }

    pub(crate) fn set_listening(&self, listening: bool) {
        self.listening.store(listening, Ordering::Relaxed);
    }

    pub(crate) fn is_stateless(&self) -> bool {
        self.era.get() == Some(&Era::Stateless)
    }

    /// Learns what requests of the tools of a list need beside their arguments. Whether tools
    /// that ask for that in a wrong way are none that can be called.
    pub(crate) fn learn(&self, listing: &super::listing::Listing) -> bool {
        self.carrier.learn(listing);
        self.carrier.mirrors() && self.is_stateless()
    }

    /// Says that nothing more will be sent, and fails what still waits.
    pub(crate) async fn close(&self) {
        self.carrier.close().await;
    }

    pub(crate) fn notify(&self, method: &'static str, params: Map<String, Value>) {
        // A server that is gone needs no telling.
        let _ = self.carrier.send(&Outgoing::notification(method, params));
    }

    /// Sends a request of the settled era.
    pub(crate) fn begin(
        &self,
        method: &'static str,
        params: Map<String, Value>,
    ) -> Result<Pending<'_>, CallError> {
        match self.era.get() {
            Some(era) => self.begin_as(era, method, params),
            None => self.begin_as(&Era::Handshake("".into()), method, params),
        }
    }

    /// Sends a request of an era that is not settled yet.
    pub(crate) fn begin_as(
        &self,
        era: &Era,
        method: &'static str,
        mut params: Map<String, Value>,
    ) -> Result<Pending<'_>, CallError> {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        if method != "initialize" {
            era.dress(&mut params, &self.party, id);
        }
        let mailbox = Mailbox::default();
        self.board.enter(id, mailbox.clone())?;
        if let Err(error) = self.carrier.send(&Outgoing::request(id, method, params)) {
            self.board.take(id);
            return Err(error);
        }
        Ok(Pending {
            connection: self,
            id,
            mailbox,
            // Neither greeting may be cancelled.
            told: !matches!(method, "initialize" | "server/discover"),
        })
    }

    /// Sends a request and waits for its whole result.
    ///
    /// Reports of progress are passed on in their order; one that goes back is dropped. Each
    /// extends the time for the next, never the time in all.
    ///
    /// # Cancel safety
    /// Dropping the future tells the server that nobody waits any more.
    pub(crate) async fn request(
        &self,
        method: &'static str,
        params: Map<String, Value>,
    ) -> Result<Answer, CallError> {
        self.ask(method, params, |_| {}).await
    }

    /// The same for a request about which there may be reports, and in the middle of which the
    /// server may ask for something.
    pub(crate) async fn ask(
        &self,
        method: &'static str,
        mut params: Map<String, Value>,
        report: impl Fn(Report),
    ) -> Result<Answer, CallError> {
        let may_ask = self.is_stateless()
            && matches!(method, "tools/call" | "prompts/get" | "resources/read");
        let mut left = self.limits.total;
        for _ in 0..=MOST_ROUNDS {
            let started = Instant::now();
            let sent = match may_ask {
                true => params.clone(),
                // There is no other round.
                false => std::mem::take(&mut params),
            };
            let pending = self.begin(method, sent)?;
            let mut answer = pending.settle(left, &report).await?;
            // The time that a person takes to answer is not the server's.
            left = left.saturating_sub(started.elapsed());
            match answer.result.get("resultType") {
                None => return Ok(answer),
                Some(kind) if kind == "complete" => {
                    if let Some(result) = answer.result.as_object_mut() {
                        result.remove("resultType");
                    }
                    return Ok(answer);
                }
                Some(kind) if kind == "input_required" && may_ask => {
                    self.provide(&mut answer.result, &mut params).await?;
                }
                Some(kind) => {
                    let kind = kind.as_str().unwrap_or_default();
                    return Err(CallError::ResultType(kind.chars().take(100).collect()));
                }
            }
        }
        Err(CallError::Rounds(MOST_ROUNDS))
    }

    /// Puts the answers to what a server asked into the request that is sent again.
    async fn provide(
        &self,
        result: &mut Value,
        params: &mut Map<String, Value>,
    ) -> Result<(), CallError> {
        params.remove("inputResponses");
        params.remove("requestState");
        let wanted = result.get_mut("inputRequests").map(Value::take);
        let state = result.get_mut("requestState").map(Value::take);
        let mut responses = Map::new();
        if let Some(Value::Object(wanted)) = wanted {
            for (key, mut request) in wanted {
                let method = request.get("method").and_then(Value::as_str);
                let method = method.unwrap_or_default().to_owned();
                let asked = request.get_mut("params").map(Value::take);
                let server = &self.board.tally.server;
                let wanted = WantedInput::new(server, &method, asked.unwrap_or_default());
                responses.insert(key, self.party.provide(wanted).await?);
            }
        }
        if responses.is_empty() && state.is_none() {
            return Err(CallError::Unreadable);
        }
        if !responses.is_empty() {
            params.insert("inputResponses".to_owned(), responses.into());
        }
        if let Some(state) = state {
            params.insert("requestState".to_owned(), state);
        }
        Ok(())
    }
}

impl Pending<'_> {
    /// Waits for the answer.
    ///
    /// # Cancel safety
    /// Dropping the future gives the request up.
    pub(crate) async fn settle(
        mut self,
        total: Duration,
        report: impl Fn(Report),
    ) -> Result<Answer, CallError> {
        let limits = &self.connection.limits;
        let started = Instant::now();
        let mut over = pin!(sleep_until(started + total));
        let mut idle = pin!(sleep_until(started + limits.idle));
        let mut furthest = f64::NEG_INFINITY;
        loop {
            let letter = tokio::select! {
                biased;
                // First, so that no flood of reports outlasts it.
                () = &mut over => return Err(CallError::Total(limits.total)),
                letter = self.mailbox.next() => letter,
                () = &mut idle => return Err(CallError::Idle(limits.idle)),
            };
            match letter {
                Letter::Progress(progress) => {
                    idle.as_mut().reset(Instant::now() + limits.idle);
                    if progress.progress >= furthest {
                        furthest = progress.progress;
                        report(progress);
                    }
                }
                Letter::End(end) => {
                    self.told = false;
                    return end;
                }
            }
        }
    }

    /// Waits for the end without any limit of time, for a request that is meant to stay open.
    pub(crate) async fn stay(&mut self) -> Result<Answer, CallError> {
        loop {
            if let Letter::End(end) = self.mailbox.next().await {
                self.told = false;
                return end;
            }
        }
    }
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        let connection = self.connection;
        if connection.board.take(self.id).is_none() || !self.told {
            return;
        }
        if connection.carrier.give_up(self.id) {
            let mut params = Map::new();
            params.insert("requestId".to_owned(), self.id.into());
            params.insert("reason".to_owned(), CANCEL_REASON.into());
            connection.notify("notifications/cancelled", params);
        }
    }
}
