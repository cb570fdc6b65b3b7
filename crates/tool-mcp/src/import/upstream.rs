//! What is known of one server.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value};
use tokio::sync::watch;

use super::board::Tally;
use super::era::{Era, Greeting};
use super::gates::Gates;
use super::line::Line;
use super::ring::Ring;
use super::{UpstreamState, UpstreamStatus};

/// What is known of one server; shared by its driver, its tools and whoever asks.
pub(crate) struct Upstream {
    pub(crate) name: String,
    pub(crate) tally: Arc<Tally>,
    pub(crate) stderr: Ring,
    pub(crate) line: Arc<Line>,
    /// What everything passes that is asked of it beside tools.
    pub(crate) gates: Gates,
    known: Mutex<Known>,
    /// Told of every change of state.
    changed: watch::Sender<u64>,
}

struct Known {
    state: UpstreamState,
    /// The era that it spoke the last time.
    era: Option<Era>,
    capabilities: Map<String, Value>,
    connects: u64,
    /// What an operator should know of its tools.
    notes: Vec<String>,
    /// What is wrong with its entry.
    problems: Vec<String>,
    /// What it listed last, where that is kept.
    listed: Option<Arc<[Value]>>,
}

impl Upstream {
    pub(crate) fn new(
        name: String,
        state: UpstreamState,
        tally: Arc<Tally>,
        gates: Gates,
        stderr_bytes: usize,
        changed: watch::Sender<u64>,
    ) -> Self {
        Self {
            name,
            tally,
            stderr: Ring::new(stderr_bytes),
            line: Arc::default(),
            gates,
            known: Mutex::new(Known {
                state,
                era: None,
                capabilities: Map::new(),
                connects: 0,
                notes: Vec::new(),
                problems: Vec::new(),
                listed: None,
            }),
            changed,
        }
    }

    pub(crate) fn status(&self) -> UpstreamStatus {
        let known = self.known();
        UpstreamStatus {
            name: self.name.clone(),
            state: known.state.clone(),
            protocol: known.era.as_ref().map(|era| era.version().to_owned()),
            connects: known.connects,
            skipped_lines: self.tally.skipped_lines(),
            stray_messages: self.tally.stray_messages(),
            notes: known.notes.clone(),
            problems: known.problems.clone(),
            stderr: self.stderr.text(),
        }
    }

    pub(crate) fn state(&self) -> UpstreamState {
        self.known().state.clone()
    }

    pub(crate) fn listed(&self) -> Option<Arc<[Value]>> {
        self.known().listed.clone()
    }

    pub(crate) fn note(&self, notes: Vec<String>) {
        self.known().notes = notes;
    }

    /// Says what is wrong with its entry.
    pub(crate) fn is_broken(&self, problems: Vec<String>) {
        self.known().problems = problems;
    }

    pub(crate) fn keep(&self, listed: &[Value]) {
        self.known().listed = Some(listed.into());
    }

    pub(crate) fn era(&self) -> Option<Era> {
        self.known().era.clone()
    }

    pub(crate) fn remember(&self, era: Option<Era>) {
        self.known().era = era;
    }

    /// Whether the server said, the last time, that it has something, such as `prompts`.
    pub(crate) fn has(&self, capability: &str) -> bool {
        self.known().capabilities.contains_key(capability)
    }

    /// Whether the server has something, or may: it was not reached yet and still can be.
    pub(crate) fn may_have(&self, capability: &str) -> bool {
        let known = self.known();
        let never = matches!(
            known.state,
            UpstreamState::Disabled | UpstreamState::Failed { .. }
        );
        known.capabilities.contains_key(capability) || (known.connects == 0 && !never)
    }

    /// Another number whenever it has come or gone.
    pub(crate) fn standing(&self) -> u64 {
        2 * self.known().connects + u64::from(self.line.get().is_ok())
    }

    /// Whether the server said, the last time, that it can do something with what it has, such as
    /// `subscribe` of `resources`.
    pub(crate) fn says(&self, capability: &str, what: &str) -> bool {
        let known = self.known();
        let capability = known.capabilities.get(capability);
        capability.and_then(|capability| capability.get(what)) == Some(&Value::Bool(true))
    }

    /// Grows whenever something that it lists beside tools may have changed.
    pub(crate) fn generation(&self) -> u64 {
        self.known().connects + self.tally.changes()
    }

    pub(crate) fn greeted(&self, greeting: Greeting) {
        let mut known = self.known();
        known.era = Some(greeting.era);
        known.capabilities = greeting.capabilities;
        known.connects += 1;
    }

    /// Sets what it is at, and logs a change with the fields `server`, `from`, `to`, and what
    /// there is of `reason`, `attempt`, `tools` and `refused`.
    pub(crate) fn set(&self, state: UpstreamState) {
        let from = {
            let known = self.known();
            (known.state != state).then(|| known.state.as_str())
        };
        if let Some(from) = from {
            log(&self.name, from, &state);
        }
        self.known().state = state;
        self.changed.send_modify(|version| *version += 1);
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn log(server: &str, from: &str, state: &UpstreamState) {
    let to = state.as_str();
    match state {
        UpstreamState::Failed { reason } => {
            tracing::warn!(server, from, to, reason, "server failed");
        }
        UpstreamState::Held { reason } => {
            tracing::warn!(server, from, to, reason, "server waits for approval");
        }
        UpstreamState::Locked { reason } => {
            tracing::warn!(server, from, to, reason, "server is locked");
        }
        UpstreamState::Away { reason, attempt } => tracing::warn!(
            server,
            from,
            to,
            reason,
            attempt,
            "server is away and will be connected again"
        ),
        UpstreamState::Ready { tools, refused } => {
            let refused = refused.len();
            tracing::info!(server, from, to, tools, refused, "server is ready");
        }
        UpstreamState::Disabled | UpstreamState::Connecting | UpstreamState::Stopped => {
            tracing::info!(server, from, to, "server changed its state");
        }
    }
}
