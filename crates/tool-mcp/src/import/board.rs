//! Who waits for what on one connection.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rmcp::model::{ProgressToken, RequestId};
use tokio::sync::Notify;

use super::mailbox::Mailbox;

/// Who waits for what on one connection: shared by the transport, which sees every message in its
/// order, and the callers.
#[derive(Default)]
pub(crate) struct Board {
    waiting: Mutex<Waiting>,
    skipped_lines: AtomicU64,
    list_changed: Notify,
    closed: AtomicBool,
    closing: Notify,
}

#[derive(Default)]
struct Waiting {
    requests: HashMap<RequestId, Waiter>,
    tokens: HashMap<ProgressToken, Mailbox>,
}

/// Who waits for the answer to one request.
pub(crate) struct Waiter {
    /// Absent for requests of the protocol library itself.
    pub(crate) mailbox: Option<Mailbox>,
    token: Option<ProgressToken>,
}

impl Board {
    /// Enters a request that is about to be sent.
    pub(crate) fn enter(
        &self,
        id: RequestId,
        token: Option<ProgressToken>,
        mailbox: Option<Mailbox>,
    ) {
        let mut waiting = self.waiting();
        if let (Some(token), Some(mailbox)) = (&token, &mailbox) {
            waiting.tokens.insert(token.clone(), mailbox.clone());
        }
        waiting.requests.insert(id, Waiter { mailbox, token });
    }

    /// Takes out a request that was answered or cancelled. `None` for one that nobody waits for,
    /// such as an answer after its cancellation.
    pub(crate) fn take(&self, id: &RequestId) -> Option<Waiter> {
        let mut waiting = self.waiting();
        let waiter = waiting.requests.remove(id)?;
        if let Some(token) = &waiter.token {
            waiting.tokens.remove(token);
        }
        Some(waiter)
    }

    /// Who waits for reports under a token.
    pub(crate) fn reports_to(&self, token: &ProgressToken) -> Option<Mailbox> {
        self.waiting().tokens.get(token).cloned()
    }

    pub(crate) fn skip_line(&self) {
        self.skipped_lines.fetch_add(1, Ordering::Relaxed);
    }

    /// How many lines were no messages.
    pub(crate) fn skipped_lines(&self) -> u64 {
        self.skipped_lines.load(Ordering::Relaxed)
    }

    pub(crate) fn note_list_changed(&self) {
        self.list_changed.notify_one();
    }

    /// Waits until the server says that its tools have changed. Many times count as one.
    pub(crate) async fn list_changed(&self) {
        self.list_changed.notified().await;
    }

    pub(crate) fn note_closed(&self) {
        self.closed.store(true, Ordering::Release);
        self.closing.notify_waiters();
    }

    /// Waits until nothing more can come in.
    pub(crate) async fn closed(&self) {
        loop {
            let closing = self.closing.notified();
            tokio::pin!(closing);
            // Listening begins before the look, so that nothing falls between.
            closing.as_mut().enable();
            if self.closed.load(Ordering::Acquire) {
                return;
            }
            closing.await;
        }
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
