//! Telling clients of changes.

use std::collections::HashSet;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use serde_json::{Map, Value, json};
use tool_registry::Changes;

use super::LogLevel;
use super::client::{Client, Connection, MOST_SUBSCRIPTIONS};
use super::outlet::Outlet;
use super::params::{Params, Wanted};
use super::requests::with_server;
use super::server::Served;
use super::shown_pages::shown_id;
use crate::offerings::{OfferEvent, OfferEvents, OfferKind};
use crate::wire::{Id, Message, RpcError, revision};

/// What happened, one thing at a time.
enum Change {
    Tools,
    Offered(OfferEvent),
    /// Nothing will change any more.
    End,
}

/// Changes of everything that a server offers.
pub(crate) struct Watch {
    tools: Changes,
    offered: Vec<OfferEvents>,
}

impl Watch {
    pub(crate) fn new(served: &Served) -> Self {
        let offered = served.offered.all().iter();
        Self {
            tools: served.registry.changes(),
            offered: offered.map(|offerings| offerings.events()).collect(),
        }
    }

    async fn next(&mut self) -> Change {
        loop {
            let (at, event) = tokio::select! {
                changed = self.tools.changed() => return match changed {
                    true => Change::Tools,
                    false => Change::End,
                },
                event = first_of(&mut self.offered) => event,
            };
            match event {
                Some(event) => return Change::Offered(event),
                // Nothing will happen there any more.
                None => drop(self.offered.swap_remove(at)),
            }
        }
    }
}

/// The next event of any, with its place among them. Dropping the future loses nothing.
async fn first_of(all: &mut [OfferEvents]) -> (usize, Option<OfferEvent>) {
    type Next<'a> = Pin<Box<dyn Future<Output = Option<OfferEvent>> + Send + 'a>>;
    let mut nexts: Vec<Next<'_>> = all
        .iter_mut()
        .map(|events| -> Next<'_> { Box::pin(events.next()) })
        .collect();
    std::future::poll_fn(|cx| {
        for (at, next) in nexts.iter_mut().enumerate() {
            if let Poll::Ready(event) = next.as_mut().poll(cx) {
                return Poll::Ready((at, event));
            }
        }
        Poll::Pending
    })
    .await
}

const TOOLS: &str = "notifications/tools/list_changed";
const PROMPTS: &str = "notifications/prompts/list_changed";
const RESOURCES: &str = "notifications/resources/list_changed";
const RESOURCE: &str = "notifications/resources/updated";
const PAGE: &str = "notifications/elicitation/complete";
const LOG: &str = "notifications/message";

/// Under which name a client is told what an imported server logs.
pub(crate) fn logger_of(server: &str, logger: Option<&str>) -> String {
    match logger {
        Some(logger) => format!("{server}: {logger}"),
        None => server.to_owned(),
    }
}

/// Whether a client is told what imported servers log outside of anybody's calls, or in the middle
/// of several.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Logs {
    Told,
    #[cfg(feature = "http")]
    Withheld,
}

/// Tells a client with a handshake of every change, for as long as it is there.
pub(crate) async fn tell(
    mut watch: Watch,
    outlet: Outlet,
    connection: Arc<Connection>,
    logs: Logs,
) {
    loop {
        let (method, params) = match watch.next().await {
            Change::End => return,
            Change::Tools => (TOOLS, None),
            Change::Offered(OfferEvent::Changed(OfferKind::Prompt)) => (PROMPTS, None),
            Change::Offered(OfferEvent::Changed(_)) => (RESOURCES, None),
            Change::Offered(OfferEvent::Updated { uri }) if connection.is_subscribed(&uri) => {
                (RESOURCE, Some(json!({"uri": uri})))
            }
            Change::Offered(OfferEvent::PageDone { server, id }) => {
                let id = shown_id(&server, &id);
                if !connection.pages().end(&id) {
                    continue;
                }
                (PAGE, Some(json!({"elicitationId": id})))
            }
            Change::Offered(OfferEvent::Logged {
                server,
                level,
                logger,
                data,
                to_caller: false,
            }) if logs == Logs::Told
                && LogLevel::of(&level).is_some_and(|level| connection.wants_log(level)) =>
            {
                let logger = logger_of(&server, logger.as_deref());
                let params = json!({"level": level, "logger": logger, "data": data});
                (LOG, Some(params))
            }
            Change::Offered(_) => continue,
        };
        if outlet.send(&Message::notice(method, params)).await.is_err() {
            return;
        }
    }
}

