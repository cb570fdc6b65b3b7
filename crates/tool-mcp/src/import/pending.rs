//! A request on its way.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Map;
use tokio::time::{Instant, sleep_until, timeout, timeout_at};
use tool_core::BoxFuture;

use super::board::Addressee;
use super::call_error::CallError;
use super::carrier::unanswered;
use super::connection::Connection;
use super::incoming::Asked;
use super::mailbox::{Answer, Letter, Logged, Mailbox, Report};
use super::open_questions::{Answering, OpenQuestions};
use super::slot::{GoingOn, Slot, drawn_key};
use super::turns::Turn;
use super::whose::Whose;
use crate::serve::{CallingClient, logger_of};
use crate::wire::{Id, Message, OneLine, RpcError};

/// What a server is told when a request of ours is given up, whatever the cause: causes are
/// nobody's business but ours.
const CANCEL_REASON: &str = "the caller no longer waits";
/// Longer than anybody waits.
const NEVER: Duration = Duration::from_secs(30 * 365 * 24 * 60 * 60);
/// Questions in the middle of one request that may wait for an answer at the same time.
const QUESTIONS: usize = 16;

/// A request on its way. Dropping it tells the server that nobody waits any more, except where the
/// caller is about to come back, with an answer that somebody waits for: then it is parked.
pub(crate) struct Pending<'a> {
    pub(super) connection: &'a Connection,
    pub(super) id: u64,
    pub(super) mailbox: Mailbox,
    /// Whose it is, where the server may ask for something in its middle.
    pub(super) whose: Option<Whose>,
    /// Whether the server is to be told.
    pub(super) told: bool,
    /// What of the time in all is left, not counting what people take to answer.
    pub(super) left: Duration,
    pub(super) slot: Option<Slot>,
    /// Questions of the server that are not answered.
    pub(super) asked: Vec<Question>,
    /// How many there were.
    pub(super) questions: u64,
    /// Since when the time is the server's.
    pub(super) since: Option<Instant>,
    /// Held as long as the server may be at work on it.
    pub(super) turn: Option<Arc<Turn>>,
}

/// A question, and what tells it from others of its call.
#[derive(Clone)]
pub(crate) struct Question {
    pub(super) key: String,
    pub(super) asked: Asked,
}

