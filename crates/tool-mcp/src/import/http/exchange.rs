//! One request over HTTP and everything that comes of it.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{RequestBuilder, Response, StatusCode};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::body::read;
use super::sse::{Brought, Sse};
use super::too_many::{self, Sent};
use super::{Shared, lock};
use crate::import::call_error::CallError;
use crate::import::era::Era;
use crate::import::incoming::{peer_error, route};
use crate::import::target::{Check, Target};
use crate::wire::{Envelope, RpcError};

const BOTH: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");
const JSON: HeaderValue = HeaderValue::from_static("application/json");
const EVENTS: HeaderValue = HeaderValue::from_static("text/event-stream");
/// The most bytes of the body of an error that are read.
const ERROR_BYTES: usize = 64 * 1024;
/// How long a stream is left alone before it is taken up again, unless the server says.
const RETRY: Duration = Duration::from_secs(1);
/// The longest such time.
const LONGEST_RETRY: Duration = Duration::from_secs(60);
/// The shortest, however soon a server wants it.
const SHORTEST_RETRY: Duration = Duration::from_millis(500);
/// How often in a row a stream that brings nothing is taken up again.
const EMPTY_STREAMS: u32 = 5;
/// How long what was sent is waited for once nothing more can be, and how often it is looked at.
const LAST_ANSWERS: Duration = Duration::from_secs(2);
const LOOK: Duration = Duration::from_millis(50);
/// How long requests wait for the stream on which the server speaks unasked.
const FIRST_HEARING: Duration = Duration::from_millis(500);

impl Shared {
    /// Sends one message and takes what comes of it to whom it is for.
    pub(super) async fn exchange(
        self: &Arc<Self>,
        method: &'static str,
        id: Option<u64>,
        target: Option<&Target>,
        headers: HeaderMap,
        body: Vec<u8>,
    ) {
        let opening = matches!(
            method,
            "initialize" | "server/discover" | "notifications/initialized"
        );
        if !opening && matches!(self.era.get(), Some(Era::Handshake(_))) {
            self.begun.cancelled().await;
        }
        let end = {
            // A request that stays open takes no place from the others, and what is told waits for
            // none: it may be what frees one. Nor does the list of tools, for which those that have
            // a place may wait.
            let permit = match (method, id) {
                ("subscriptions/listen" | "tools/list", _) | (_, None) => None,
                _ => self.permits.acquire().await.ok(),
            };
            let end = self.post(id, target, headers, body).await;
            drop(permit);
            end
        };
        if method == "notifications/initialized" {
            if end.is_ok() {
                self.listen_first().await;
            }
            self.begun.cancel();
        }
        // Nothing more can be sent until somebody logs in.
        let locked = self.in_session.load(Ordering::Relaxed)
            && end.as_ref().is_err_and(CallError::is_locked);
        if let Some(id) = id {
            // Whoever was answered is no longer on the board.
            if let Some(waiting) = self.board.take(id) {
                let error = end.err().unwrap_or(CallError::Gone);
                waiting.put(crate::import::mailbox::Letter::End(Err(error)));
            }
        }
        if locked {
            self.lock_out().await;
        }
    }

    /// Ends the connection, as nothing can be sent until somebody logs in. What was sent at the same
    /// moment gets its own answer, which says that it did not run.
    async fn lock_out(&self) {
        let soon = Instant::now() + LAST_ANSWERS;
        while !self.board.is_idle() && Instant::now() < soon {
            sleep(LOOK).await;
        }
        self.board.close();
    }

    pub(super) async fn post(
        self: &Arc<Self>,
        id: Option<u64>,
        target: Option<&Target>,
        headers: HeaderMap,
        body: Vec<u8>,
    ) -> Result<(), CallError> {
        let request = self
            .client
            .post(self.url.clone())
            .headers(headers.clone())
            .header(ACCEPT, BOTH)
            .header(CONTENT_TYPE, JSON)
            .body(body);
        let response = self.shown(id, target, request).await?;
        let status = response.status();
        if !status.is_success() {
            return Err(self.refused(id, status, &headers, response).await);
        }
        if let Some(session) = response.headers().get("mcp-session-id") {
            let mut session = session.clone();
            session.set_sensitive(true);
            *lock(&self.session) = Some(session);
        }
        let kind = response.headers().get(CONTENT_TYPE);
        let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let kind = kind.split(';').next().unwrap_or_default().trim();
        if kind.eq_ignore_ascii_case("text/event-stream") {
            return self.follow(id, response).await;
        }
        if id.is_none() {
            return Ok(());
        }
        if !kind.eq_ignore_ascii_case("application/json") {
            return Err(CallError::Unreadable);
        }
        let limit = self.board.frame_bytes;
        let text = read(response, limit).await.map_err(|error| match error {
            Some(error) => self.lost(id, &error),
            None => CallError::TooLong { limit },
        })?;
        // A request of the server has no place in a body that is one answer.
        route(&self.board, id, &text);
        Err(CallError::Unreadable)
    }