/// Tells a client without a handshake of what it asked for, until it no longer listens.
pub(crate) async fn listen(
    served: &Served,
    client: &Client,
    id: &Id,
    params: Params,
) -> Result<Value, RpcError> {
    // From here on no change is missed.
    let mut watch = Watch::new(served);
    let sorts = served.sorts();
    let mut wanted = params
        .notifications
        .ok_or_else(|| RpcError::params("the notifications are missing"))?;
    wanted.prompts_list_changed &= sorts.prompts;
    wanted.resources_list_changed &= sorts.resources;
    if !sorts.resources {
        wanted.resource_subscriptions.clear();
    }
    let subscribed: HashSet<String> = wanted.resource_subscriptions.iter().cloned().collect();
    if subscribed.len() > MOST_SUBSCRIPTIONS {
        return Err(RpcError::params(format!(
            "a client can listen for at most {MOST_SUBSCRIPTIONS} resources at once"
        )));
    }
    let mut watching = Vec::new();
    for uri in &subscribed {
        watching.extend(served.offered.watch(uri).await?);
    }
    let tag = json!({revision::meta::SUBSCRIPTION: id});
    let acknowledged = json!({"_meta": tag, "notifications": accepted(&wanted)});
    let acknowledged = Message::notice(
        "notifications/subscriptions/acknowledged",
        Some(acknowledged),
    );
    let mut gone = client.outlet.send(&acknowledged).await.is_err();
    while !gone {
        let change = watch.next().await;
        if matches!(change, Change::End) {
            break;
        }
        if let Some((method, uri)) = due(change, &wanted, &subscribed) {
            let mut params = json!({"_meta": tag});
            if let (Some(uri), Some(members)) = (uri, params.as_object_mut()) {
                members.insert("uri".to_owned(), uri.into());
            }
            let notice = Message::notice(method, Some(params));
            gone |= client.outlet.send(&notice).await.is_err();
        }
    }
    drop(watching);
    let mut result = Map::new();
    result.insert("resultType".to_owned(), "complete".into());
    result.insert("_meta".to_owned(), tag);
    with_server(served, &mut result);
    Ok(result.into())
}

fn accepted(wanted: &Wanted) -> Value {
    let mut accepted = Map::new();
    for (key, is_wanted) in [
        ("toolsListChanged", wanted.tools_list_changed),
        ("promptsListChanged", wanted.prompts_list_changed),
        ("resourcesListChanged", wanted.resources_list_changed),
    ] {
        if is_wanted {
            accepted.insert(key.to_owned(), true.into());
        }
    }
    if !wanted.resource_subscriptions.is_empty() {
        let uris = json!(wanted.resource_subscriptions);
        accepted.insert("resourceSubscriptions".to_owned(), uris);
    }
    accepted.into()
}

/// What a client is told of a change, with the resource that it is about.
fn due(
    change: Change,
    wanted: &Wanted,
    subscribed: &HashSet<String>,
) -> Option<(&'static str, Option<String>)> {
    match change {
        Change::Tools => wanted.tools_list_changed.then_some((TOOLS, None)),
        Change::Offered(OfferEvent::Changed(OfferKind::Prompt)) => {
            wanted.prompts_list_changed.then_some((PROMPTS, None))
        }
        Change::Offered(OfferEvent::Changed(_)) => {
            wanted.resources_list_changed.then_some((RESOURCES, None))
        }
        Change::Offered(OfferEvent::Updated { uri }) => {
            subscribed.contains(&uri).then_some((RESOURCE, Some(uri)))
        }
        Change::Offered(_) | Change::End => None,
    }
}
