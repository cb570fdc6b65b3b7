//! Requests to one server.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, Weak};

use serde_json::{Map, Value};
use tokio::time::Instant;

use super::Limits;
use super::board::Board;
use super::call_error::CallError;
use super::carrier::Carrier;
use super::era::Era;
use super::mailbox::{Answer, Mailbox, Report};
use super::open_questions::OpenQuestions;
use super::parked::Parked;
use super::party::Party;
use super::pending::Pending;
use super::slot::{Asking, Claim, GoingOn, Slot};
use super::target::{Check, Target};
use super::whose::Whose;
use crate::serve::CallingClient;
use crate::wire::{Id, Message};

/// How often a server may ask for something before it answers one request.
const MOST_ROUNDS: usize = 10;
/// How many things it may ask for at the same time.
const MOST_QUESTIONS: usize = 64;

/// A server that can be sent requests.
pub(crate) struct Connection {
    carrier: Carrier,
    board: Arc<Board>,
    limits: Limits,
    party: Party,
    era: OnceLock<Era>,
    next_id: AtomicU64,
    listening: AtomicBool,
    parked: Parked,
    me: Weak<Self>,
}

impl Connection {
    /// Waits until the server's tools were looked at since it last said that they changed, as long
    /// as it may take to connect, and tells whether this one may be called.
    pub(crate) async fn check(&self, target: &Target) -> Result<(), CallError> {
        let check = Check {
            target,
            board: &self.board,
            patience: self.limits.connect,
        };
        check.pass().await
    }

    pub(crate) fn new(
        carrier: Carrier,
        board: Arc<Board>,
        limits: Limits,
        party: Party,
    ) -> Arc<Self> {
        Arc::new_cyclic(|me| Self {
            carrier,
            board,
            limits,
            party,
            era: OnceLock::new(),
            next_id: AtomicU64::new(1),
            listening: AtomicBool::new(false),
            parked: Parked::default(),
            me: Weak::clone(me),
        })
    }

    pub(crate) fn board(&self) -> &Board {
        &self.board
    }

    pub(crate) fn party(&self) -> &Party {
        &self.party
    }

    /// The configured name of the server.
    pub(crate) fn server(&self) -> &str {
        &self.board.tally.server
    }

    pub(super) fn carrier(&self) -> &Carrier {
        &self.carrier
    }

    pub(super) fn limits(&self) -> &Limits {
        &self.limits
    }

    pub(super) fn parked(&self) -> &Parked {
        &self.parked
    }

    pub(super) fn weak(&self) -> Weak<Self> {
        Weak::clone(&self.me)
    }

    /// Answers a question of the server.
    pub(super) fn reply(&self, reply: Message) {
        self.carrier.reply(reply);
    }

    /// Settles the era, once.
    pub(crate) fn settle(&self, era: Era) {
        self.carrier.settle(&era);
        if era.tells_pages() {
            self.board.set_tells_pages();
        }
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
        let params = Some(Value::Object(params));
        let _ = self.carrier.send(&Message::notice(method, params), None);
    }

