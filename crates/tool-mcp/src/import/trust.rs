//! What of one server may be used.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;
use tool_core::{Digest, Namespace};

use super::{Overlay, ServerConfig};
use crate::pin::{FirstSight, Pins, pinned};

/// Why nothing is used that has to be approved where no approval is kept.
const NO_PINS: &str = "waits for approval, and there is no state in which one could be kept";

/// What of one server may be used: everything where nobody keeps pins.
pub(crate) struct Trust {
    pins: Option<Pins>,
    server: Namespace,
    overlay: Arc<Overlay>,
}

/// What is said of the tools of one list.
pub(crate) struct Trusted {
    /// Why an entry may not be used, by its place; nothing for those that may.
    pub(crate) held: Vec<Option<String>>,
    /// The tools that may be called, and what they are; nothing where nobody keeps pins.
    pub(crate) callable: Option<HashMap<String, Digest>>,
}

impl Trust {
    pub(crate) fn new(server: Namespace, pins: Option<Pins>, overlay: Arc<Overlay>) -> Self {
        Self {
            pins,
            server,
            overlay,
        }
    }

    /// Whether anybody keeps pins.
    pub(crate) fn is_kept(&self) -> bool {
        self.pins.is_some()
    }

    /// Why the server must not be reached as it is configured, if it must not.
    pub(crate) async fn launch(&self, server: &ServerConfig, base: &Path) -> Option<String> {
        let Some(pins) = &self.pins else {
            let held = self.overlay.all().trust == Some(FirstSight::Hold);
            return held.then(|| NO_PINS.to_owned());
        };
        let first = self.overlay.all().trust.unwrap_or(pins.first());
        let launch = server.launch(base);
        match pins.see_launch_as(&self.server, &launch, first).await {
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
            let name = |entry: &Value| Some(entry.get("name")?.as_str()?.to_owned());
            let held = |entry| {
                let trust = self.overlay.tool(&name(entry)?).trust;
                (trust == Some(FirstSight::Hold)).then(|| NO_PINS.to_owned())
            };
            return Trusted {
                held: entries.iter().map(held).collect(),
                callable: None,
            };
        };
        let first = |name: &str| self.overlay.tool(name).trust.unwrap_or(pins.first());
        let seen = pins.see_tools_as(&self.server, entries, first).await;
        let held: Vec<Option<String>> = match seen {
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
