//! Requests that wait for a client to come back.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::task::AbortHandle;
use tokio::time::sleep;

use super::call_error::CallError;
use super::connection::Connection;
use super::incoming::Asked;
use super::mailbox::{Answer, Letter, Mailbox};
use super::pending::{Pending, Question};
use super::slot::{Claim, GoingOn, Slot, drawn_key};
use super::turns::Turn;
use super::whose::Whose;
use crate::wire::RpcError;

/// How long a client may take to come back with an answer.
const PATIENCE: Duration = Duration::from_secs(10 * 60);
/// The most requests to one server that wait for clients: over HTTP each takes a place of those
/// that may be on their way, and others need some as well.
const MOST: usize = 16;

/// The number of a request that is answered, which is none of a request on its way.
const ANSWERED: u64 = 0;

/// Requests to one server that go on when a client comes back with a request of its own: because the
/// server asked for something in their middle, or because another one that the client's call came to did.
#[derive(Default)]
pub(crate) struct Parked(Mutex<HashMap<String, Waiting>>);

struct Waiting {
    id: u64,
    mailbox: Mailbox,
    whose: Option<Whose>,
    left: Duration,
    asked: Vec<Question>,
    questions: u64,
    /// Nobody else's turn begins while the server may be at work on it.
    turn: Option<Arc<Turn>>,
    _timer: Timer,
}

/// Gives a request up when nobody comes back for it. Dropped when somebody did.
struct Timer(AbortHandle);

impl Drop for Timer {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Connection {
    /// Keeps a request that nobody awaits for now. Whether there was room for it.
    pub(super) fn park(&self, slot: &Slot, key: &str, pending: &mut Pending<'_>) -> bool {
        self.insert(slot, key, |timer| Waiting {
            id: pending.id,
            mailbox: pending.mailbox.clone(),
            whose: pending.whose.clone(),
            left: pending.left,
            asked: std::mem::take(&mut pending.asked),
            questions: pending.questions,
            turn: pending.turn.take(),
            _timer: timer,
        })
    }

    /// Keeps the answer to a request for which somebody was asked, should the call go on in another
    /// round: what was answered there is good once, and asking again would go on without end. Where
    /// there is no room the next round begins nothing anew all the same.
    pub(super) fn keep_answer(&self, slot: &Slot, answer: &Answer) {
        let (connection, answer) = (self.weak(), answer.clone());
        slot.when_going_on(move |slot| {
            let Some(key) = drawn_key() else {
                return;
            };
            slot.keep(GoingOn::Parked(key.clone()));
            let Some(connection) = connection.upgrade() else {
                return;
            };
            connection.insert(slot, &key, |timer| {
                let mailbox = Mailbox::default();
                mailbox.put(Letter::End(Ok(answer)));
                Waiting {
                    id: ANSWERED,
                    mailbox,
                    whose: None,
                    left: connection.limits().total,
                    asked: Vec::new(),
                    questions: 0,
                    turn: None,
                    _timer: timer,
                }
            });
        });
    }

    /// Keeps something until somebody comes back for it, or it is known that nobody can. Whether there
    /// was room for it.
    fn insert(&self, slot: &Slot, key: &str, waiting: impl FnOnce(Timer) -> Waiting) -> bool {
        {
            let mut parked = self.parked().lock();
            if parked.len() >= MOST {
                return false;
            }
            parked.insert(key.to_owned(), waiting(self.timer(key)));
        }
        let (connection, key) = (self.weak(), key.to_owned());
        slot.when_broken_off(move || {
            if let Some(connection) = connection.upgrade() {
                connection.give_up_parked(&key);
            }
        });
        true
    }

    /// Goes on with a request.
    pub(super) fn unpark(&self, key: &str, slot: Option<Slot>) -> Result<Pending<'_>, CallError> {
        let parked = self.parked().lock().remove(key);
        // It may have run by now, or was given up.
        let parked = parked.ok_or(CallError::Gone)?;
        Ok(Pending {
            connection: self,
            id: parked.id,
            mailbox: parked.mailbox,
            whose: parked.whose,
            told: true,
            left: parked.left,
            slot,
            asked: parked.asked,
            questions: parked.questions,
            since: None,
            turn: parked.turn,
        })
    }

    /// Gives up what goes on no more, whatever is kept of it.
    pub(crate) fn abandon(&self, claim: &mut Claim) {
        if let Some(GoingOn::Parked(key)) = claim.take() {
            self.give_up_parked(&key);
        }
    }

    /// Gives up what is kept under a key, in time. It ends by itself, and holds nothing alive.
    fn timer(&self, key: &str) -> Timer {
        let connection: Weak<Connection> = self.weak();
        let key = key.to_owned();
        let timer = tokio::spawn(async move {
            sleep(PATIENCE).await;
            if let Some(connection) = connection.upgrade() {
                connection.give_up_parked(&key);
            }
        });
        Timer(timer.abort_handle())
    }

    fn give_up_parked(&self, key: &str) {
        let Some(parked) = self.parked().lock().remove(key) else {
            return;
        };
        for Question {
            asked: Asked { id, .. },
            ..
        } in parked.asked
        {
            self.reply(super::carrier::unanswered(id, RpcError::INTERNAL));
        }
        self.give_up(parked.id);
    }
}

impl Parked {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Waiting>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
