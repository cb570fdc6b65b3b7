//! Who waits for what on one connection.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;

use super::call_error::CallError;
use super::incoming::Asked;
use super::left::Left;
use super::mailbox::{Letter, Logged, Mailbox};
use super::whose::Whose;
use super::wishes::Wishes;
use crate::offerings::{OfferEvent, OfferEventSender, OfferKind};
use crate::serve::PAGE_ID_BYTES;
use crate::wire::{Id, Lookout};

/// Who waits for what on one connection: shared by whoever reads it and the callers.
pub(crate) struct Board {
    waiting: Mutex<HashMap<u64, Waiting>>,
    /// Locked after who waits.
    left: Mutex<Left>,
    tools_changed: Notify,
    /// How often the server said that its tools have changed.
    changes_told: AtomicU64,
    /// How many of these were looked at.
    changes_seen: watch::Sender<u64>,
    closed: CancellationToken,
    /// Whether the revision that is spoken lets the server tell that a page is done.
    tells_pages: AtomicBool,
    /// Of what the server sends.
    pub(crate) lookout: Arc<Lookout>,
    pub(crate) tally: Arc<Tally>,
    pub(crate) frame_bytes: usize,
}

/// Who waits for the answer to a request.
struct Waiting {
    mailbox: Mailbox,
    /// For one in the middle of which the server may ask for something.
    whose: Option<Whose>,
}

/// Where a question of the server belongs.
pub(crate) enum Addressee {
    /// In the middle of a request: to whoever made it.
    Caller,
    /// There is no request in the middle of which it could be.
    Nobody(Asked),
    /// There are several, of several callers or of one that cannot be told from others, or it was
    /// another one that is over.
    Unknown(Asked),
    /// The one to whom it belongs has too many already.
    Busy(Asked),
}

/// Why it is not known in the middle of which request a server said something.
enum Lost {
    /// There is none.
    Nobody,
    /// There are several, or it was another one.
    Unknown,
}

impl Addressee {
    fn by(mailbox: &Mailbox, asked: Asked) -> Self {
        match mailbox.offer(Letter::Asked(asked.clone())) {
            true => Self::Caller,
            false => Self::Busy(asked),
        }
    }
}

/// What of a server is counted and told beyond one connection.
pub(crate) struct Tally {
    pub(crate) server: String,
    skipped_lines: AtomicU64,
    stray_messages: AtomicU64,
    changes: AtomicU64,
    pub(crate) events: OfferEventSender,
    pub(crate) wishes: Arc<Wishes>,
}

impl Board {
    pub(crate) fn new(tally: Arc<Tally>, frame_bytes: usize) -> Self {
        Self {
            waiting: Mutex::default(),
            left: Mutex::default(),
            tools_changed: Notify::new(),
            changes_told: AtomicU64::new(0),
            changes_seen: watch::Sender::new(0),
            closed: CancellationToken::new(),
            tells_pages: AtomicBool::new(false),
            lookout: Arc::default(),
            tally,
            frame_bytes,
        }
    }

    /// Enters a request that is about to be sent, or says that nothing can be sent any more.
    pub(crate) fn enter(
        &self,
        id: u64,
        mailbox: Mailbox,
        whose: Option<Whose>,
    ) -> Result<(), CallError> {
        let mut waiting = self.waiting();
        // Looked at under the lock that closing takes, so that nobody enters behind it.
        if self.closed.is_cancelled() {
            return Err(CallError::NotSent);
        }
        let is_call = whose.is_some();
        waiting.insert(id, Waiting { mailbox, whose });
        if is_call {
            // What stays open to listen is no answer that is waited for.
            let calls = waiting.values().filter(|other| other.whose.is_some());
            match calls.take(2).count() {
                1 => self.lookout.sent(),
                _ => self.lookout.crowd(),
            }
        }
        Ok(())
    }

    /// Takes out a request that nobody waits for any more.
    pub(crate) fn take(&self, id: u64) -> Option<Mailbox> {
        self.waiting().remove(&id).map(|waiting| waiting.mailbox)
    }

    /// Takes out a request that its caller has given up. Whether it was there.
    pub(crate) fn give_up(&self, id: u64) -> bool {
        let mut waiting = self.waiting();
        let Some(given_up) = waiting.remove(&id) else {
            return false;
        };
        if let Some(whose) = given_up.whose {
            self.left().add(whose);
        }
        true
    }

