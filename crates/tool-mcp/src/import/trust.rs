//! What of one server may be used.

use std::collections::HashMap;
use std::path::Path;

use serde_json::Value;
use tool_core::{Digest, Namespace};

use super::ServerConfig;
use crate::pin::{Pins, pinned};

/// What of one server may be used: everything where nobody keeps pins.
pub(crate) struct Trust {
    pins: Option<Pins>,
    server: Namespace,
}

/// What is said of the tools of one list.
pub(crate) struct Trusted {
    /// Why an entry may not be used, by its place; nothing for those that may.
    pub(crate) held: Vec<Option<String>>,
    /// The tools that may be called, and what they are; nothing where nobody keeps pins.
    pub(crate) callable: Option<HashMap<String, Digest>>,
}

impl Trust {
    pub(crate) fn new(server: Namespace, pins: Option<Pins>) -> Self {
        Self { pins, server }
    }

    /// Whether anybody keeps pins.
    pub(crate) fn is_kept(&self) -> bool {
        self.pins.is_some()
    }

    /// Why the server must not be reached as it is configured, if it must not.
    pub(crate) async fn launch(&self, server: &ServerConfig, base: &Path) -> Option<String> {
        let pins = self.pins.as_ref()?;
        match pins.see_launch(&self.server, &server.launch(base)).await {
            Ok(true) => None,
            Ok(false) => Some(format!(
                "waits for approval: how it is reached is not as it was trusted; \
                 `tool pin diff {}` shows it",
                self.server
            )),
            Err(error) => {
                tracing::error!(server = self.server.as_str(), %error, "nothing of a server can be trusted");
                Some(error.to_string())
            }
        }
    }

    /// What may be used of a list.
    pub(crate) async fn tools(&self, entries: &[Value]) -> Trusted {
        let Some(pins) = &self.pins else {
            return Trusted {
                held: vec![None; entries.len()],
                callable: None,
            };
        };
        let held: Vec<Option<String>> = match pins.see_tools(&self.server, entries).await {
            Ok(holds) => {
                let why = |holds: bool| (!holds).then(|| self.is_another());
                holds.into_iter().map(why).collect()
            }
            Err(error) => {
                tracing::error!(server = self.server.as_str(), %error, "nothing of a server can be trusted");
                vec![Some(error.to_string()); entries.len()]
            }
        };
        let callable = entries.iter().zip(&held).filter(|(_, held)| held.is_none());
        Trusted {
            callable: Some(
                callable
                    .filter_map(|(entry, _)| {
                        let (name, value) = pinned(entry)?;
                        Some((name, Digest::of_json(&value)))
                    })
                    .collect(),
            ),
            held,
        }
    }

    fn is_another(&self) -> String {
        format!(
            "waits for approval: it is not as it was trusted, or came later; \
             `tool pin diff {}` shows it",
            self.server
        )
    }
}
