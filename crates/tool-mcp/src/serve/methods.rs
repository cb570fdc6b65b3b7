//! What each method does.

use serde_json::{Map, Value, json};

use super::calling_client::CallingClient;
use super::client::{Client, Era};
use super::definition::advertise;
use super::pages::page;
use super::params::Params;
use super::request_state::Bound;
use super::rounds::{self, Answered};
use super::server::Served;
use super::{LogLevel, call, offered, retained};
use crate::offerings::OfferKind;
use crate::wire::{Id, RpcError};

/// Answers a request of a client that has begun. `None` for a method that is not known here.
pub(crate) async fn answer(
    served: &Served,
    client: &Client,
    id: &Id,
    method: &str,
    params: Params,
) -> Result<Answered, RpcError> {
    let sorts = served.sorts();
    let complete = match (method, &client.era) {
        ("tools/list", _) => list_tools(served, client, &params)?,
        ("tools/call", _) => return call::call(served, client, id, params).await,
        ("ping", Era::Handshake(_)) => Map::new(),
        ("logging/setLevel", Era::Handshake(connection)) => {
            let level = params.level.as_deref().and_then(LogLevel::of);
            let level = level.ok_or_else(|| RpcError::params("there is no such level"))?;
            connection.set_log_level(level, served.offered.want_logs(level).await);
            Map::new()
        }
        ("resources/list", _) if sorts.resources => {
            list(served, OfferKind::Resource, &params).await?
        }
        ("resources/templates/list", _) if sorts.resources => {
            list(served, OfferKind::Template, &params).await?
        }
        ("prompts/list", _) if sorts.prompts => list(served, OfferKind::Prompt, &params).await?,
        ("resources/read", _) if sorts.resources => return read(served, client, params).await,
        ("resources/subscribe", Era::Handshake(connection)) if sorts.resources => {
            let uri = params.needed_uri()?.to_owned();
            let watching = served.offered.watch(&uri).await?;
            connection
                .subscribe(uri, watching)
                .map_err(RpcError::params)?;
            Map::new()
        }
        ("resources/unsubscribe", Era::Handshake(connection)) if sorts.resources => {
            connection.unsubscribe(params.needed_uri()?);
            Map::new()
        }
        ("prompts/get", _) if sorts.prompts => return prompt(served, client, params).await,
        ("completion/complete", _) if sorts.completions => {
            let reference = params.reference.unwrap_or_default();
            let completion = offered::completion(&reference, params.argument, params.context)?;
            served.offered.complete(&completion).await?
        }
        _ => return Err(RpcError::method(method)),
    };
    Ok(Answered::Complete(complete))
}

fn list_tools(
    served: &Served,
    client: &Client,
    params: &Params,
) -> Result<Map<String, Value>, RpcError> {
    let snapshot = served.registry.request(&client.facts);
    let any_output = client.is_stateless();
    let entries = snapshot.entries().map(|entry| {
        let name = entry.wire_name().to_string();
        (name, advertise(entry, any_output))
    });
    page("tools", entries, params.cursor.as_deref(), served.page_size)
}

async fn list(
    served: &Served,
    kind: OfferKind,
    params: &Params,
) -> Result<Map<String, Value>, RpcError> {
    let mut all = served.offered.list(kind).await?;
    if kind == OfferKind::Template && served.has_outputs() {
        all.extend([retained::template()]);
    }
    let cursor = params.cursor.as_deref();
    page(
        kind.list_member(),
        all.into_iter(),
        cursor,
        served.page_size,
    )
}

async fn read(served: &Served, client: &Client, mut params: Params) -> Result<Answered, RpcError> {
    let (responses, meta) = (params.responses()?, params.meta.carried.take());
    let uri = params.needed_uri()?;
    let bound = bound(client, "resources/read", uri, "{}");
    in_rounds(
        served,
        client,
        &params,
        responses,
        meta,
        &bound,
        async || {
            let outputs = served.registry.outputs();
            if let Some(read) = served.offered.read(outputs, uri, &client.facts).await? {
                return Ok(read);
            }
            let code = match client.era {
                Era::Handshake(_) => RpcError::NO_RESOURCE,
                Era::Stateless { .. } => RpcError::PARAMS,
            };
            let error = RpcError::new(code, "there is no such resource");
            Err(error.data(json!({"uri": uri})))
        },
    )
    .await
}

async fn prompt(
    served: &Served,
    client: &Client,
    mut params: Params,
) -> Result<Answered, RpcError> {
    let (responses, meta) = (params.responses()?, params.meta.carried.take());
    let name = params.needed_name()?;
    let text = params.arguments_text()?;
    let arguments: Map<String, Value> =
        serde_json::from_str(text).map_err(|_| RpcError::params("the arguments are no object"))?;
    let bound = bound(client, "prompts/get", name, text);
    in_rounds(
        served,
        client,
        &params,
        responses,
        meta,
        &bound,
        async || served.offered.prompt(name, &arguments).await,
    )
    .await
}

/// Runs what may ask the client for something.
async fn in_rounds(
    served: &Served,
    client: &Client,
    params: &Params,
    responses: Map<String, Value>,
    meta: Option<Box<Map<String, Value>>>,
    bound: &Bound<'_>,
    run: impl AsyncFnOnce() -> Result<Map<String, Value>, RpcError>,
) -> Result<Answered, RpcError> {
    let state = rounds::open(served, client, params.request_state.as_deref(), bound)
        .map_err(|_| rounds::unopened())?;
    let mut given = state.answers;
    given.extend(responses);
    let calling = CallingClient::new(client.clone(), meta, given, state.kept);
    tokio::select! {
        biased;
        done = calling.serve(run()) => done.map(Answered::Complete),
        needed = calling.needed() => rounds::needed(served, &calling, needed, bound),
    }
}

fn bound<'a>(client: &'a Client, method: &'a str, name: &'a str, arguments: &'a str) -> Bound<'a> {
    Bound {
        method,
        name,
        arguments,
        facts: &client.facts,
    }
}
