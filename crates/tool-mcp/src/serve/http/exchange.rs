//! One exchange over HTTP, in either era.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::Response;
use serde_json::value::RawValue;

use super::asked::{SESSION, says, session, takes};
use super::event_log::{EventLog, Events};
use super::room::{Kind, Taken};
use super::session::Session;
use super::site::Site;
use super::token::Caller;
use super::work::{First, Work};
use super::{PATH, body, headers, reply};
use crate::serve::capabilities::Capabilities;
use crate::serve::changes::{self, Logs, Watch};
use crate::serve::client::{Client, Era};
use crate::serve::held::Held;
use crate::serve::outlet::Outlet;
use crate::serve::params::Params;
use crate::serve::requests;
use crate::serve::{LogLevel, server, turned_away};
use crate::wire::{self, Id, Incoming, Message, Misfit, RpcError, revision};

const LAST_EVENT: &str = "last-event-id";
/// How long an answer may take before a client with a handshake is given a stream, by which it
/// can come back should it be cut off.
pub(crate) const AT_ONCE: Duration = Duration::from_millis(50);
/// How long a client without a handshake, whose answer has a status, gets nothing at all.
const IN_SILENCE: Duration = Duration::from_secs(15);
/// The first revision whose clients know events that hold nothing.
const PRIMED: &str = "2025-11-25";

/// Serves one HTTP request.
pub(crate) async fn serve(State(site): State<Arc<Site>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    // Whoever may be anybody keeps no connection.
    if parts.uri.path() != PATH {
        return reply::closing(reply::empty(StatusCode::NOT_FOUND));
    }
    if !site.names.allow(&parts.headers) {
        return reply::closing(reply::empty(StatusCode::FORBIDDEN));
    }
    let mut caller = match site.auth.check(&parts.headers) {
        Ok(caller) => caller,
        Err(turned) => return reply::closing(reply::unauthorized(turned)),
    };
    match parts.method {
        Method::POST => {
            if !says(&parts.headers, CONTENT_TYPE.as_str(), "application/json") {
                return reply::empty(StatusCode::UNSUPPORTED_MEDIA_TYPE);
            }
            match body::read(&site, &caller, &parts.headers, body).await {
                Ok((body, taken)) => {
                    caller.body = taken;
                    post(&site, parts.headers, caller, &body).await
                }
                Err(answer) => *answer,
            }
        }
        Method::GET => listen(&site, &parts.headers, caller.principal.as_deref()),
        Method::DELETE => match session(&site, &parts.headers, caller.principal.as_deref()) {
            Ok((id, _)) => {
                site.sessions.end(id);
                reply::empty(StatusCode::NO_CONTENT)
            }
            Err(none) => none.reply(),
        },
        _ => reply::method_not_allowed(),
    }
}

async fn post(site: &Arc<Site>, headers: HeaderMap, caller: Caller, body: &[u8]) -> Response {
    let principal = caller.principal.as_deref();
    match wire::aside(body.len(), || Incoming::read(body)) {
        Err(Misfit::Text) => {
            let error = RpcError::new(RpcError::PARSE, "the body is no JSON");
            reply::error(StatusCode::BAD_REQUEST, None, error)
        }
        Err(Misfit::Json(id)) => {
            let error = RpcError::request("the body does not fit the protocol");
            reply::error(StatusCode::BAD_REQUEST, id, error)
        }
        Ok(Incoming::Request { id, method, params }) => {
            site.pace.mark();
            request(site, headers, caller, id, method, params.as_deref()).await
        }
        Ok(Incoming::Notification { method, params }) => {
            // A client without a handshake has nothing to tell that would change anything.
            if let Ok((_, session)) = session(site, &headers, principal) {
                if let Err(error) = headers::check_given(&headers, &method, None) {
                    return reply::error(StatusCode::BAD_REQUEST, None, error);
                }
                notified(site, &session, &method, params.as_deref());
            } else if headers.contains_key(SESSION) {
                return reply::empty(StatusCode::NOT_FOUND);
            }
            reply::empty(StatusCode::ACCEPTED)
        }
        Ok(Incoming::Answer { id, outcome }) => {
            match session(site, &headers, principal) {
                Ok((_, session)) => session.connection.asks.answered(&id, outcome),
                Err(none) => return none.reply(),
            }
            reply::empty(StatusCode::ACCEPTED)
        }
    }
}

