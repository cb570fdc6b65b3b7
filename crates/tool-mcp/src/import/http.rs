//! A server over streamable HTTP.

mod body;
mod exchange;
mod replies;
mod sse;
mod too_many;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Url, redirect};
use serde_json::Value;
use tokio::sync::Semaphore;
use tokio::task::AbortHandle;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::Limits;
use super::board::Board;
use super::call_error::CallError;
use super::caller::Caller;
use super::carrier::Answering;
use super::era::Era;
use super::listing::Listing;
use super::server_config::HttpTarget;
use super::target::Target;
use crate::wire::Message;
use crate::wire::mirror::{self, Mirror, encode, mirrors};
use replies::Replies;

/// Requests that may be on their way to one server at the same time. More wait.
const REQUESTS: usize = 64;
/// How long the end of a session may take to be told.
const FAREWELL: Duration = Duration::from_secs(1);

/// A server over streamable HTTP. Dropping it closes every connection.
pub(crate) struct Http {
    shared: Arc<Shared>,
    _over: DropGuard,
}

struct Shared {
    client: Client,
    url: Url,
    fixed: HeaderMap,
    board: Arc<Board>,
    answering: Answering,
    caller: Caller,
    /// Whether its tools can be called.
    in_session: AtomicBool,
    replies: Replies,
    era: OnceLock<Era>,
    session: Mutex<Option<HeaderValue>>,
    /// What is being received for each request.
    receiving: Mutex<HashMap<u64, AbortHandle>>,
    mirrored: Mutex<HashMap<String, Vec<Mirror>>>,
    permits: Semaphore,
    /// How long a call waits for the tools to be looked at.
    patience: Duration,
    /// Given when the server has been told that the handshake is complete.
    begun: CancellationToken,
    over: CancellationToken,
}

impl Http {
    /// Prepares to reach a server. Nothing is sent yet. Must be called inside a tokio runtime.
    ///
    /// # Errors
    /// A clause that follows on the server's name.
    pub(crate) fn new(
        target: &HttpTarget,
        board: Arc<Board>,
        answering: Answering,
        caller: Caller,
        limits: &Limits,
    ) -> Result<Self, String> {
        let url = Url::parse(&target.url).map_err(|_| "has an unreadable \"url\"".to_owned())?;
        let mut fixed = HeaderMap::new();
        for (name, value) in &target.headers {
            let wrong = |_| format!("has an unusable header \"{name}\"");
            let header = HeaderName::from_bytes(name.as_bytes()).map_err(|_| wrong(()))?;
            let mut value = HeaderValue::from_str(value).map_err(|_| wrong(()))?;
            value.set_sensitive(true);
            fixed.insert(header, value);
        }
        if let Some(variable) = &target.bearer_env {
            let token = std::env::var(variable)
                .ok()
                .filter(|token| !token.trim().is_empty())
                .ok_or_else(|| format!("needs a token in the variable \"{variable}\""))?;
            let mut value = HeaderValue::from_str(&format!("Bearer {}", token.trim()))
                .map_err(|_| format!("has an unusable token in the variable \"{variable}\""))?;
            value.set_sensitive(true);
            fixed.insert(AUTHORIZATION, value);
        }
        // Unencrypted is for this machine alone, and a proxy is another.
        let builder = match url.scheme() {
            "http" => Client::builder().no_proxy(),
            _ => Client::builder(),
        };
        let client = builder
            .connect_timeout(limits.connect)
            // A redirected request would carry what is meant for this server alone.
            .redirect(redirect::Policy::none())
            .build()
            .map_err(|_| "cannot be reached: the HTTP client does not start".to_owned())?;
        let over = CancellationToken::new();
        let (replies, waiting) = Replies::new();
        let shared = Arc::new(Shared {
            client,
            url,
            fixed,
            board,
            answering,
            caller,
            in_session: AtomicBool::new(false),
            replies,
            era: OnceLock::new(),
            session: Mutex::default(),
            receiving: Mutex::default(),
            mirrored: Mutex::default(),
            permits: Semaphore::new(REQUESTS),
            patience: limits.connect,
            begun: CancellationToken::new(),
            over: over.clone(),
        });
        tokio::spawn(Arc::clone(&shared).send_replies(waiting));
        Ok(Self {
            shared,
            _over: over.drop_guard(),
        })
    }

    /// Answers a question of the server.
    pub(crate) fn reply(&self, reply: Message) {
        self.shared.replies.post(reply);
    }

