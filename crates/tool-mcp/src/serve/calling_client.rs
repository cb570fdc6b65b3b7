//! The client that made a call, for the tool that serves it.

use std::fmt;
#[cfg(feature = "child")]
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value, json};
use tokio::sync::Notify;

use super::client::{Client, Era};
use super::request_state::RequestState;
use super::{Ask, AskError, AskKind, LogLevel};
use crate::wire::Message;
#[cfg(feature = "child")]
use crate::wire::RpcError;

#[cfg(feature = "child")]
mod passing_on;

tokio::task_local! {
    static CURRENT: CallingClient;
}

/// The client that made the call that is being served, for what only it can give.
///
/// A handler finds it with [`current`](Self::current) wherever it came by MCP, and asks for words
/// of a person, of the client's model, or for folders. What is asked reaches a client with a
/// handshake as a request, and the handler waits. A client without one is asked by the result:
/// **the handler is dropped where it waits, and runs anew from its beginning when the client calls
/// again with the answer**, which it then gets at once. So ask ahead of what may happen only
/// once, and always under the same key for the same question.
///
/// A handler is also dropped where a call of an imported server comes to what the protocol has an
/// error for that only the client can act upon: the server needs something that a client without a
/// handshake did not say that it can do, or wants a person to open a page first (-32042, to a
/// client with a handshake). The client is answered with that error, and makes the call anew.
///
/// Clones are the same client. It is of no use beyond its call.
#[derive(Clone)]
pub struct CallingClient(Arc<Calling>);

struct Calling {
    client: Client,
    /// What the client has answered in this round and those before.
    given: Mutex<Map<String, Value>>,
    /// What the request told beside what the protocol reserves.
    #[cfg(feature = "child")]
    meta: Option<Box<Map<String, Value>>>,
    /// What the call goes on from in the next round.
    kept: Mutex<Map<String, Value>>,
    needed: Mutex<Option<Needed>>,
    changed: Notify,
    /// Set when the round ends with a question, and the call goes on in another.
    #[cfg(feature = "child")]
    goes_on: AtomicBool,
    /// What is to be done then. It is given the call, and never holds it: the call holds it.
    #[cfg(feature = "child")]
    going_on: Mutex<Vec<GoingOn>>,
    /// What is to be done where that other round turns out to be impossible.
    #[cfg(feature = "child")]
    broken_off: Mutex<Vec<Box<dyn FnOnce() + Send>>>,
}

#[cfg(feature = "child")]
type GoingOn = Box<dyn FnOnce(&CallingClient) + Send>;

/// What has to come before a call can go on.
pub(crate) enum Needed {
    /// Answers, by their keys.
    Answers(Vec<(String, Ask)>),
    /// A client that can do these as well.
    Capabilities(Vec<AskKind>),
    /// Something else that the protocol has an error for.
    #[cfg(feature = "child")]
    Else(RpcError),
}

impl CallingClient {
    /// With what a request tells beside its parameters, and what a state holds of earlier rounds.
    pub(crate) fn new(
        client: Client,
        _meta: Option<Box<Map<String, Value>>>,
        given: Map<String, Value>,
        kept: Map<String, Value>,
    ) -> Self {
        Self(Arc::new(Calling {
            client,
            #[cfg(feature = "child")]
            meta: _meta,
            given: Mutex::new(given),
            kept: Mutex::new(kept),
            needed: Mutex::new(None),
            changed: Notify::new(),
            #[cfg(feature = "child")]
            goes_on: AtomicBool::new(false),
            #[cfg(feature = "child")]
            going_on: Mutex::default(),
            #[cfg(feature = "child")]
            broken_off: Mutex::default(),
        }))
    }

    /// The client whose call is being served by this task. `None` for a call that came otherwise,
    /// and in a task that the handler has spawned: take it along.
    #[must_use]
    pub fn current() -> Option<Self> {
        CURRENT.try_with(Self::clone).ok()
    }

    /// Whether the client said that it can be asked for this.
    #[must_use]
    pub fn can(&self, kind: AskKind) -> bool {
        kind.is_met_by(self.0.client.capabilities)
    }

    /// Asks for one thing. The key names the question among all that the call asks.
    ///
    /// # Errors
    /// As [`ask_all`](Self::ask_all).
    ///
    /// # Cancel safety
    /// Dropping the future withdraws the question.
    pub async fn ask(&self, key: &str, ask: Ask) -> Result<Value, AskError> {
        let kind = ask.kind();
        let mut answers = self.ask_all([(key.to_owned(), ask)]).await?;
        answers.remove(key).ok_or(AskError::Refused(kind))
    }

