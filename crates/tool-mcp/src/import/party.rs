//! Who we are to servers.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::call_error::CallError;
use super::inputs::{Inputs, WantedInput};

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

    pub(crate) fn capabilities(&self) -> Map<String, Value> {
        match &self.inputs {
            Some(inputs) => inputs.capabilities(),
            None => Map::new(),
        }
    }

    /// Has somebody answer what a server asks, or refuses by name.
    pub(crate) async fn provide(&self, mut wanted: WantedInput) -> Result<Value, CallError> {
        crate::wire::clean::value(&mut wanted.params);
        let refused = |method: &str, reason: String| CallError::Refused {
            method: crate::wire::clean::text(method).chars().take(100).collect(),
            reason,
        };
        let capability = WantedInput::capability(&wanted.method);
        let inputs = capability.and_then(|capability| {
            let inputs = self.inputs.as_ref()?;
            inputs
                .capabilities()
                .contains_key(capability)
                .then_some(inputs)
        });
        let Some(inputs) = inputs else {
            return Err(refused(
                &wanted.method,
                "nobody here can answer it".to_owned(),
            ));
        };
        inputs
            .provide(&wanted)
            .await
            .map_err(|reason| refused(&wanted.method, reason))
    }
}
