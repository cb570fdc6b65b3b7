//! What collects an answer.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A piece of user interface that collects the answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Component {
    /// Which component of the host.
    pub id: String,
    /// What it is given.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub props: Map<String, Value>,
    /// The artifact in which it finds more of what it is given. What is asked is asked about this
    /// one: an answer that names another is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub props_ref: Option<String>,
}

impl Component {
    /// A component of the host, without props.
    pub fn new(id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            props: Map::new(),
            props_ref: None,
        }
    }

    /// Sets what it is given.
    #[must_use]
    pub fn props(mut self, props: Map<String, Value>) -> Self {
        self.props = props;
        self
    }

    /// Names the artifact in which it finds more of what it is given. It must be there, within the
    /// scope of whoever calls, whenever the question is put; else the call is refused and nobody
    /// is asked.
    #[must_use]
    pub fn props_ref(mut self, reference: impl Into<String>) -> Self {
        self.props_ref = Some(reference.into());
        self
    }
}