    /// Asks for several things at once. The answers stand under the keys of their questions.
    ///
    /// A client without a handshake that did not say that it can do one of them is answered with
    /// the protocol's own error, which says what is missing, and the handler is dropped.
    ///
    /// # Errors
    /// [`AskError::Unsupported`] for a client with a handshake that did not say that it can do
    /// one of them; [`AskError::Refused`] when it answers with an error or with no answer to what
    /// was asked; [`AskError::Gone`] when it has left.
    ///
    /// # Cancel safety
    /// Dropping the future withdraws the questions.
    pub async fn ask_all(
        &self,
        asks: impl IntoIterator<Item = (String, Ask)> + Send,
    ) -> Result<Map<String, Value>, AskError> {
        let asks: Vec<_> = asks.into_iter().collect();
        let missing = asks.iter().find(|(_, ask)| !self.can(ask.kind()));
        match &self.0.client.era {
            Era::Handshake(connection) => {
                if let Some((_, ask)) = missing {
                    return Err(AskError::Unsupported(ask.kind()));
                }
                let mut answers = Map::new();
                for (key, ask) in asks {
                    let kind = ask.kind();
                    let answer = connection
                        .asks
                        .ask(&self.0.client.outlet, kind.method(), ask.into_params())
                        .await
                        .map_err(|_| AskError::Gone)?
                        .ok()
                        .filter(|answer| kind.fits(answer))
                        .ok_or(AskError::Refused(kind))?;
                    answers.insert(key, answer);
                }
                Ok(answers)
            }
            Era::Stateless { .. } => {
                if let Some((_, ask)) = missing {
                    return self.wait_for(Needed::Capabilities(vec![ask.kind()])).await;
                }
                let mut answers = Map::new();
                let mut open = Vec::new();
                for (key, ask) in asks {
                    match lock(&self.0.given).get(&key) {
                        Some(answer) if ask.kind().fits(answer) => {
                            answers.insert(key, answer.clone());
                        }
                        _ => open.push((key, ask)),
                    }
                }
                if open.is_empty() {
                    return Ok(answers);
                }
                self.wait_for(Needed::Answers(open)).await
            }
        }
    }

    /// Tells the client something about the call, if it wants to know of things that grave.
    ///
    /// A client with a handshake is told from [`LogLevel::Info`] on unless it asked otherwise; one
    /// without only where its request asked for it. Never fails: a client that is gone is not told.
    pub async fn log(&self, level: LogLevel, logger: Option<&str>, data: Value) {
        if !self.0.client.wants_log(level) {
            return;
        }
        let mut params = json!({"level": level.as_str(), "data": data});
        if let (Some(logger), Some(members)) = (logger, params.as_object_mut()) {
            members.insert("logger".to_owned(), logger.into());
        }
        let message = Message::notice("notifications/message", Some(params));
        // Its call is about to be dropped.
        let _ = self.0.client.outlet.send(&message).await;
    }

    /// Runs something as what serves this client.
    pub(crate) fn serve<F: Future>(&self, serving: F) -> impl Future<Output = F::Output> + use<F> {
        CURRENT.scope(self.clone(), serving)
    }

    /// Resolves when something has to come first.
    pub(crate) async fn needed(&self) -> Needed {
        loop {
            let changed = self.0.changed.notified();
            if let Some(needed) = lock(&self.0.needed).take() {
                // A round that ends with an error is the last one.
                #[cfg(feature = "child")]
                if matches!(needed, Needed::Answers(_)) {
                    self.go_on();
                }
                return needed;
            }
            changed.await;
        }
    }

    /// What a later round goes on from.
    pub(crate) fn state(&self) -> RequestState {
        RequestState {
            answers: lock(&self.0.given).clone(),
            kept: lock(&self.0.kept).clone(),
            ..RequestState::default()
        }
    }

    /// Never resolves: whoever serves the call drops it.
    async fn wait_for<T>(&self, needed: Needed) -> T {
        {
            let mut slot = lock(&self.0.needed);
            match (&mut *slot, needed) {
                // Questions that are open at the same time are asked together.
                (Some(Needed::Answers(open)), Needed::Answers(more)) => open.extend(more),
                (slot, needed) => *slot = Some(needed),
            }
        }
        self.0.changed.notify_one();
        std::future::pending().await
    }
}

#[cfg(all(test, feature = "child"))]
impl CallingClient {
    /// A client that is asked by the result and says nothing of itself.
    pub(crate) fn stateless(facts: tool_core::Facts) -> Self {
        let client = Client {
            facts,
            held: super::held::Held::default(),
            capabilities: super::capabilities::Capabilities::default(),
            outlet: super::outlet::Outlet::Lines(Arc::new(crate::wire::Outbox::start(
                tokio::io::sink(),
            ))),
            era: Era::Stateless { log_level: None },
        };
        Self::new(client, None, Map::new(), Map::new())
    }

    /// Tells whether the call is still held by anybody.
    pub(crate) fn downgrade(&self) -> impl Fn() -> Option<Self> + use<> {
        let weak = Arc::downgrade(&self.0);
        move || weak.upgrade().map(Self)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl fmt::Debug for CallingClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallingClient")
            .field("capabilities", &self.0.client.capabilities)
            .finish_non_exhaustive()
    }
}
