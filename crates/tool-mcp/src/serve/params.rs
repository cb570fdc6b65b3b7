//! Parameters of requests.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::meta::{MOST_BYTES, Meta};
use crate::wire::{Id, RpcError, aside};

/// The parameters of all methods. A member has one type in all of them, so that one look is
/// enough; each method says which of them it needs.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Params {
    #[serde(rename = "_meta")]
    pub(crate) meta: Meta,
    pub(crate) cursor: Option<String>,
    pub(crate) name: Option<String>,
    pub(crate) uri: Option<String>,
    /// Text until the pipeline reads it, which refuses what is ambiguous.
    pub(crate) arguments: Option<Box<RawValue>>,
    #[serde(deserialize_with = "present")]
    pub(crate) input_responses: Option<Value>,
    pub(crate) request_state: Option<String>,
    pub(crate) level: Option<String>,
    #[serde(rename = "ref")]
    pub(crate) reference: Option<Value>,
    pub(crate) argument: Option<Value>,
    pub(crate) context: Option<Value>,
    pub(crate) notifications: Option<Wanted>,
    pub(crate) request_id: Option<Id>,
    pub(crate) protocol_version: Option<String>,
    pub(crate) capabilities: Option<Map<String, Value>>,
}

/// What a client without a handshake wants to be told of.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Wanted {
    pub(crate) tools_list_changed: bool,
    pub(crate) prompts_list_changed: bool,
    pub(crate) resources_list_changed: bool,
    pub(crate) resource_subscriptions: Vec<String>,
}

impl Params {
    /// Reads parameters; those that are left out are none.
    pub(crate) fn read(method: &str, text: Option<&RawValue>) -> Result<Self, RpcError> {
        let Some(text) = text.map(RawValue::get).filter(|text| *text != "null") else {
            return Ok(Self::default());
        };
        let misfit = || RpcError::params(format!("the parameters of {method} do not fit"));
        // An array would be read as the members in their order.
        if !text.starts_with('{') {
            return Err(misfit());
        }
        let params: Self =
            aside(text.len(), || serde_json::from_str(text)).map_err(|_| misfit())?;
        if params.meta.is_too_long {
            return Err(RpcError::params(format!(
                "the _meta of {method} has more than {MOST_BYTES} bytes beside what the protocol \
                 reserves"
            )));
        }
        Ok(params)
    }

    pub(crate) fn needed_name(&self) -> Result<&str, RpcError> {
        self.name
            .as_deref()
            .ok_or_else(|| RpcError::params("the name is missing"))
    }

    pub(crate) fn needed_uri(&self) -> Result<&str, RpcError> {
        self.uri
            .as_deref()
            .ok_or_else(|| RpcError::params("the uri is missing"))
    }

    /// The arguments as a text that begins as an object does.
    pub(crate) fn arguments_text(&self) -> Result<&str, RpcError> {
        match self.arguments.as_deref().map(RawValue::get) {
            None | Some("null") => Ok("{}"),
            Some(text) if text.starts_with('{') => Ok(text),
            Some(_) => Err(RpcError::params("the arguments are no object")),
        }
    }

    /// The answers to what the last round asked for.
    pub(crate) fn responses(&mut self) -> Result<Map<String, Value>, RpcError> {
        match self.input_responses.take() {
            None => Ok(Map::new()),
            Some(Value::Object(responses)) => Ok(responses),
            Some(_) => Err(RpcError::params("the inputResponses are no object")),
        }
    }
}

/// Tells a member that is null from one that is absent.
fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}
