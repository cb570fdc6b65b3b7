//! Serving one client over a pair of streams.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::value::RawValue;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinSet;
use tokio_util::sync::{CancellationToken, DropGuard};
use tool_core::Facts;

use super::capabilities::Capabilities;
use super::changes::{self, Logs, Watch};
use super::client::{Client, Connection, Era};
use super::held::Held;
use super::outlet::Outlet;
use super::params::Params;
use super::requests::{self, Request};
use super::server::Served;
use super::serving::Serving;
use super::{LogLevel, ServeError, ServeErrorKind, turned_away};
use crate::wire::{
    self, Frame, Frames, Id, Incoming, Message, Misfit, Outbox, Overlong, RpcError, Sort,
};

/// Requests of one client that may run at the same time. One more is answered with an error.
const MOST_REQUESTS: usize = 1_024;

/// One client and what it has going on.
struct Stream {
    served: Arc<Served>,
    facts: Facts,
    held: Held,
    outlet: Outlet,
    serving: Serving,
    connection: Arc<Connection>,
    /// Since the handshake.
    capabilities: Option<Capabilities>,
    running: Running,
    /// One for each request that runs, and no others: there is an end to wait for.
    tasks: JoinSet<()>,
    telling: bool,
    begun: bool,
    /// Cancels all that the client has going on.
    gone: CancellationToken,
    _gone: DropGuard,
}

/// Requests that run, by their ids.
type Running = Arc<Mutex<HashMap<Id, CancellationToken>>>;

/// A request that runs. When it is dropped its id is free, however it has ended.
struct Run {
    running: Running,
    id: Id,
}

impl Drop for Run {
    fn drop(&mut self) {
        lock(&self.running).remove(&self.id);
    }
}

/// Serves until the client closes its side, and the calls in flight had their time.
pub(crate) async fn serve<R, W>(
    served: &Arc<Served>,
    client: (Facts, Held),
    linger: Duration,
    serving: Serving,
    reader: R,
    writer: W,
) -> Result<(), ServeError>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let mut frames = Frames::new(reader, wire::FRAME_BYTES);
    let outbox = Arc::new(Outbox::start(writer));
    let gone = CancellationToken::new();
    let (facts, held) = client;
    let mut stream = Stream {
        served: Arc::clone(served),
        facts,
        held,
        outlet: Outlet::Lines(Arc::clone(&outbox)),
        serving,
        connection: Arc::default(),
        capabilities: None,
        running: Running::default(),
        tasks: JoinSet::new(),
        telling: false,
        begun: false,
        _gone: gone.clone().drop_guard(),
        gone,
    };
    let ended = loop {
        // What has ended needs no room any more. Being woken for each would cost more than the room.
        while stream.tasks.try_join_next().is_some() {}
        let frame = tokio::select! {
            frame = frames.next() => frame,
            // An answer that cannot be given would leave the client waiting for ever.
            () = outbox.broken().cancelled() => break Ok(()),
        };
        match frame {
            Ok(Some(Frame::Line(line))) => {
                if let Err(error) = stream.receive(line) {
                    break Err(error);
                }
            }
            Ok(Some(Frame::TooLong(overlong))) => stream.answer_too_long(overlong),
            Ok(None) | Err(_) => {
                stream.linger(linger, &outbox).await;
                break Ok(());
            }
        }
    };
    stream.end();
    outbox.close().await;
    ended
}

impl Stream {
    fn receive(&mut self, line: &[u8]) -> Result<(), ServeError> {
        match wire::aside(line.len(), || Incoming::read(line)) {
            Ok(Incoming::Request { id, method, params }) => {
                self.begun = true;
                self.request(id, method, params.as_deref());
            }
            Ok(Incoming::Notification { method, params }) => {
                if !self.begun {
                    return Err(ServeError::new(
                        ServeErrorKind::Client,
                        "client began with something other than a request",
                    ));
                }
                self.notified(&method, params.as_deref());
            }
            Ok(Incoming::Answer { id, outcome }) => self.connection.asks.answered(&id, outcome),
            Err(Misfit::Json(Some(id))) => self.refuse(
                id,
                RpcError::request("the request does not fit the protocol"),
            ),
            // Lines that are no messages are passed over.
            Err(Misfit::Json(None) | Misfit::Text) => {}
        }
        Ok(())
    }

    fn request(&mut self, id: Id, method: String, params: Option<&RawValue>) {
        let params = match Params::read(&method, params) {
            Ok(params) => params,
            Err(error) => return self.turn_away(id, &method, None, error),
        };
        match self.client_of(&method, &params) {
            Err(error) => self.turn_away(id, &method, Some(&params), error),
            Ok(None) => {
                let result = if method == "initialize" {
                    let declared = params.capabilities.clone().unwrap_or_default();
                    self.capabilities = Some(Capabilities::of(&declared));
                    requests::initialize(&self.served, &params).0
                } else {
                    requests::discover(&self.served)
                };
                self.outlet.post(&Message::answer(id, Ok(result)));
            }
            Ok(Some(client)) => self.start(client, Request { id, method, params }),
        }
    }