    /// Sends a request of the settled era.
    pub(crate) async fn begin(
        &self,
        method: &'static str,
        params: Map<String, Value>,
        target: Option<&Arc<Target>>,
    ) -> Result<Pending<'_>, CallError> {
        match self.era.get() {
            Some(era) => self.begin_as(era, method, params, target).await,
            None => {
                let unknown = Era::Handshake("".into());
                self.begin_as(&unknown, method, params, target).await
            }
        }
    }

    /// Sends a request of an era that is not settled yet.
    pub(crate) async fn begin_as(
        &self,
        era: &Era,
        method: &'static str,
        mut params: Map<String, Value>,
        target: Option<&Arc<Target>>,
    ) -> Result<Pending<'_>, CallError> {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        if method != "initialize" {
            era.dress(&mut params, &self.party, &self.board.tally, id)
                .await;
        }
        // Last of all that may wait: what is sent is a call of what was trusted.
        if let Some(target) = target {
            self.check(target).await?;
        }
        let mailbox = Mailbox::default();
        let whose = may_ask(method).then(Whose::current);
        self.board.enter(id, mailbox.clone(), whose.clone())?;
        let request = Message::request(Id::from(id), method, Value::Object(params));
        if let Err(error) = self.carrier.send(&request, target) {
            self.board.take(id);
            return Err(error);
        }
        Ok(Pending {
            connection: self,
            id,
            mailbox,
            whose,
            // Neither greeting may be cancelled.
            told: !matches!(method, "initialize" | "server/discover"),
            left: self.limits.total,
            slot: None,
            asked: Vec::new(),
            questions: 0,
            since: None,
            turn: None,
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
        self.ask(method, params, None, None, |_| {}).await
    }

    /// The same for a request about which there may be reports, and in the middle of which the
    /// server may ask for something. With a claim it goes on from what a round before left. The tool
    /// that it is for is looked at ahead of each round.
    pub(crate) async fn ask(
        &self,
        method: &'static str,
        mut params: Map<String, Value>,
        target: Option<&Arc<Target>>,
        claim: Option<&mut Claim>,
        report: impl Fn(Report),
    ) -> Result<Answer, CallError> {
        let mut left = self.limits.total;
        let (slot, mut turn, mut going_on) = match claim {
            Some(claim) => (Some(claim.slot.clone()), claim.turn.take(), claim.take()),
            None => (None, None, None),
        };
        // Beside what tells one call from another: a round may come with another trace.
        if let Some(meta) = may_ask(method).then(CallingClient::carried).flatten() {
            params.insert("_meta".to_owned(), meta.into());
        }
        let mut begun = going_on.is_some();
        let went_on = begun;
        let keep = |answer: &Answer| {
            if let Some(slot) = slot.as_ref().filter(|slot| went_on || slot.has_asked()) {
                self.keep_answer(slot, answer);
            }
        };
        for _ in 0..=MOST_ROUNDS {
            let (result, answered) = match going_on.take() {
                Some(GoingOn::Asked { result, answered }) => (result, answered),
                other => {
                    let sent = match other {
                        Some(GoingOn::Parked(key)) => self.unpark(&key, slot.clone()),
                        // Without a handshake there may be another round.
                        _ if self.is_stateless() && may_ask(method) => {
                            self.begin(method, params.clone(), target).await
                        }
                        _ => {
                            let params = std::mem::take(&mut params);
                            self.begin(method, params, target).await
                        }
                    };
                    let again = std::mem::replace(&mut begun, true);
                    let mut pending = sent.map_err(|error| error.after(again))?;
                    pending.left = left.min(pending.left);
                    pending.slot.clone_from(&slot);
                    turn = pending.turn.take().or(turn);
                    pending.turn.clone_from(&turn);
                    let started = Instant::now();
                    let answer = pending.settle(&report).await;
                    let mut answer = answer.map_err(|error| error.after(again))?;
                    match answer.result.get("resultType") {
                        None => {
                            keep(&answer);
                            return Ok(answer);
                        }
                        Some(kind) if kind == "complete" => {
                            if let Some(result) = answer.result.as_object_mut() {
                                result.remove("resultType");
                            }
                            keep(&answer);
                            return Ok(answer);
                        }
                        Some(kind)
                            if kind == "input_required"
                                && self.is_stateless()
                                && may_ask(method) =>
                        {
                            // The time that a person takes between rounds is not the server's.
                            left = left.saturating_sub(started.elapsed());
                            (answer.result, Map::new())
                        }
                        Some(kind) => {
                            let kind = kind.as_str().unwrap_or_default();
                            return Err(CallError::ResultType(kind.chars().take(100).collect()));
                        }
                    }
                }
            };
            self.provide(slot.as_ref(), result, answered, &mut params)
                .await?;
        }
        Err(CallError::Rounds(MOST_ROUNDS))
    }

    /// Puts the answers to what a server asked into the request that is sent again.
    async fn provide(
        &self,
        slot: Option<&Slot>,
        result: Value,
        answered: Map<String, Value>,
        params: &mut Map<String, Value>,
    ) -> Result<(), CallError> {
        params.remove("inputResponses");
        params.remove("requestState");
        let wanted = result.get("inputRequests").cloned();
        let state = result.get("requestState").cloned();
        let mut asking = Asking {
            slot,
            result,
            answered,
        };
        let mut open = OpenQuestions::new();
        if let Some(Value::Object(wanted)) = wanted {
            if wanted.len() > MOST_QUESTIONS {
                return Err(CallError::Unreadable);
            }
            for (key, mut request) in wanted {
                if asking.answered.contains_key(&key) {
                    continue;
                }
                let method = request.get("method").and_then(Value::as_str);
                let method = method.unwrap_or_default().to_owned();
                let asked = request.get_mut("params").map(Value::take);
                let (asked, server) = (asked.unwrap_or_default(), self.server());
                let answering = {
                    let key = slot.map_or_else(|| key.clone(), |slot| slot.question(&key));
                    async move { self.party.provide(server, key, &method, asked).await }
                };
                open.push(key, Box::pin(answering));
            }
        }
        if open.is_empty() && asking.answered.is_empty() && state.is_none() {
            return Err(CallError::Unreadable);
        }
        while !open.is_empty() {
            let (key, answer) = open.next().await;
            asking.answered.insert(key, answer?);
        }
        let responses = std::mem::take(&mut asking.answered);
        if !responses.is_empty() {
            params.insert("inputResponses".to_owned(), responses.into());
        }
        if let Some(state) = state {
            params.insert("requestState".to_owned(), state);
        }
        Ok(())
    }
}

/// Whether a server may ask for something in the middle of such a request.
fn may_ask(method: &str) -> bool {
    matches!(method, "tools/call" | "prompts/get" | "resources/read")
}