    /// Sends a request and says who calls, again where that is somebody else by now: a server that
    /// wants to know has not looked at the rest.
    async fn shown(
        &self,
        id: Option<u64>,
        target: Option<&Target>,
        request: RequestBuilder,
    ) -> Result<Response, CallError> {
        let check = target.map(|target| Check {
            target,
            board: &self.board,
            patience: self.patience,
        });
        let mut next = Some(request);
        let mut round = 0;
        while let Some(request) = next.take() {
            if self.caller.may_repeat() {
                next = request.try_clone();
            }
            let mut headers = HeaderMap::new();
            let shown = self.caller.show(&mut headers).await?;
            let sent = too_many::send(request.headers(headers), check);
            let response = match sent.await?.map_err(|error| self.lost(id, &error))? {
                Sent::Answered(response) => response,
                Sent::TooMany(wait) => return Err(CallError::TooMany(wait)),
            };
            if response.status().is_success() || next.is_none() {
                return Ok(response);
            }
            let in_session = self.in_session.load(Ordering::Relaxed);
            let refused = self.caller.refused(&shown, &response, round, in_session);
            match refused.await {
                None => return Ok(response),
                Some(again) => again?,
            }
            round += 1;
        }
        Err(CallError::NotSent)
    }

    /// Reads a stream to the answer, and takes it up again where the era knows how.
    async fn follow(self: &Arc<Self>, id: Option<u64>, first: Response) -> Result<(), CallError> {
        let mut sse = Sse::new(self.board.frame_bytes);
        let mut questions = JoinSet::new();
        let mut response = first;
        let mut empty = 0;
        loop {
            let brought = self
                .drain(&mut sse, &mut questions, &mut response, id)
                .await?;
            if id.is_some_and(|id| !self.board.has(id)) {
                return Ok(());
            }
            empty = if brought { 0 } else { empty + 1 };
            let resumable = matches!(self.era.get(), Some(Era::Handshake(_)));
            let (Some(last), true, true) = (&sse.last_id, resumable, empty < EMPTY_STREAMS) else {
                return Err(CallError::Gone);
            };
            sleep(pause(sse.retry)).await;
            response = self.resume(Some(last)).await?;
        }
    }

    /// Takes what a stream brings to whom it is for, to its end or to the answer. Whether it
    /// brought anything.
    async fn drain(
        self: &Arc<Self>,
        sse: &mut Sse,
        questions: &mut JoinSet<()>,
        response: &mut Response,
        id: Option<u64>,
    ) -> Result<bool, CallError> {
        let mut any = false;
        sse.begin();
        // A stream that breaks off is one that ends: it may be taken up again.
        while let Ok(Some(chunk)) = response.chunk().await {
            for brought in sse.feed(&chunk) {
                any = true;
                let message = match brought {
                    Brought::Message(message) => message,
                    Brought::TooLong => {
                        let limit = self.board.frame_bytes;
                        return Err(CallError::TooLong { limit });
                    }
                };
                if let Some(asked) = route(&self.board, id, &message) {
                    while questions.try_join_next().is_some() {}
                    let replies = self.replies.clone();
                    let answering = &self.answering;
                    let now = answering.answer(
                        &self.board,
                        id,
                        asked,
                        questions,
                        move |reply| async move { replies.send(reply).await },
                    );
                    if let Some(reply) = now {
                        // Whoever asks faster than it takes answers is not read meanwhile.
                        self.replies.send(reply).await;
                    }
                }
            }
            if id.is_some_and(|id| !self.board.has(id)) {
                return Ok(true);
            }
        }
        Ok(any)
    }