    /// Who makes the request; `None` for one that only asks what there is.
    fn client_of(&self, method: &str, params: &Params) -> Result<Option<Client>, RpcError> {
        if requests::is_stateless(params) || method == "server/discover" {
            requests::check_stateless(params)?;
            if method == "server/discover" {
                return Ok(None);
            }
            let declared = params.meta.capabilities.clone().unwrap_or_default();
            let log_level = params.meta.log_level.as_deref().and_then(LogLevel::of);
            return Ok(Some(self.client(
                Capabilities::of(&declared),
                Era::Stateless { log_level },
            )));
        }
        if method == "initialize" {
            return Ok(None);
        }
        match (self.capabilities, method) {
            (Some(capabilities), _) => {
                let era = Era::Handshake(Arc::clone(&self.connection));
                Ok(Some(self.client(capabilities, era)))
            }
            // Whoever only wants to know whether somebody is there may ask first.
            (None, "ping") => {
                let era = Era::Handshake(Arc::clone(&self.connection));
                Ok(Some(self.client(Capabilities::default(), era)))
            }
            (None, _) => Err(RpcError::request(
                "the client has not begun: send initialize, or say in _meta what every request says",
            )),
        }
    }

    fn client(&self, capabilities: Capabilities, era: Era) -> Client {
        Client {
            facts: self.facts.clone(),
            held: self.held.clone(),
            capabilities,
            outlet: self.outlet.clone(),
            era,
        }
    }

    fn start(&mut self, client: Client, request: Request) {
        let cancelled = self.gone.child_token();
        let id = request.id.clone();
        let turned_away = {
            let mut running = lock(&self.running);
            if running.len() >= MOST_REQUESTS {
                let text = format!("{MOST_REQUESTS} requests are running; wait for one to end");
                Some(text)
            } else if running.contains_key(&id) {
                Some("a request of that id is running".to_owned())
            } else {
                running.insert(id.clone(), cancelled.clone());
                None
            }
        };
        if let Some(text) = turned_away {
            let Request { method, params, .. } = request;
            return self.turn_away(id, &method, Some(&params), RpcError::request(text));
        }
        let (served, serving) = (Arc::clone(&self.served), self.serving.clone());
        let run = Run {
            running: Arc::clone(&self.running),
            id,
        };
        self.tasks.spawn(async move {
            let answer = requests::answer(&served, &client, request, &cancelled, &serving).await;
            // Whoever reads the answer may use the id again.
            drop(run);
            if let Some(answer) = answer {
                client.outlet.post(&answer);
            }
        });
    }

    fn notified(&mut self, method: &str, params: Option<&RawValue>) {
        match method {
            "notifications/cancelled" => {
                let id = Params::read(method, params)
                    .ok()
                    .and_then(|read| read.request_id);
                if let Some(cancelled) = id.and_then(|id| lock(&self.running).get(&id).cloned()) {
                    cancelled.cancel();
                }
            }
            "notifications/initialized" if self.capabilities.is_some() && !self.telling => {
                self.telling = true;
                let telling = changes::tell(
                    Watch::new(&self.served),
                    self.outlet.clone(),
                    Arc::clone(&self.connection),
                    Logs::Told,
                );
                // It ends with the client and not by itself: nobody waits for it.
                let gone = self.gone.clone();
                tokio::spawn(async move {
                    gone.run_until_cancelled(telling).await;
                });
            }
            _ => {}
        }
    }

    fn answer_too_long(&self, overlong: Overlong) {
        let id = overlong
            .id
            .filter(|_| overlong.sort == Sort::Request)
            .and_then(|id| serde_json::from_value(id.into_json_value()).ok());
        if let Some(id) = id {
            let text = format!("the request is longer than {} bytes", wire::FRAME_BYTES);
            self.refuse(id, RpcError::request(text));
        }
    }

    /// Answers with an error, and has it on record if it was a call.
    fn turn_away(&self, id: Id, method: &str, params: Option<&Params>, error: RpcError) {
        turned_away::record(&self.served, &self.facts, (&id, method), params, &error);
        self.refuse(id, error);
    }

    fn refuse(&self, id: Id, error: RpcError) {
        self.outlet.post(&Message::answer(id, Err(error)));
    }

    /// Lets the requests that run come to their end, for a while.
    async fn linger(&mut self, linger: Duration, outbox: &Outbox) {
        let over = async { while self.tasks.join_next().await.is_some() {} };
        tokio::select! {
            () = over => {}
            () = outbox.broken().cancelled() => {}
            () = tokio::time::sleep(linger) => {}
        }
    }

    /// Drops what still runs, which then has its time to clean up.
    fn end(&mut self) {
        self.gone.cancel();
        self.tasks.detach_all();
    }
}

fn lock(running: &Running) -> MutexGuard<'_, HashMap<Id, CancellationToken>> {
    running.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tokio_util::sync::CancellationToken;

    use super::{Run, Running, lock};
    use crate::wire::Id;

    #[tokio::test]
    async fn a_request_whose_task_panics_frees_its_id_and_no_other() {
        let running = Running::default();
        for id in [1, 2] {
            lock(&running).insert(Id::from(id), CancellationToken::new());
        }
        let run = Run {
            running: Arc::clone(&running),
            id: Id::from(1),
        };
        let task = tokio::spawn(async move {
            let _run = run;
            panic!("it breaks");
        });
        assert!(task.await.is_err_and(|error| error.is_panic()));
        let left: Vec<_> = lock(&running).keys().cloned().collect();
        assert_eq!(left, [Id::from(2)]);
    }
}