    /// Takes a question to the request in the middle of which it was asked: `of` where the server
    /// said so, else the only one, or the latest where all are of one caller, as were those that
    /// were given up a moment ago.
    pub(crate) fn ask(&self, of: Option<u64>, asked: Asked) -> Addressee {
        let asked = Asked { of, ..asked };
        // Held until the question is there: nothing comes behind the end of a request.
        let waiting = self.waiting();
        match self.addressed(&waiting, of) {
            Ok((_, mailbox)) => Addressee::by(mailbox, asked),
            Err(Lost::Nobody) => Addressee::Nobody(asked),
            Err(Lost::Unknown) => Addressee::Unknown(asked),
        }
    }

    /// Takes what the server logs to the client in the middle of whose request it does, by the same
    /// rule. Whether there is one: what the host itself asked for is logged for nobody else.
    pub(crate) fn log(&self, of: Option<u64>, logged: impl FnOnce() -> Logged) -> bool {
        let waiting = self.waiting();
        match self.addressed(&waiting, of) {
            Ok((Whose::Session(_) | Whose::Somebody, mailbox)) => {
                // Of a flood the newest are lost.
                mailbox.offer(Letter::Logged(logged()));
                true
            }
            Ok((Whose::Host, _)) | Err(_) => false,
        }
    }