impl Pending<'_> {
    /// Waits for the answer. Reports and questions of the server are taken meanwhile, and the time
    /// in which a question is open is not the server's.
    ///
    /// # Cancel safety
    /// Dropping the future gives the request up, or parks it.
    pub(crate) async fn settle(mut self, report: impl Fn(Report)) -> Result<Answer, CallError> {
        let connection = self.connection;
        let limits = connection.limits();
        // One timer for both, as setting one is a part of what a call costs.
        let begun = Instant::now();
        let (mut over, mut idle) = (after(begun, self.left), after(begun, limits.idle));
        let mut due = pin!(sleep_until(over.min(idle)));
        let mut furthest = f64::NEG_INFINITY;
        let mut open = OpenQuestions::new();
        for question in self.asked.clone() {
            open.push(question.asked.id.clone(), answering(connection, question));
        }
        self.since = open.is_empty().then_some(begun);
        loop {
            let quiet = open.is_empty();
            let letter = tokio::select! {
                biased;
                letter = self.mailbox.next() => letter,
                (id, answer) = open.next(), if !quiet => {
                    self.asked.retain(|open| open.asked.id != id);
                    connection.reply(answer_to(connection.server(), id, answer));
                    if open.is_empty() {
                        let now = Instant::now();
                        self.since = Some(now);
                        (over, idle) = (after(now, self.left), after(now, limits.idle));
                        due.as_mut().reset(over.min(idle));
                    }
                    continue;
                }
                () = &mut due, if quiet => return Err(if over <= idle {
                    CallError::Total(limits.total)
                } else {
                    CallError::Idle(limits.idle)
                }),
            };
            match letter {
                Letter::Progress(progress) => {
                    idle = after(Instant::now(), limits.idle);
                    due.as_mut().reset(over.min(idle));
                    if progress.progress >= furthest {
                        furthest = progress.progress;
                        report(progress);
                    }
                }
                Letter::Asked(asked) if open.len() >= QUESTIONS => {
                    connection.reply(unanswered(asked.id, RpcError::BUSY));
                }
                Letter::Asked(asked) => {
                    if quiet {
                        self.left = over.saturating_duration_since(Instant::now());
                        self.since = None;
                    }
                    self.questions += 1;
                    let key = asked.key.clone().unwrap_or_else(|| self.next_key());
                    let question = Question { key, asked };
                    self.asked.push(question.clone());
                    open.push(question.asked.id.clone(), answering(connection, question));
                }
                Letter::Logged(logged) => {
                    let until = match quiet {
                        true => over.min(idle),
                        false => after(Instant::now(), limits.idle),
                    };
                    tell(connection.server(), logged, until).await;
                }
                Letter::Withdrawn(id) => {
                    self.asked.retain(|open| open.asked.id != id);
                    open.remove(&id);
                    if open.is_empty() && !quiet {
                        let now = Instant::now();
                        self.since = Some(now);
                        (over, idle) = (after(now, self.left), after(now, limits.idle));
                        due.as_mut().reset(over.min(idle));
                    }
                }
                Letter::End(end) => {
                    self.told = false;
                    self.hand_over();
                    return end;
                }
            }
            // No flood of letters outlasts it.
            if open.is_empty() && Instant::now() >= over {
                return Err(CallError::Total(limits.total));
            }
        }
    }

    /// The name of the latest question.
    fn next_key(&self) -> String {
        let key = format!("{}-{}", self.id, self.questions);
        match &self.slot {
            Some(slot) => slot.question(&key),
            None => format!("{}-{key}", self.connection.server()),
        }
    }

    /// Hands over questions that are open when the request has ended: where the server does not say
    /// of which one it asks, another one of the same caller may wait for the answer. Else nobody
    /// answers, and the server is told so.
    fn hand_over(&mut self) {
        let connection = self.connection;
        for Question { key, mut asked } in self.asked.drain(..) {
            asked.key = Some(key);
            let addressee = match self.whose.as_ref().filter(|_| asked.of.is_none()) {
                Some(whose) => connection.board().hand_over(whose, asked),
                None => Addressee::Nobody(asked),
            };
            let (id, code) = match addressee {
                Addressee::Caller => continue,
                Addressee::Busy(asked) => (asked.id, RpcError::BUSY),
                Addressee::Nobody(asked) | Addressee::Unknown(asked) => {
                    (asked.id, RpcError::INTERNAL)
                }
            };
            connection.reply(unanswered(id, code));
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

/// Tells the client whose call it is what the server logs. One that does not read holds up its own
/// call, and no longer than that may take.
#[cold]
fn tell(server: &str, logged: Logged, until: Instant) -> BoxFuture<'_, ()> {
    let Logged {
        level,
        logger,
        data,
    } = logged;
    Box::pin(async move {
        if let Some(client) = CallingClient::current() {
            let logger = logger_of(server, logger.as_deref());
            let told = client.log(level, Some(&logger), data);
            // What has not come through is not worth more.
            let _ = timeout_at(until, told).await;
        }
    })
}

/// When so much time has passed since then, which is never where it is more than a clock can tell.
fn after(now: Instant, time: Duration) -> Instant {
    now.checked_add(time).unwrap_or(now + NEVER)
}

fn answering(connection: &Connection, question: Question) -> Answering<'_> {
    Box::pin(async move {
        let Question { key, asked } = question;
        let Asked { method, params, .. } = asked;
        let party = connection.party();
        let server = connection.server();
        let patience = connection.limits().total;
        let answer = timeout(patience, party.provide(server, key, &method, params)).await;
        answer.unwrap_or(Err(CallError::Total(patience)))
    })
}

/// What a server is told of a question that somebody was asked.
pub(crate) fn answer_to(
    server: &str,
    id: Id,
    answer: Result<serde_json::Value, CallError>,
) -> Message {
    match answer {
        Ok(answer) => Message::answer(id, Ok(answer)),
        Err(refused) => {
            let refused = OneLine(refused);
            tracing::warn!(server, %refused, "a question of a server was refused");
            unanswered(id, RpcError::INTERNAL)
        }
    }
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        let connection = self.connection;
        // What is on its way goes on as well, though another one has asked: it is not sent twice.
        if let Some(slot) = self.slot.take().filter(|slot| self.told && slot.goes_on())
            && let Some(key) = drawn_key()
        {
            if let Some(since) = self.since.take() {
                self.left = self.left.saturating_sub(since.elapsed());
            }
            // Said where there is no room as well: the next round begins nothing anew.
            slot.keep(GoingOn::Parked(key.clone()));
            if connection.park(&slot, &key, self) {
                return;
            }
        }
        for question in self.asked.drain(..) {
            connection.reply(unanswered(question.asked.id, RpcError::INTERNAL));
        }
        if !self.told {
            connection.board().take(self.id);
            return;
        }
        connection.give_up(self.id);
    }
}

impl Connection {
    /// Gives a request up, and tells the server unless it has answered.
    pub(super) fn give_up(&self, id: u64) {
        if self.board().give_up(id) && self.carrier().give_up(id) {
            let mut params = Map::new();
            params.insert("requestId".to_owned(), id.into());
            params.insert("reason".to_owned(), CANCEL_REASON.into());
            self.notify("notifications/cancelled", params);
        }
    }
}