    /// Begins to listen to what the server says unasked, ahead of the first request: a server may
    /// ask its questions there, and what it asks while nobody listens is lost. One that says
    /// nothing of the stream, as some do until there is an event, is not waited for long.
    async fn listen_first(self: &Arc<Self>) {
        let (shared, heard) = (Arc::clone(self), CancellationToken::new());
        let hears = heard.clone().drop_guard();
        tokio::spawn(async move {
            tokio::select! {
                () = shared.over.cancelled() => {}
                () = shared.overhear(hears) => {}
            }
        });
        let _ = timeout(FIRST_HEARING, heard.cancelled()).await;
    }

    /// Listens to what the server says unasked, in the era with a handshake, as long as it does. The
    /// guard is dropped once the server has answered for the first time.
    async fn overhear(self: &Arc<Self>, hears: DropGuard) {
        let mut hears = Some(hears);
        let mut sse = Sse::new(self.board.frame_bytes);
        let mut questions = JoinSet::new();
        let mut empty = 0;
        while empty < EMPTY_STREAMS {
            let last = sse.last_id.clone();
            // A server that has nothing to say refuses.
            let Ok(mut response) = self.resume(last.as_deref()).await else {
                return;
            };
            drop(hears.take());
            let drained = self
                .drain(&mut sse, &mut questions, &mut response, None)
                .await;
            empty = if matches!(drained, Ok(false)) {
                empty + 1
            } else {
                0
            };
            sleep(pause(sse.retry)).await;
            // What changed while nobody listened is found by looking.
            self.board.note_tools_changed();
        }
    }

    /// Asks for a stream, again where the token that was shown is no longer good and there is
    /// another: no person is asked for what can be done without.
    async fn resume(&self, last: Option<&str>) -> Result<Response, CallError> {
        let mut headers = self.common();
        if let Some(last) = last {
            let last = HeaderValue::from_str(last).map_err(|_| CallError::Gone)?;
            headers.insert("last-event-id", last);
        }
        let mut again = self.caller.may_repeat();
        loop {
            let mut headers = headers.clone();
            let shown = self.caller.show(&mut headers).await?;
            let request = self.client.get(self.url.clone()).headers(headers);
            let sent = too_many::send(request.header(ACCEPT, EVENTS), None);
            match sent.await?.map_err(|_| CallError::Gone)? {
                Sent::Answered(response) if response.status().is_success() => return Ok(response),
                Sent::Answered(response)
                    if again && self.caller.has_other(&shown, &response).await =>
                {
                    again = false;
                }
                Sent::Answered(_) | Sent::TooMany(_) => return Err(CallError::Gone),
            }
        }
    }

    /// A request that got no response. Where it could not even be connected and nothing else is
    /// on its way, the server is away, and the next request is refused at once.
    fn lost(&self, id: Option<u64>, error: &reqwest::Error) -> CallError {
        tracing::debug!(
            server = &*self.answering.server,
            error = %error_chain(error),
            "a request got no response"
        );
        if error.is_connect() {
            self.not_sent(id);
            if self.board.is_idle() {
                self.board.close();
            }
            CallError::NotSent
        } else {
            CallError::Gone
        }
    }

    /// Ends a request that never ran, before everything else that waits is ended in doubt.
    fn not_sent(&self, id: Option<u64>) {
        if let Some(id) = id {
            self.board.end(id, Err(CallError::NotSent));
        }
    }

    /// A response that is no success: an error of the protocol where it holds one.
    async fn refused(
        &self,
        id: Option<u64>,
        status: StatusCode,
        sent: &HeaderMap,
        response: Response,
    ) -> CallError {
        let text = read(response, ERROR_BYTES).await.unwrap_or_default();
        // A session that is no longer known has to be begun anew.
        if status == StatusCode::NOT_FOUND && sent.contains_key("mcp-session-id") {
            *lock(&self.session) = None;
            self.not_sent(id);
            self.board.close();
            return CallError::NotSent;
        }
        let body = serde_json::from_slice::<Envelope<'_>>(&text).ok();
        let error = body.and_then(|body| Some(RpcError::read(body.error?)));
        match error {
            Some(error) if id.is_some() => peer_error(error),
            _ => CallError::Status(status.as_u16()),
        }
    }
}

/// An error with its causes and without the address, which may hold a secret.
fn error_chain(error: &reqwest::Error) -> String {
    let mut text = String::new();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

/// How long to wait before a stream is asked for again.
fn pause(wanted: Option<Duration>) -> Duration {
    wanted.unwrap_or(RETRY).clamp(SHORTEST_RETRY, LONGEST_RETRY)
}