    /// The request in the middle of which the server says something, and whose it is.
    fn addressed<'w>(
        &self,
        waiting: &'w HashMap<u64, Waiting>,
        of: Option<u64>,
    ) -> Result<(&'w Whose, &'w Mailbox), Lost> {
        if let Some(of) = of {
            let named = waiting.get(&of).ok_or(Lost::Unknown)?;
            let whose = named.whose.as_ref().ok_or(Lost::Nobody)?;
            return Ok((whose, &named.mailbox));
        }
        let callers = waiting
            .iter()
            .filter_map(|(id, waiting)| Some((id, waiting.whose.as_ref()?, waiting)));
        let latest = callers.clone().max_by_key(|(id, ..)| **id);
        let (_, whose, latest) = latest.ok_or(Lost::Nobody)?;
        let mut others = callers.map(|(_, whose, _)| whose);
        let alone = others.clone().count() == 1;
        let one = alone || others.all(|other| other.is_same(whose));
        match one && self.left().is_all_of(whose) {
            true => Ok((whose, &latest.mailbox)),
            false => Err(Lost::Unknown),
        }
    }

    /// Takes a question that was asked of somebody to the latest request of the same caller, as the
    /// one that it was taken to has ended. Nobody else is asked, whoever waits.
    pub(crate) fn hand_over(&self, whose: &Whose, asked: Asked) -> Addressee {
        let waiting = self.waiting();
        let own = waiting.iter().filter(|(_, waiting)| {
            let other = waiting.whose.as_ref();
            other.is_some_and(|other| other.is_same(whose))
        });
        match own.max_by_key(|(id, _)| **id) {
            Some((_, latest)) => Addressee::by(&latest.mailbox, asked),
            None => Addressee::Nobody(asked),
        }
    }

    /// Tells everybody who may have been asked that a question is withdrawn.
    pub(crate) fn withdraw(&self, question: &Id) {
        for waiting in self.waiting().values() {
            if waiting.whose.is_some() {
                waiting.mailbox.offer(Letter::Withdrawn(question.clone()));
            }
        }
    }

    /// Whether anybody waits for the answer to a request.
    #[cfg(feature = "http-client")]
    pub(crate) fn has(&self, id: u64) -> bool {
        self.waiting().contains_key(&id)
    }

    /// Whether nobody waits for anything.
    #[cfg(feature = "http-client")]
    pub(crate) fn is_idle(&self) -> bool {
        self.waiting().is_empty()
    }

    /// Ends a request. An answer that nobody waits for, such as one after its cancellation or a
    /// second one, is counted and does nothing else.
    pub(crate) fn end(&self, id: u64, end: Result<super::mailbox::Answer, CallError>) {
        match self.take(id) {
            Some(mailbox) => mailbox.put(Letter::End(end)),
            None => self.stray(),
        }
    }

    /// Passes on a report to whoever waits for the request of that id, which is our token as well.
    pub(crate) fn report(&self, token: &Value, report: super::mailbox::Report) {
        let id = match token {
            Value::Number(id) => id.as_u64(),
            // Some servers answer with the token's text.
            Value::String(id) => id.parse().ok(),
            _ => None,
        };
        let mailbox = id.and_then(|id| Some(self.waiting().get(&id)?.mailbox.clone()));
        match mailbox {
            Some(mailbox) => mailbox.put(Letter::Progress(report)),
            None => self.stray(),
        }
    }

    /// Says that the server may tell that pages are done.
    pub(crate) fn set_tells_pages(&self) {
        self.tells_pages.store(true, Ordering::Relaxed);
    }

    /// A page that the server had opened is done: told to whoever was shown it. A server of a
    /// revision that has no such message is not heard, nor is an id that no client is told.
    pub(crate) fn page_done(&self, id: Option<&str>) {
        let server = self.tally.server.clone();
        match id {
            Some(id) if self.tells_pages.load(Ordering::Relaxed) && id.len() <= PAGE_ID_BYTES => {
                let id = id.to_owned();
                self.tally.events.send(OfferEvent::PageDone { server, id });
            }
            _ => {
                tracing::debug!(
                    server,
                    "a page is told to be done in a way that there is not"
                );
                self.stray();
            }
        }
    }

    pub(crate) fn skip_line(&self) {
        self.tally.skipped_lines.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn stray(&self) {
        self.tally.stray_messages.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn note_tools_changed(&self) {
        self.changes_told.fetch_add(1, Ordering::Release);
        self.tools_changed.notify_one();
    }

    /// Has the tools looked at once more, as the last look failed.
    pub(crate) fn look_again(&self) {
        self.tools_changed.notify_one();
    }

    /// How often the server has said that its tools have changed.
    pub(crate) fn changes_told(&self) -> u64 {
        self.changes_told.load(Ordering::Acquire)
    }

    /// Says that the tools were looked at after so many changes.
    pub(crate) fn changes_seen(&self, changes: u64) {
        self.changes_seen.send_replace(changes);
    }

    /// Whether all changes were looked at that were told so far.
    pub(crate) fn are_tools_seen(&self) -> bool {
        *self.changes_seen.borrow() >= self.changes_told()
    }

    /// Waits until all changes were looked at that were told before this was asked.
    pub(crate) async fn tools_seen(&self) {
        let told = self.changes_told();
        if *self.changes_seen.borrow() >= told {
            return;
        }
        let mut seen = self.changes_seen.subscribe();
        // The sender is here, so that there is always somebody who may tell.
        let _ = seen.wait_for(|seen| *seen >= told).await;
    }

    /// Waits until the server says that its tools have changed. Many times count as one.
    pub(crate) async fn tools_changed(&self) {
        self.tools_changed.notified().await;
    }

    /// Nothing more can come in: everybody who waits is told.
    pub(crate) fn close(&self) {
        let mut waiting = self.waiting();
        self.closed.cancel();
        let left = std::mem::take(&mut *waiting);
        drop(waiting);
        for waiting in left.into_values() {
            waiting.mailbox.put(Letter::End(Err(CallError::Gone)));
        }
    }

    /// Waits until nothing more can come in.
    pub(crate) async fn closed(&self) {
        self.closed.cancelled().await;
    }

    fn left(&self) -> MutexGuard<'_, Left> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn waiting(&self) -> MutexGuard<'_, HashMap<u64, Waiting>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Tally {
    pub(crate) fn new(server: String, events: OfferEventSender) -> Self {
        Self {
            server,
            events,
            skipped_lines: AtomicU64::new(0),
            stray_messages: AtomicU64::new(0),
            changes: AtomicU64::new(0),
            wishes: Arc::default(),
        }
    }

    /// How many lines were no messages.
    pub(crate) fn skipped_lines(&self) -> u64 {
        self.skipped_lines.load(Ordering::Relaxed)
    }

    /// Tells that a list of what is offered beside tools has changed.
    pub(crate) fn change(&self, kind: OfferKind) {
        self.changes.fetch_add(1, Ordering::Release);
        self.events.send(OfferEvent::Changed(kind));
    }

    pub(crate) fn changes(&self) -> u64 {
        self.changes.load(Ordering::Acquire)
    }

    /// How many answers and reports nobody waited for.
    pub(crate) fn stray_messages(&self) -> u64 {
        self.stray_messages.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests;
