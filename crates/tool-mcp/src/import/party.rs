//! Who we are to servers.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::call_error::CallError;
use super::inputs::{Inputs, WantedInput};
use crate::serve::{Ask, AskKind};
use crate::wire::clean;

/// Who we are to servers, and who answers what they ask.
#[derive(Clone)]
pub(crate) struct Party {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) inputs: Option<Arc<dyn Inputs>>,
}

impl Party {
    pub(crate) fn info(&self) -> Value {
        json!({"name": self.name, "version": self.version})
    }

    /// What a server is told that it may ask for.
    pub(crate) async fn capabilities(&self, server: &str) -> Map<String, Value> {
        AskKind::capabilities(&self.kinds(server).await)
    }

    async fn kinds(&self, server: &str) -> Vec<AskKind> {
        match &self.inputs {
            Some(inputs) => inputs.kinds(server).await,
            None => Vec::new(),
        }
    }

    /// Has somebody answer what a server asks, or refuses by name.
    pub(crate) async fn provide(
        &self,
        server: &str,
        key: String,
        method: &str,
        mut params: Value,
    ) -> Result<Value, CallError> {
        clean::value(&mut params);
        let refused = |reason: String| CallError::Refused {
            method: clean::text(method).chars().take(100).collect(),
            reason,
        };
        let kinds = self.kinds(server).await;
        let ask = Ask::read(method, params).filter(|ask| kinds.contains(&ask.kind()));
        let Some((ask, inputs)) = ask.zip(self.inputs.as_ref()) else {
            return Err(refused("nobody here can answer it".to_owned()));
        };
        let kind = ask.kind();
        let wanted = WantedInput {
            server: server.to_owned(),
            key,
            ask,
        };
        let answer = inputs
            .provide(&wanted)
            .await
            .map_err(refused)?
            .into_result();
        if kind.fits(&answer) {
            Ok(answer)
        } else {
            Err(refused("the answer does not fit".to_owned()))
        }
    }
}
