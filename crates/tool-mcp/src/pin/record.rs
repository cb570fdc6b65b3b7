//! What is kept of one server.

use std::collections::{BTreeMap, HashSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tool_core::Namespace;

use super::{Change, PinError};

/// What is kept of one server.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Record {
    version: u64,
    launch: Pin,
    /// By the server's own names. A tool that is listed no more keeps its pin, or it could come
    /// back as another.
    tools: BTreeMap<String, Pin>,
    /// Whether the server's first list was seen. From then on a further tool is a change.
    listed: bool,
}

/// One thing that is trusted, or that waits to be.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
struct Pin {
    trusted: Option<Value>,
    /// What is seen, where that is something else.
    seen: Option<Value>,
}

impl Pin {
    /// Takes in what is seen, and tells whether it is what was trusted.
    fn see(&mut self, value: &Value, trust: bool) -> bool {
        if self.trusted.is_none() && trust {
            self.trusted = Some(value.clone());
        }
        let holds = self.trusted.as_ref() == Some(value);
        self.seen = (!holds).then(|| value.clone());
        holds
    }

    fn change(&self, server: &Namespace, tool: Option<&str>) -> Option<Change> {
        Some(Change {
            server: server.clone(),
            tool: tool.map(str::to_owned),
            trusted: self.trusted.clone(),
            seen: self.seen.clone()?,
        })
    }
}

/// The version that is written here.
const VERSION: u64 = 1;

impl Record {
    pub(super) fn read(server: &Namespace, text: &[u8]) -> Result<Self, PinError> {
        let form = |source| PinError::Form {
            server: server.to_string(),
            source,
        };
        let value: Value = serde_json::from_slice(text).map_err(form)?;
        match value.get("version").and_then(Value::as_u64) {
            Some(version) if version != VERSION => Err(PinError::Version {
                server: server.to_string(),
                version,
            }),
            _ => serde_json::from_value(value).map_err(form),
        }
    }

    pub(super) fn new() -> Self {
        Self {
            version: VERSION,
            ..Self::default()
        }
    }

    /// Takes in how the server is reached, and tells whether that is trusted.
    pub(super) fn see_launch(&mut self, launch: &Value, trust: bool) -> bool {
        self.launch.see(launch, trust)
    }

    /// Takes in a list of tools, and tells of each whether it is trusted.
    pub(super) fn see_tools(
        &mut self,
        tools: &[(String, Value)],
        trust: impl Fn(&str) -> bool,
    ) -> Vec<bool> {
        let first = !self.listed;
        self.listed = true;
        let see = |(name, value): &(String, Value)| {
            let pin = self.tools.entry(name.clone()).or_default();
            pin.see(value, first && trust(name))
        };
        let holds = tools.iter().map(see).collect();
        // What was never trusted and is listed no more is forgotten, or a server could fill the record.
        let listed: HashSet<&str> = tools.iter().map(|(name, _)| name.as_str()).collect();
        self.tools
            .retain(|name, pin| pin.trusted.is_some() || listed.contains(name.as_str()));
        holds
    }

    /// What waits for a person's word: how the server is reached first, then the tools by name.
    pub(super) fn changes(&self, server: &Namespace) -> Vec<Change> {
        let tools = self.tools.iter();
        let tools = tools.filter_map(|(name, pin)| pin.change(server, Some(name)));
        self.launch
            .change(server, None)
            .into_iter()
            .chain(tools)
            .collect()
    }

    /// Trusts what is seen of these.
    pub(super) fn approve(&mut self, changes: &[Change]) {
        for change in changes {
            let pin = match &change.tool {
                None => Some(&mut self.launch),
                Some(tool) => self.tools.get_mut(tool),
            };
            if let Some(pin) = pin.filter(|pin| pin.seen.as_ref() == Some(&change.seen)) {
                pin.trusted = pin.seen.take();
            }
        }
    }

    /// Whether nothing is kept.
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::new()
    }

    /// Forgets a tool, and tells whether there was one of that name.
    pub(super) fn forget_tool(&mut self, tool: &str) -> bool {
        self.tools.remove(tool).is_some()
    }

    /// How many tools are trusted.
    pub(super) fn trusted(&self) -> usize {
        let tools = self.tools.values();
        tools.filter(|pin| pin.trusted.is_some()).count()
    }

    pub(super) fn launch(&self) -> Option<&Value> {
        self.launch.trusted.as_ref()
    }
}