    /// Sends a message from a task of its own, where the tool that it is for is what it was.
    pub(crate) fn send(
        &self,
        message: &Message,
        target: Option<Arc<Target>>,
    ) -> Result<(), CallError> {
        let shared = &self.shared;
        let body = serde_json::to_vec(message).map_err(|_| CallError::NotSent)?;
        let headers = shared.headers(message)?;
        let (method, id) = (message.method().unwrap_or_default(), message.number());
        let task = Arc::clone(shared);
        // Entered under the lock, so that it cannot end before it is known.
        let mut receiving = shared.receiving();
        let handle = tokio::spawn(async move {
            tokio::select! {
                () = task.over.cancelled() => {}
                () = task.exchange(method, id, target.as_deref(), headers, body) => {}
            }
            if let Some(id) = id {
                task.receiving().remove(&id);
            }
        });
        if let Some(id) = id {
            receiving.insert(id, handle.abort_handle());
        }
        Ok(())
    }

    /// Closes what is being received for a request, which says in the era without a handshake
    /// that it is given up. Whether the server has to be told as well.
    pub(crate) fn give_up(&self, id: u64) -> bool {
        if let Some(handle) = self.shared.receiving().remove(&id) {
            handle.abort();
        }
        matches!(self.shared.era.get(), Some(Era::Handshake(_)))
    }

    pub(crate) fn settle(&self, era: &Era) {
        // It is settled by the only one who greets.
        let _ = self.shared.era.set(era.clone());
    }

    /// Learns which arguments of which tools are repeated in headers.
    pub(crate) fn learn(&self, listing: &Listing) {
        self.shared.in_session.store(true, Ordering::Relaxed);
        if self.shared.era.get() != Some(&Era::Stateless) {
            return;
        }
        let tools = listing.entries.iter().filter_map(|tool| {
            let mirrors = mirrors(tool.get("inputSchema")?).ok()?;
            let name = tool.get("name")?.as_str()?.to_owned();
            (!mirrors.is_empty()).then_some((name, mirrors))
        });
        *lock(&self.shared.mirrored) = tools.collect();
    }

    /// Ends the session, where there is one.
    pub(crate) async fn close(&self) {
        let session = lock(&self.shared.session).take();
        if let Some(session) = session {
            let mut headers = self.shared.common();
            headers.insert("mcp-session-id", session);
            let url = self.shared.url.clone();
            let ending = async {
                // A server may refuse it and one that is gone has no session.
                if self.shared.caller.show(&mut headers).await.is_ok() {
                    let _ = self.shared.client.delete(url).headers(headers).send().await;
                }
            };
            let _ = tokio::time::timeout(FAREWELL, ending).await;
        }
        self.shared.over.cancel();
    }
}

impl Shared {
    /// The headers of every request.
    fn common(&self) -> HeaderMap {
        let mut headers = self.fixed.clone();
        if let Some(era) = self.era.get()
            && let Ok(version) = HeaderValue::from_str(era.version())
        {
            headers.insert(mirror::VERSION, version);
        }
        if let Some(session) = lock(&self.session).clone() {
            headers.insert("mcp-session-id", session);
        }
        headers
    }

    /// The headers of one message, which in the era without a handshake repeat parts of it.
    fn headers(&self, message: &Message) -> Result<HeaderMap, CallError> {
        let mut headers = self.common();
        let Some(method) = message.method() else {
            return Ok(headers);
        };
        let stateless = match self.era.get() {
            Some(era) => *era == Era::Stateless,
            None => method == "server/discover",
        };
        if !stateless {
            return Ok(headers);
        }
        let value = |text: &str| HeaderValue::from_str(text).map_err(|_| CallError::NotSent);
        headers.insert(mirror::VERSION, value(super::era::STATELESS)?);
        headers.insert(mirror::METHOD, value(method)?);
        let param = |member: &str| message.params()?.get(member);
        let name = mirror::name_member(method).and_then(param);
        let Some(name) = name.and_then(Value::as_str) else {
            return Ok(headers);
        };
        headers.insert(mirror::NAME, value(&encode(name))?);
        if method == "tools/call"
            && let Some(arguments) = param("arguments")
        {
            let mirrored = lock(&self.mirrored);
            for mirror in mirrored.get(name).into_iter().flatten() {
                if let Some(text) = mirror.told(arguments) {
                    let header = HeaderName::from_bytes(mirror.header.as_bytes());
                    let header = header.map_err(|_| CallError::NotSent)?;
                    headers.insert(header, value(&encode(&text))?);
                }
            }
        }
        Ok(headers)
    }

    fn receiving(&self) -> MutexGuard<'_, HashMap<u64, AbortHandle>> {
        lock(&self.receiving)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
