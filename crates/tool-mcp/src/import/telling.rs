//! Telling a server of what clients want to be told.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::time::Duration;

use serde_json::{Map, Value};
use tokio::time::sleep;

use super::call_error::CallError;
use super::connection::Connection;
use super::pending::Pending;
use super::upstream::Upstream;
use super::wishes::Wishes;
use crate::wire::OneLine;

/// The least time between two streams that a server ends.
const AGAIN: Duration = Duration::from_secs(30);

/// Keeps a server told of what clients want to know, as its era does it, for as long as it is there.
pub(crate) async fn tell(connection: &Connection, upstream: &Upstream) -> Infallible {
    let wishes = &upstream.tally.wishes;
    let over = Over(wishes);
    if connection.is_stateless() {
        listen(connection, wishes).await;
    } else {
        subscribe(connection, upstream, wishes).await;
    }
    // There is no telling it anything.
    drop(over);
    std::future::pending().await
}

/// Nobody waits for a server that is no longer told.
struct Over<'a>(&'a Wishes);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.heard(u64::MAX);
    }
}

/// With a handshake: a request for each change.
async fn subscribe(connection: &Connection, upstream: &Upstream, wishes: &Wishes) {
    let subscribes = upstream.says("resources", "subscribe");
    let logs = upstream.has("logging");
    let mut subscribed = BTreeSet::new();
    let mut level = None;
    if !subscribes && !logs {
        return;
    }
    loop {
        let version = wishes.version();
        if subscribes {
            let wanted: BTreeSet<String> = wishes.resources().into_iter().collect();
            for (method, uris) in [
                ("resources/subscribe", wanted.difference(&subscribed)),
                ("resources/unsubscribe", subscribed.difference(&wanted)),
            ] {
                for uri in uris {
                    let mut params = Map::new();
                    params.insert("uri".to_owned(), uri.as_str().into());
                    request(connection, method, params).await;
                }
            }
            subscribed = wanted;
        }
        let wanted = wishes.least().filter(|_| logs);
        if let Some(wanted) = wanted.filter(|wanted| level != Some(*wanted)) {
            let mut params = Map::new();
            params.insert("level".to_owned(), wanted.as_str().into());
            request(connection, "logging/setLevel", params).await;
            level = Some(wanted);
        }
        wishes.heard(version);
        wishes.changed(version).await;
    }
}

async fn request(connection: &Connection, method: &'static str, params: Map<String, Value>) {
    if let Err(error) = connection.request(method, params).await {
        let server = connection.server();
        let error = OneLine(error);
        tracing::warn!(server, method, %error, "server did not take what clients want to be told");
    }
}

/// Without one: a request that stays open, and a new one ahead of the end of the old where
/// something else is wanted.
async fn listen(connection: &Connection, wishes: &Wishes) {
    loop {
        let version = wishes.version();
        let Ok(mut listening) = begin(connection, wishes).await else {
            return;
        };
        connection.set_listening(true);
        wishes.heard(version);
        let ended = keep_listening(connection, wishes, version, &mut listening).await;
        connection.set_listening(false);
        // It does not know how to tell. A stream that broke off is asked for again.
        if matches!(ended, Err(CallError::Peer { .. })) {
            return;
        }
        // What changed while nobody listened is found by looking.
        connection.board().note_tools_changed();
        sleep(AGAIN).await;
    }
}

async fn keep_listening<'a>(
    connection: &'a Connection,
    wishes: &Wishes,
    mut version: u64,
    listening: &mut Pending<'a>,
) -> Result<(), CallError> {
    let mut resources = wishes.resources();
    loop {
        tokio::select! {
            ended = listening.stay() => return ended.map(drop),
            () = wishes.changed(version) => {}
        }
        version = wishes.version();
        let wanted = wishes.resources();
        if wanted != resources {
            *listening = begin(connection, wishes).await?;
            resources = wanted;
        }
        wishes.heard(version);
    }
}

async fn begin<'a>(connection: &'a Connection, wishes: &Wishes) -> Result<Pending<'a>, CallError> {
    let lists = [
        "toolsListChanged",
        "promptsListChanged",
        "resourcesListChanged",
    ];
    let mut filter: Map<String, Value> = lists
        .into_iter()
        .map(|list| (list.to_owned(), true.into()))
        .collect();
    let resources = wishes.resources();
    if !resources.is_empty() {
        filter.insert("resourceSubscriptions".to_owned(), resources.into());
    }
    let mut params = Map::new();
    params.insert("notifications".to_owned(), filter.into());
    connection.begin("subscriptions/listen", params, None).await
}
