//! Telling clients of changes.

use std::collections::HashSet;
use std::sync::PoisonError;

use serde_json::{Map, Value, json};
use tokio::sync::broadcast::error::RecvError;
use tool_registry::Changes;

use super::client::{Client, Subscriptions};
use super::offer_changes::OfferChange;
use super::outlet::Outlet;
use super::params::{Params, Wanted};
use super::requests::with_server;
use super::server::Offer;
use crate::wire::{Id, Outgoing, RpcError, revision};

/// What happened, one thing at a time.
enum Change {
    Tools,
    Offered(OfferChange),
    /// So much that nobody can tell.
    Everything,
    /// Nothing will change any more.
    End,
}

/// Changes of everything that a server offers.
pub(crate) struct Watch {
    tools: Changes,
    offered: tokio::sync::broadcast::Receiver<OfferChange>,
}

impl Watch {
    pub(crate) fn new(offer: &Offer) -> Self {
        Self {
            tools: offer.registry.changes(),
            offered: offer.changes.subscribe(),
        }
    }

    async fn next(&mut self) -> Change {
        tokio::select! {
            changed = self.tools.changed() => match changed {
                true => Change::Tools,
                false => Change::End,
            },
            changed = self.offered.recv() => match changed {
                Ok(change) => Change::Offered(change),
                Err(RecvError::Lagged(_)) => Change::Everything,
                Err(RecvError::Closed) => Change::End,
            },
        }
    }
}

const TOOLS: &str = "notifications/tools/list_changed";
const PROMPTS: &str = "notifications/prompts/list_changed";
const RESOURCES: &str = "notifications/resources/list_changed";
const RESOURCE: &str = "notifications/resources/updated";

/// Tells a client with a handshake of every change, for as long as it is there.
pub(crate) async fn tell(mut watch: Watch, outlet: Outlet, subscriptions: Subscriptions) {
    let wanted = Wanted {
        tools_list_changed: true,
        prompts_list_changed: true,
        resources_list_changed: true,
        resource_subscriptions: Vec::new(),
    };
    loop {
        let change = watch.next().await;
        if matches!(change, Change::End) {
            return;
        }
        let subscribed = subscriptions
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        for (method, uri) in due(change, &wanted, &subscribed) {
            let params = uri.map(|uri| json!({"uri": uri}));
            if outlet.send(&Outgoing::notice(method, params)).await.is_err() {
                return;
            }
        }
    }
}

/// Tells a client without a handshake of what it asked for, until it no longer listens.
pub(crate) async fn listen(
    offer: &Offer,
    client: &Client,
    id: &Id,
    params: Params,
) -> Result<Value, RpcError> {
    // From here on no change is missed.
    let mut watch = Watch::new(offer);
    let offered = offer.offered();
    let mut wanted = params
        .notifications
        .ok_or_else(|| RpcError::params("the notifications are missing"))?;
    wanted.prompts_list_changed &= offered.prompts;
    wanted.resources_list_changed &= offered.resources;
    if !offered.resources {
        wanted.resource_subscriptions.clear();
    }
    let subscribed: HashSet<String> = wanted.resource_subscriptions.iter().cloned().collect();
    for uri in &subscribed {
        for offers in &offer.offers {
            offers.subscribe(uri, &client.facts);
        }
    }
    let _subscribed = Unsubscribe {
        offer,
        client,
        uris: &subscribed,
    };
    let tag = json!({revision::meta::SUBSCRIPTION: id});
    let acknowledged = json!({"_meta": tag, "notifications": accepted(&wanted)});
    let acknowledged = Outgoing::notice(
        "notifications/subscriptions/acknowledged",
        Some(acknowledged),
    );
    let mut gone = client.outlet.send(&acknowledged).await.is_err();
    while !gone {
        let change = watch.next().await;
        if matches!(change, Change::End) {
            break;
        }
        for (method, uri) in due(change, &wanted, &subscribed) {
            let mut params = json!({"_meta": tag});
            if let (Some(uri), Some(members)) = (uri, params.as_object_mut()) {
                members.insert("uri".to_owned(), uri.into());
            }
            let notice = Outgoing::notice(method, Some(params));
            gone |= client.outlet.send(&notice).await.is_err();
        }
    }
    let mut result = Map::new();
    result.insert("resultType".to_owned(), "complete".into());
    result.insert("_meta".to_owned(), tag);
    with_server(offer, &mut result);
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
) -> Vec<(&'static str, Option<String>)> {
    let lists = |tools, prompts, resources| {
        [
            (TOOLS, tools && wanted.tools_list_changed),
            (PROMPTS, prompts && wanted.prompts_list_changed),
            (RESOURCES, resources && wanted.resources_list_changed),
        ]
        .into_iter()
        .filter(|(_, due)| *due)
        .map(|(method, _)| (method, None))
        .collect::<Vec<_>>()
    };
    match change {
        Change::Tools => lists(true, false, false),
        Change::Offered(OfferChange::Prompts) => lists(false, true, false),
        Change::Offered(OfferChange::Resources) => lists(false, false, true),
        Change::Offered(OfferChange::Resource(uri)) => match subscribed.contains(&uri) {
            true => vec![(RESOURCE, Some(uri))],
            false => Vec::new(),
        },
        Change::Everything => {
            let mut all = lists(true, true, true);
            all.extend(subscribed.iter().map(|uri| (RESOURCE, Some(uri.clone()))));
            all
        }
        Change::End => Vec::new(),
    }
}

struct Unsubscribe<'a> {
    offer: &'a Offer,
    client: &'a Client,
    uris: &'a HashSet<String>,
}

impl Drop for Unsubscribe<'_> {
    fn drop(&mut self) {
        for uri in self.uris {
            for offers in &self.offer.offers {
                offers.unsubscribe(uri, &self.client.facts);
            }
        }
    }
}
