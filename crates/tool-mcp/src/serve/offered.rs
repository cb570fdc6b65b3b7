//! What is offered besides tools: by the host, by imported servers, and what was retained.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value};
use tool_core::Facts;

use super::contained::{Awaited, contained};
use super::{LogLevel, retained};
use crate::offerings::{Completion, OfferError, OfferErrorKind, OfferKind, Offerings, Watching};
use crate::wire::{OneLine, RpcError};

/// All that is offered besides tools, in the order in which it was added.
#[derive(Clone, Default)]
pub(crate) struct Offered(Vec<Arc<dyn Offerings>>);

/// Which sorts there are.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sorts {
    pub(crate) resources: bool,
    pub(crate) prompts: bool,
    /// Arguments of either can be completed.
    pub(crate) completions: bool,
}

impl Offered {
    pub(crate) fn add(&mut self, offerings: Arc<dyn Offerings>) {
        self.0.push(offerings);
    }

    pub(crate) fn all(&self) -> &[Arc<dyn Offerings>] {
        &self.0
    }

    /// Which sorts there are by now: servers come and go.
    pub(crate) fn sorts(&self) -> Sorts {
        let mut sorts = Sorts::default();
        for kind in self.0.iter().flat_map(|offerings| offerings.kinds()) {
            sorts.resources |= kind != OfferKind::Prompt;
            sorts.prompts |= kind == OfferKind::Prompt;
            sorts.completions |= kind != OfferKind::Resource;
        }
        sorts
    }

    /// Everything of a kind, by its key. What was added first has a key that is taken twice.
    pub(crate) async fn list(&self, kind: OfferKind) -> Result<BTreeMap<String, Value>, RpcError> {
        let mut all = BTreeMap::new();
        for offerings in &self.0 {
            for offer in had(offerings.list(kind)).await? {
                all.entry(offer.key)
                    .or_insert_with(|| offer.definition.into());
            }
        }
        Ok(all)
    }

    pub(crate) async fn prompt(
        &self,
        name: &str,
        arguments: &Map<String, Value>,
    ) -> Result<Map<String, Value>, RpcError> {
        for offerings in &self.0 {
            if let Some(made) = found(offerings.prompt(name, arguments.clone())).await? {
                return Ok(made);
            }
        }
        Err(RpcError::params("there is no such prompt"))
    }

    pub(crate) async fn complete(
        &self,
        completion: &Completion,
    ) -> Result<Map<String, Value>, RpcError> {
        for offerings in &self.0 {
            if let Some(completed) = found(offerings.complete(completion)).await? {
                return Ok(completed);
            }
        }
        Err(RpcError::params(
            "there is nothing of that name to complete",
        ))
    }

    /// Has everybody told that a resource is watched who may have it.
    pub(crate) async fn watch(&self, uri: &str) -> Result<Vec<Watching>, RpcError> {
        let mut watching = Vec::new();
        for offerings in &self.0 {
            watching.extend(found(offerings.watch(uri)).await?);
        }
        Ok(watching)
    }

    /// Has everybody told which log messages are wanted.
    pub(crate) async fn want_logs(&self, level: LogLevel) -> Vec<Watching> {
        let mut wanted = Vec::new();
        for offerings in &self.0 {
            wanted.extend(contained(offerings.want_logs(level)).await);
        }
        wanted
    }

    /// Reads a resource. `None` for one that does not exist, or not for this caller.
    pub(crate) async fn read(
        &self,
        outputs: Option<&Arc<dyn tool_core::OutputStore>>,
        uri: &str,
        caller: &Facts,
    ) -> Result<Option<Map<String, Value>>, RpcError> {
        if let Some(outputs) = outputs
            && retained::is_own(uri)
        {
            return found(Box::pin(retained::read(&**outputs, uri, caller))).await;
        }
        for offerings in &self.0 {
            if let Some(read) = found(offerings.read(uri)).await? {
                return Ok(Some(read));
            }
        }
        Ok(None)
    }
}

/// What is to be completed, of the parameters that name it.
pub(crate) fn completion(
    reference: &Value,
    argument: Option<Value>,
    context: Option<Value>,
) -> Result<Completion, RpcError> {
    let text = |member: &str| reference.get(member).and_then(Value::as_str);
    let (kind, key) = match text("type") {
        Some("ref/prompt") => (OfferKind::Prompt, text("name")),
        Some("ref/resource") => (OfferKind::Template, text("uri")),
        _ => (OfferKind::Template, None),
    };
    let (Some(key), Some(Value::Object(argument))) = (key, argument) else {
        return Err(RpcError::params(
            "the ref names no prompt and no template, or the argument is missing",
        ));
    };
    let mut completion = Completion::new(kind, key, argument);
    completion.context = match context {
        Some(Value::Object(context)) => Some(context),
        _ => None,
    };
    Ok(completion)
}

/// What was had; `None` where somebody else may have it.
async fn found<T>(getting: Awaited<'_, Result<T, OfferError>>) -> Result<Option<T>, RpcError> {
    match contained(getting).await {
        Some(Ok(had)) => Ok(Some(had)),
        Some(Err(error)) => match error.kind() {
            OfferErrorKind::NotFound | OfferErrorKind::Peer(RpcError::NO_RESOURCE) => Ok(None),
            _ => Err(failed(&error)),
        },
        None => Err(panicked()),
    }
}

async fn had<T>(getting: Awaited<'_, Result<T, OfferError>>) -> Result<T, RpcError> {
    match contained(getting).await {
        Some(had) => had.map_err(|error| failed(&error)),
        None => Err(panicked()),
    }
}

fn failed(error: &OfferError) -> RpcError {
    let cause = std::error::Error::source(error).map(|cause| OneLine(cause).to_string());
    tracing::warn!(error = %OneLine(error), cause, "something offered could not be had");
    let code = match error.kind() {
        OfferErrorKind::Peer(code) => code,
        _ => RpcError::INTERNAL,
    };
    RpcError::new(code, error.to_string())
}

fn panicked() -> RpcError {
    tracing::error!("something offered panicked");
    RpcError::new(RpcError::INTERNAL, "the server failed unexpectedly")
}