async fn request(
    site: &Arc<Site>,
    headers: HeaderMap,
    caller: Caller,
    id: Id,
    method: String,
    params: Option<&RawValue>,
) -> Response {
    let version = headers
        .get(headers::VERSION)
        .map(|version| version.to_str().unwrap_or_default());
    let has_handshake = version.is_none_or(|version| revision::with_handshake(version).is_some());
    let params = match Params::read(&method, params) {
        Ok(params) => params,
        Err(error) => {
            let facts = site.facts(caller.principal.as_deref());
            turned_away::record(&site.served, &facts, (&id, &method), None, &error);
            let status = match has_handshake {
                true => StatusCode::OK,
                false => StatusCode::BAD_REQUEST,
            };
            return reply::error(status, Some(id), error);
        }
    };
    let bad = |id: Id, error: RpcError| {
        let facts = site.facts(caller.principal.as_deref());
        turned_away::record(&site.served, &facts, (&id, &method), Some(&params), &error);
        reply::error(StatusCode::BAD_REQUEST, Some(id), error)
    };
    if requests::is_stateless(&params) || version == Some(revision::STATELESS) {
        return stateless(site, &headers, caller, id, method, params).await;
    }
    if let Err(error) = headers::check_given(&headers, &method, Some(&params)) {
        return bad(id, error);
    }
    if let (false, Some(version)) = (has_handshake, version) {
        return bad(id, requests::unsupported(version));
    }
    match method.as_str() {
        "initialize" => initialize(site, caller, id, &params),
        "server/discover" => match requests::check_stateless(&params) {
            Err(error) => bad(id, error),
            Ok(()) => reply::message(
                StatusCode::OK,
                &Message::answer(id, Ok(requests::discover(&site.served))),
            ),
        },
        _ => match session(site, &headers, caller.principal.as_deref()) {
            Ok((_, session)) => {
                let request = requests::Request { id, method, params };
                with_handshake(site, headers, session, request, caller.body).await
            }
            Err(none) => {
                let facts = site.facts(caller.principal.as_deref());
                let called = (&id, method.as_str());
                turned_away::record(&site.served, &facts, called, Some(&params), &none.error());
                none.reply()
            }
        },
    }
}

fn initialize(site: &Site, caller: Caller, id: Id, params: &Params) -> Response {
    let Caller {
        principal, gone, ..
    } = caller;
    let (result, agreed) = requests::initialize(&site.served, params);
    let Some(name) = server::random_session() else {
        return reply::empty(StatusCode::SERVICE_UNAVAILABLE);
    };
    let facts = server::with_session(&site.facts(principal.as_deref()), Some(name.clone()));
    let declared = params.capabilities.clone().unwrap_or_default();
    let text = name.to_string();
    let begun = site.sessions.begin(
        text.clone(),
        principal,
        (facts, Held::of(&site.served)),
        Capabilities::of(&declared),
        agreed,
        gone.as_ref().unwrap_or(&site.gone),
    );
    if begun.is_none() {
        let error = RpcError::request("too many clients are connected; try again later");
        return reply::error(StatusCode::SERVICE_UNAVAILABLE, Some(id), error);
    }
    let mut response = reply::message(StatusCode::OK, &Message::answer(id, Ok(result)));
    if let Ok(text) = text.parse() {
        response.headers_mut().insert(SESSION, text);
    }
    response
}

/// A request of a client with a handshake. It goes on when the client is cut off, which can come
/// back for the answer; to end it the client cancels it.
async fn with_handshake(
    site: &Site,
    headers: HeaderMap,
    session: Arc<Session>,
    request: requests::Request,
    body: Option<Box<Taken>>,
) -> Response {
    let Some(running) = session.start(&request.id) else {
        let text = "a request of that id is running, or too many are";
        let error = RpcError::request(text);
        let requests::Request { id, method, params } = request;
        let called = (&id, method.as_str());
        turned_away::record(&site.served, &session.facts, called, Some(&params), &error);
        return reply::error(StatusCode::OK, Some(id), error);
    };
    let takes_events = takes(&headers, "text/event-stream");
    let log = session.stream();
    let outlet = match takes_events {
        true => Outlet::Events(Arc::clone(&log)),
        false => Outlet::Nowhere,
    };
    let mut client = session.client(outlet);
    if !takes_events {
        // It could not be asked.
        client.capabilities = Capabilities::default();
    }
    let (served, serving) = (Arc::clone(&site.served), site.serving.clone());
    let work = async move {
        // Its id is free before it is answered.
        let running = running;
        let _body = body;
        requests::answer(&served, &client, request, &running.cancelled, &serving).await
    };
    let mut work = Work::new(work, Arc::clone(&log), Some(Arc::clone(&session)));
    match first(&mut work, takes_events.then_some(AT_ONCE)).await {
        Some(First::Answer(answer, _)) => reply::json_in(headers, answer),
        Some(First::Nothing) => reply::empty(StatusCode::ACCEPTED),
        Some(First::More) | None => {
            // From here on it goes on by itself.
            drop(work);
            let primed = session.revision >= PRIMED;
            reply::events(Events::of(log, None, primed, None))
        }
    }
}

/// The first thing that there is to tell, if there is one in time.
async fn first(work: &mut Work, patience: Option<Duration>) -> Option<First> {
    match patience {
        Some(patience) => tokio::time::timeout(patience, work.first()).await.ok(),
        None => Some(work.first().await),
    }
}

