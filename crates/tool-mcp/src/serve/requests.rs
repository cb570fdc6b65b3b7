//! One request, from its parameters to its answer.

use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::changes;
use super::client::{Client, Era};
use super::contained::contained;
use super::methods;
use super::params::Params;
use super::rounds::Answered;
use super::server::Served;
use super::serving::Serving;
use crate::wire::{Id, Message, RpcError, revision};

/// What is listed may depend on who asks, so that nobody else is to be shown it.
const CACHE_SCOPE: &str = "private";
/// Members that tell for how long and for whom a result may be kept.
const TTL: &str = "ttlMs";
const SCOPE: &str = "cacheScope";

/// A request whose era is known.
pub(crate) struct Request {
    pub(crate) id: Id,
    pub(crate) method: String,
    pub(crate) params: Params,
}

/// Answers a request. `None` when it was cancelled, as nobody waits for the answer then.
///
/// # Cancel safety
/// Dropping the future cancels the request.
pub(crate) async fn answer(
    served: &Served,
    client: &Client,
    request: Request,
    cancelled: &CancellationToken,
    serving: &Serving,
) -> Option<Message> {
    let _running = serving.run();
    let Request { id, method, params } = request;
    let is_call = method == "tools/call";
    let answering = async {
        // What a server offers is looked at in both.
        let answered = if method == "subscriptions/listen" && client.is_stateless() {
            contained(Box::pin(changes::listen(served, client, &id, params))).await
        } else {
            let answering = Box::pin(methods::answer(served, client, &id, &method, params));
            let answered = contained(answering).await;
            answered.map(|done| done.map(|answered| dress(served, client, &method, answered)))
        };
        answered.unwrap_or_else(|| {
            let text = "the server failed unexpectedly";
            Err(RpcError::new(RpcError::INTERNAL, text))
        })
    };
    let outcome = tokio::select! {
        biased;
        // Leaving here drops the call.
        () = cancelled.cancelled() => None,
        outcome = answering => Some(outcome),
    };
    match outcome {
        Some(outcome) => Some(Message::answer(id, outcome)),
        None => {
            if is_call {
                // What the dropped call has left is nobody else's to run.
                served.registry.clean_up().await;
            }
            None
        }
    }
}

/// What an era without a handshake tells in every result.
fn dress(served: &Served, client: &Client, method: &str, answered: Answered) -> Value {
    if let Era::Handshake(_) = client.era {
        let (Answered::Complete(mut result) | Answered::InputRequired(mut result)) = answered;
        if is_cacheable(method) {
            // An imported server may have said so to us.
            result.remove(TTL);
            result.remove(SCOPE);
        }
        return result.into();
    }
    let (mut result, sort) = match answered {
        Answered::Complete(result) => (result, "complete"),
        Answered::InputRequired(result) => (result, "input_required"),
    };
    if sort == "complete" && is_cacheable(method) {
        // What is registered may change at any time.
        result.entry(TTL).or_insert_with(|| 0.into());
        result.insert(SCOPE.to_owned(), CACHE_SCOPE.into());
    }
    result.insert("resultType".to_owned(), sort.into());
    with_server(served, &mut result);
    result.into()
}

pub(crate) fn with_server(served: &Served, result: &mut Map<String, Value>) {
    let meta = result
        .entry("_meta")
        .or_insert_with(|| Value::Object(Map::new()));
    if let Some(meta) = meta.as_object_mut() {
        meta.insert(
            revision::meta::SERVER.to_owned(),
            served.implementation_json(),
        );
    }
}

/// Source: Model Context Protocol 2026-07-28, "Caching".
fn is_cacheable(method: &str) -> bool {
    matches!(
        method,
        "tools/list"
            | "prompts/list"
            | "resources/list"
            | "resources/templates/list"
            | "resources/read"
    )
}

/// The answer to a client that begins with a handshake, and the revision that was agreed on.
pub(crate) fn initialize(served: &Served, params: &Params) -> (Value, &'static str) {
    let wanted = params.protocol_version.as_deref().unwrap_or_default();
    let agreed = revision::with_handshake(wanted).unwrap_or(revision::NEWEST_WITH_HANDSHAKE);
    let mut result = json!({
        "protocolVersion": agreed,
        "capabilities": served.capabilities(),
        "serverInfo": served.implementation_json(),
    });
    if let (Some(text), Some(members)) = (&served.instructions, result.as_object_mut()) {
        members.insert("instructions".to_owned(), text.as_str().into());
    }
    (result, agreed)
}

/// The answer to a client that wants to know what there is.
pub(crate) fn discover(served: &Served) -> Value {
    let mut result = Map::new();
    let versions: Vec<_> = revision::all().collect();
    result.insert("supportedVersions".to_owned(), json!(versions));
    result.insert("capabilities".to_owned(), served.capabilities());
    if let Some(text) = &served.instructions {
        result.insert("instructions".to_owned(), text.as_str().into());
    }
    result.insert(TTL.to_owned(), 0.into());
    result.insert(SCOPE.to_owned(), CACHE_SCOPE.into());
    result.insert("resultType".to_owned(), "complete".into());
    with_server(served, &mut result);
    result.into()
}

/// Whether a request is of the era without a handshake: it says of which revision it is.
pub(crate) fn is_stateless(params: &Params) -> bool {
    params.meta.version.is_some() || params.meta.capabilities.is_some()
}

/// Looks whether a request tells what every request of its era tells.
pub(crate) fn check_stateless(params: &Params) -> Result<(), RpcError> {
    let Some(version) = params.meta.version.as_deref() else {
        return Err(missing(revision::meta::VERSION));
    };
    if version != revision::STATELESS {
        return Err(unsupported(version));
    }
    match params.meta.capabilities {
        Some(_) => Ok(()),
        None => Err(missing(revision::meta::CAPABILITIES)),
    }
}

fn missing(key: &str) -> RpcError {
    RpcError::params(format!("_meta has no {key}"))
}

pub(crate) fn unsupported(version: &str) -> RpcError {
    let supported: Vec<_> = revision::all().collect();
    RpcError::new(RpcError::VERSION, "this revision is not spoken")
        .data(json!({"supported": supported, "requested": version}))
}
