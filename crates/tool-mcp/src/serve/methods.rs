//! What each method does.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::calling_client::CallingClient;
use super::client::{Client, Era};
use super::contained::contained;
use super::definition::advertise;
use super::pages::page;
use super::params::Params;
use super::request_state::Bound;
use super::rounds::{self, Answered};
use super::server::Offer;
use super::{Completion, LogLevel, OfferError, call};
use crate::wire::{Id, RpcError};

/// Answers a request of a client that has begun. `None` for a method that is not known here.
pub(crate) async fn answer(
    offer: &Offer,
    client: &Client,
    id: &Id,
    method: &str,
    params: Params,
) -> Result<Answered, RpcError> {
    let offered = offer.offered();
    let complete = match (method, &client.era) {
        ("tools/list", _) => list_tools(offer, client, &params)?,
        ("tools/call", _) => return call::call(offer, client, id, params).await,
        ("ping", Era::Handshake(_)) => Map::new(),
        ("logging/setLevel", Era::Handshake(connection)) => {
            let level = params.level.as_deref().and_then(LogLevel::of);
            let level = level.ok_or_else(|| RpcError::params("there is no such level"))?;
            connection.set_log_level(level);
            Map::new()
        }
        ("resources/list", _) if offered.resources => {
            let mut all = Vec::new();
            for offers in &offer.offers {
                all.extend(had(offers.resources(&client.facts)).await?);
            }
            paged(offer, "resources", "uri", all, &params)?
        }
        ("resources/templates/list", _) if offered.resources => {
            let mut all = Vec::new();
            for offers in &offer.offers {
                all.extend(had(offers.templates(&client.facts)).await?);
            }
            paged(offer, "resourceTemplates", "uriTemplate", all, &params)?
        }
        ("resources/read", _) if offered.resources => {
            return read(offer, client, params).await;
        }
        ("resources/subscribe" | "resources/unsubscribe", Era::Handshake(connection))
            if offered.resources =>
        {
            let uri = params.needed_uri()?;
            let begin = method == "resources/subscribe";
            subscribe(offer, client, &connection.subscriptions, uri, begin)?;
            Map::new()
        }
        ("prompts/list", _) if offered.prompts => {
            let mut all = Vec::new();
            for offers in &offer.offers {
                all.extend(had(offers.prompts(&client.facts)).await?);
            }
            paged(offer, "prompts", "name", all, &params)?
        }
        ("prompts/get", _) if offered.prompts => return prompt(offer, client, params).await,
        ("completion/complete", _) if offered.completions => {
            complete(offer, client, params).await?
        }
        _ => return Err(RpcError::method(method)),
    };
    Ok(Answered::Complete(complete))
}

fn list_tools(
    offer: &Offer,
    client: &Client,
    params: &Params,
) -> Result<Map<String, Value>, RpcError> {
    let snapshot = offer.registry.request(&client.facts);
    let any_output = client.is_stateless();
    let entries = snapshot.entries().map(|entry| {
        let name = entry.wire_name().to_string();
        (name, advertise(entry, any_output))
    });
    page("tools", entries, params.cursor.as_deref(), offer.page_size)
}

fn paged(
    offer: &Offer,
    kind: &str,
    key: &str,
    all: Vec<Value>,
    params: &Params,
) -> Result<Map<String, Value>, RpcError> {
    let mut sorted = BTreeMap::new();
    for entry in all {
        if let Some(name) = entry.get(key).and_then(Value::as_str) {
            sorted.entry(name.to_owned()).or_insert(entry);
        }
    }
    page(kind, sorted.into_iter(), params.cursor.as_deref(), offer.page_size)
}

async fn read(offer: &Offer, client: &Client, mut params: Params) -> Result<Answered, RpcError> {
    let responses = params.responses()?;
    let uri = params.needed_uri()?;
    let bound = bound(client, "resources/read", uri, "{}");
    in_rounds(offer, client, &params, responses, &bound, async || {
        for offers in &offer.offers {
            if let Some(found) = had(offers.read(uri, &client.facts)).await? {
                return object(found);
            }
        }
        let code = match client.era {
            Era::Handshake(_) => RpcError::NO_RESOURCE,
            Era::Stateless { .. } => RpcError::PARAMS,
        };
        let error = RpcError::new(code, "there is no such resource");
        Err(error.data(json!({"uri": uri})))
    })
    .await
}