/// A request of a client without a handshake, which ends when the client no longer waits.
async fn stateless(
    site: &Arc<Site>,
    headers: &HeaderMap,
    caller: Caller,
    id: Id,
    method: String,
    params: Params,
) -> Response {
    let Caller {
        principal,
        gone,
        room,
        body,
    } = caller;
    let facts = server::with_session(&site.facts(principal.as_deref()), principal.map(Into::into));
    let said = params.meta.version.is_some();
    if let Err(error) = match said {
        true => headers::check(&site.served, headers, &method, &params)
            .and_then(|()| requests::check_stateless(&params)),
        false => requests::check_stateless(&params),
    } {
        turned_away::record(&site.served, &facts, (&id, &method), Some(&params), &error);
        return reply::error(StatusCode::BAD_REQUEST, Some(id), error);
    }
    if method == "server/discover" {
        let result = requests::discover(&site.served);
        return reply::message(StatusCode::OK, &Message::answer(id, Ok(result)));
    }
    let takes_events = takes(headers, "text/event-stream");
    if method == "subscriptions/listen" && !takes_events {
        return reply::empty(StatusCode::NOT_ACCEPTABLE);
    }
    let kind = match method.as_str() {
        "subscriptions/listen" => Kind::Streams,
        _ => Kind::Requests,
    };
    let taken = match Taken::of(site, room.as_ref(), kind, 1) {
        Ok(taken) => taken,
        Err(full) => {
            let error = RpcError::request(full.to_string());
            turned_away::record(&site.served, &facts, (&id, &method), Some(&params), &error);
            return reply::full(Some(id), &full);
        }
    };
    let log = Arc::new(EventLog::once());
    let declared = params.meta.capabilities.clone().unwrap_or_default();
    let client = Client {
        facts,
        held: Held::default(),
        capabilities: Capabilities::of(&declared),
        outlet: match takes_events {
            true => Outlet::Events(Arc::clone(&log)),
            false => Outlet::Nowhere,
        },
        era: Era::Stateless {
            log_level: params.meta.log_level.as_deref().and_then(LogLevel::of),
        },
    };
    let cancelled = gone.as_ref().unwrap_or(&site.gone).child_token();
    // Whoever drops this response drops the request.
    let gone = cancelled.clone().drop_guard();
    let request = requests::Request { id, method, params };
    let work = async move {
        let _body = body;
        let Site {
            served, serving, ..
        } = taken.site();
        requests::answer(served, &client, request, &cancelled, serving).await
    };
    let mut work = Work::new(work, Arc::clone(&log), None);
    match first(&mut work, takes_events.then_some(IN_SILENCE)).await {
        Some(First::Answer(answer, code)) => reply::json(reply::status(code), answer),
        Some(First::Nothing) => reply::empty(StatusCode::ACCEPTED),
        Some(First::More) | None => {
            drop(work);
            reply::events(Events::of(log, None, false, Some(gone)))
        }
    }
}

fn notified(site: &Site, session: &Arc<Session>, method: &str, params: Option<&RawValue>) {
    match method {
        "notifications/cancelled" => {
            let read = Params::read(method, params).ok();
            if let Some(id) = read.and_then(|read| read.request_id) {
                session.cancel(&id);
            }
        }
        "notifications/initialized" if session.begins_telling() => {
            let telling = changes::tell(
                Watch::new(&site.served),
                Outlet::Events(Arc::clone(&session.unasked)),
                Arc::clone(&session.connection),
                Logs::Withheld,
            );
            let gone = session.gone.clone();
            tokio::spawn(async move {
                gone.run_until_cancelled(telling).await;
            });
        }
        _ => {}
    }
}

/// Gives a client with a handshake the stream of what nobody asked for, or one that it was cut off
/// from.
fn listen(site: &Site, headers: &HeaderMap, principal: Option<&str>) -> Response {
    let (_, session) = match session(site, headers, principal) {
        Ok(found) => found,
        Err(none) => return none.reply(),
    };
    if !takes(headers, "text/event-stream") {
        return reply::empty(StatusCode::NOT_ACCEPTABLE);
    }
    let primed = session.revision >= PRIMED;
    let Some(last) = headers.get(LAST_EVENT) else {
        let log = Arc::clone(&session.unasked);
        return reply::events(Events::of(log, None, primed, None));
    };
    let place = last
        .to_str()
        .ok()
        .and_then(|last| last.split_once('-'))
        .and_then(|(name, event)| Some((name.parse().ok()?, event.parse().ok()?)));
    match place.and_then(|(name, event)| Some((session.stream_of(name)?, event))) {
        Some((log, event)) => reply::events(Events::of(log, Some(event), false, None)),
        None => reply::empty(StatusCode::NOT_FOUND),
    }
}
