//! What a client is to questions, logs and calls of imported servers that are for it.

use std::sync::atomic::Ordering;

use serde_json::{Map, Value, json};

use super::{CURRENT, CallingClient, Needed, lock};
use crate::serve::client::Era;
use crate::serve::{Ask, AskError, AskKind, LogLevel};
use crate::wire::RpcError;

/// What passing questions of imported servers on needs beside.
impl CallingClient {
    pub(crate) fn facts(&self) -> &tool_core::Facts {
        &self.0.client.facts
    }

    pub(crate) fn session(&self) -> Option<&tool_core::SessionId> {
        self.0.client.facts.session_id()
    }

    /// What the request that this task serves told beside its parameters, as far as it is for
    /// whoever is asked in the end.
    pub(crate) fn carried() -> Option<Map<String, Value>> {
        let carried = CURRENT.try_with(|calling| calling.0.meta.as_deref().cloned());
        carried.ok().flatten()
    }

    /// From which level on it wants log messages of this request, where it said so in it.
    pub(crate) fn log_level(&self) -> Option<LogLevel> {
        match &self.0.client.era {
            Era::Handshake(_) => None,
            Era::Stateless { log_level } => *log_level,
        }
    }

    /// Whether it is asked by the result, and calls again with the answer.
    pub(crate) fn is_asked_by_result(&self) -> bool {
        self.0.client.is_stateless()
    }

    /// The client is about to be shown a page, and is told when that is done. Without a handshake
    /// there is no such message.
    pub(crate) fn shown_page(&self, page: &Ask) {
        let id = page.params().get("elicitationId").and_then(Value::as_str);
        if let (AskKind::Page, Some(id), Era::Handshake(connection)) =
            (page.kind(), id, &self.0.client.era)
        {
            connection.pages().show(id);
        }
    }

    /// Asks what somebody else wants to know, for whom the answer is good once.
    ///
    /// # Errors
    /// As [`ask_all`](Self::ask_all), and [`AskError::Unsupported`] in both eras.
    pub(crate) async fn pass_on(&self, key: &str, ask: Ask) -> Result<Value, AskError> {
        let kind = ask.kind();
        if !self.can(kind) {
            return Err(AskError::Unsupported(kind));
        }
        let given = match self.is_asked_by_result() {
            true => lock(&self.0.given).remove(key),
            false => None,
        };
        match given {
            Some(answer) if kind.fits(&answer) => Ok(answer),
            _ => self.ask(key, ask).await,
        }
    }

    /// Has the client told that it would have to be able to do these. Never resolves: the call is
    /// dropped.
    pub(crate) async fn lack(&self, kinds: Vec<AskKind>) {
        self.wait_for(Needed::Capabilities(kinds)).await
    }

    /// Has the client answered with an error of the protocol. Never resolves: the call is dropped.
    pub(crate) async fn refuse(&self, error: RpcError) {
        self.wait_for(Needed::Else(error)).await
    }

    /// Does something where the round ends with a question, and the call goes on in another.
    pub(crate) fn when_going_on(&self, work: impl FnOnce(&Self) + Send + 'static) {
        lock(&self.0.going_on).push(Box::new(work));
    }

    /// Does something where the call was to go on in another round and cannot.
    pub(crate) fn when_broken_off(&self, work: impl FnOnce() + Send + 'static) {
        lock(&self.0.broken_off).push(Box::new(work));
    }

    /// Gives up what was kept for another round, as there can be none.
    pub(crate) fn break_off(&self) {
        let work = std::mem::take(&mut *lock(&self.0.broken_off));
        for work in work {
            work();
        }
    }

    pub(super) fn go_on(&self) {
        self.0.goes_on.store(true, Ordering::Release);
        let work = std::mem::take(&mut *lock(&self.0.going_on));
        for work in work {
            work(self);
        }
    }

    /// Keeps something for the next round of the same call, behind what is kept there.
    pub(crate) fn keep(&self, slot: &str, value: Value) {
        let mut kept = lock(&self.0.kept);
        match kept.get_mut(slot) {
            Some(Value::Array(there)) => there.push(value),
            _ => {
                kept.insert(slot.to_owned(), json!([value]));
            }
        }
    }

    /// Takes the first of what rounds before kept there.
    pub(crate) fn take_kept(&self, slot: &str) -> Option<Value> {
        let mut kept = lock(&self.0.kept);
        let there = kept.get_mut(slot)?.as_array_mut()?;
        let first = (!there.is_empty()).then(|| there.remove(0));
        if there.is_empty() {
            kept.remove(slot);
        }
        first
    }

    /// Whether the round has ended with a question. Whatever is dropped then goes on in another.
    pub(crate) fn goes_on(&self) -> bool {
        self.0.goes_on.load(Ordering::Acquire)
    }
}