async fn prompt(offer: &Offer, client: &Client, mut params: Params) -> Result<Answered, RpcError> {
    let responses = params.responses()?;
    let name = params.needed_name()?;
    let text = params.arguments_text()?;
    let arguments: Map<String, Value> = serde_json::from_str(text)
        .map_err(|_| RpcError::params("the arguments are no object"))?;
    let bound = bound(client, "prompts/get", name, text);
    in_rounds(offer, client, &params, responses, &bound, async || {
        for offers in &offer.offers {
            if let Some(made) = had(offers.prompt(name, &arguments, &client.facts)).await? {
                return object(made);
            }
        }
        Err(RpcError::params(format!("there is no prompt {name:?}")))
    })
    .await
}

async fn complete(
    offer: &Offer,
    client: &Client,
    params: Params,
) -> Result<Map<String, Value>, RpcError> {
    let (Some(reference), Some(argument)) = (params.reference, params.argument) else {
        return Err(RpcError::params("the ref or the argument is missing"));
    };
    let completion = Completion {
        reference,
        argument,
        context: params.context.unwrap_or_default(),
    };
    for offers in &offer.offers {
        if let Some(found) = had(offers.complete(&completion, &client.facts)).await? {
            return object(found);
        }
    }
    Err(RpcError::params("there is nothing of that name to complete"))
}

/// Runs what may ask the client for something.
async fn in_rounds(
    offer: &Offer,
    client: &Client,
    params: &Params,
    responses: Map<String, Value>,
    bound: &Bound<'_>,
    run: impl AsyncFnOnce() -> Result<Map<String, Value>, RpcError>,
) -> Result<Answered, RpcError> {
    let state = rounds::open(offer, client, params.request_state.as_deref(), bound)?;
    let mut given = state.answers;
    given.extend(responses);
    let calling = CallingClient::new(client.clone(), given);
    tokio::select! {
        biased;
        done = calling.serve(run()) => done.map(Answered::Complete),
        needed = calling.needed() => rounds::needed(offer, &calling, needed, bound),
    }
}

/// Takes up or gives up a resource of which the client wants to be told.
pub(crate) fn subscribe(
    offer: &Offer,
    client: &Client,
    subscriptions: &super::client::Subscriptions,
    uri: &str,
    begin: bool,
) -> Result<(), RpcError> {
    /// Of one client. More is no interest in any of them.
    const MOST: usize = 1_024;
    {
        let mut subscriptions = subscriptions
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        if !begin {
            subscriptions.remove(uri);
        } else if subscriptions.len() >= MOST {
            let text = format!("a client can subscribe to at most {MOST} resources");
            return Err(RpcError::params(text));
        } else {
            subscriptions.insert(uri.to_owned());
        }
    }
    for offers in &offer.offers {
        if begin {
            offers.subscribe(uri, &client.facts);
        } else {
            offers.unsubscribe(uri, &client.facts);
        }
    }
    Ok(())
}

fn bound<'a>(client: &'a Client, method: &'a str, name: &'a str, arguments: &'a str) -> Bound<'a> {
    Bound {
        method,
        name,
        arguments,
        facts: &client.facts,
    }
}

async fn had<T>(getting: impl Future<Output = Result<T, OfferError>>) -> Result<T, RpcError> {
    match contained(getting).await {
        Some(Ok(had)) => Ok(had),
        Some(Err(error)) => {
            let cause = std::error::Error::source(&error).map(ToString::to_string);
            tracing::warn!(error = %error, cause, "something offered could not be had");
            Err(RpcError::new(RpcError::INTERNAL, error.to_string()))
        }
        None => {
            tracing::error!("something offered panicked");
            Err(RpcError::new(
                RpcError::INTERNAL,
                "the server failed unexpectedly",
            ))
        }
    }
}

fn object(value: Value) -> Result<Map<String, Value>, RpcError> {
    match value {
        Value::Object(object) => Ok(object),
        _ => Err(RpcError::new(
            RpcError::INTERNAL,
            "the server failed unexpectedly",
        )),
    }
}
