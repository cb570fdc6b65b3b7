//! What the operator sets for a server and for its tools.

mod call_limits;
mod patience;
mod tool_overlay;

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;
use tool_core::ToolName;

use super::reader::Reader;
use super::{EntryError, Limits};

pub(crate) use self::call_limits::CallLimits;
use self::patience::Patience;
pub(crate) use self::tool_overlay::ToolOverlay;

/// The key of an entry under which the overlay stands.
pub(crate) const KEY: &str = "overlay";
/// All that an overlay can say of a server as a whole.
const KEYS: [&str; 8] = [
    "bound",
    "calls",
    "capabilities",
    "concurrency",
    "hints",
    "timeout",
    "tools",
    "trust",
];

/// What the operator sets for one server and for its tools, in place of what the server says or
/// of defaults: trust, capabilities, names, bounds, times and limits.
///
/// It stands under the key `overlay` of an entry in the `mcpServers` format; `docs/servers.md` has
/// every key with its unit, range and default. What is pinned is what the server says, so that an
/// overlay changes no pin and lets nothing be called that waits for approval.
///
/// ```
/// use serde_json::json;
/// use tool_core::Namespace;
/// use tool_mcp::{Overlay, ServerConfig};
///
/// let git = Namespace::new("git")?;
/// let overlay = Overlay::read(&git, &json!({
///     "timeout": {"total": 60},
///     "tools": {"push": {"disabled": true}, "log": {"rename": "history"}}
/// }));
/// let server = ServerConfig::new(git.clone(), "mcp-server-git").overlay(overlay.unwrap_or_default());
/// # let _ = server;
///
/// let wrong = Overlay::read(&git, &json!({"tols": {}, "timeout": {"total": 0}}));
/// let problems: Vec<String> = wrong.unwrap_err().iter().map(ToString::to_string).collect();
/// assert_eq!(problems, [
///     "server \"git\", key \"overlay.tols\": is not known; did you mean \"tools\"?",
///     "server \"git\", key \"overlay.timeout.total\": is no whole number from 1 to 86400",
/// ]);
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overlay {
    /// What holds for each tool that says nothing else.
    all: ToolOverlay,
    patience: Patience,
    /// For all calls of the server together.
    pub(crate) calls: CallLimits,
    tools: BTreeMap<String, ToolOverlay>,
}

impl Overlay {
    /// Reads the overlay of a server.
    ///
    /// # Errors
    /// Everything that is wrong with it: unknown keys with the nearest known one, values of another
    /// type or out of their range, and what contradicts itself. None of it is in force then.
    pub fn read(server: &tool_core::Namespace, value: &Value) -> Result<Self, Vec<EntryError>> {
        let mut reader = Reader::new(server.as_str());
        let overlay = Self::read_by(&mut reader, value);
        match reader.into_problems() {
            problems if problems.is_empty() => Ok(overlay),
            problems => Err(problems),
        }
    }

    /// Reads it as part of an entry. Of no use where anything is wrong.
    pub(super) fn read_by(reader: &mut Reader, value: &Value) -> Self {
        let mut overlay = Self::default();
        let Some(members) = reader.members(KEY, value, &KEYS) else {
            return overlay;
        };
        overlay.all = ToolOverlay::shared(reader, KEY, members);
        if let Some((at, value)) = reader.member(KEY, members, "timeout") {
            overlay.patience = Patience::read(reader, &at, value);
        }
        if let Some((at, value)) = reader.member(KEY, members, "calls") {
            overlay.calls = CallLimits::read(reader, &at, value);
        }
        if let Some((at, value)) = reader.member(KEY, members, "tools")
            && let Some(tools) = reader.any_members(&at, value)
        {
            for (name, value) in tools {
                let at = format!("{at}.{name}");
                if let Err(problem) = ToolName::new(name) {
                    reader.wrong(&at, problem.to_string());
                }
                let tool = ToolOverlay::read(reader, &at, value);
                overlay.tools.insert(name.clone(), tool);
            }
        }
        overlay.check(reader);
        overlay
    }

    /// What contradicts itself.
    fn check(&self, reader: &mut Reader) {
        let total = self.total();
        let mut names: BTreeMap<&str, &str> = BTreeMap::new();
        for (name, tool) in &self.tools {
            let at = |key: &str| format!("{KEY}.tools.{name}.{key}");
            if tool.timeout.is_some_and(|timeout| timeout > total) {
                let text = format!(
                    "is longer than the server's timeout.total of {} s, which ends a call first",
                    total.as_secs()
                );
                reader.wrong(&at("timeout"), text);
            }
            let Some(to) = &tool.rename else { continue };
            if tool.disabled {
                reader.wrong(&at("rename"), "is of a tool that is disabled");
            }
            if let Some(other) = names.insert(to.as_str(), name) {
                let text = format!("is the new name of \"{}\" as well", other.escape_debug());
                reader.wrong(&at("rename"), text);
            }
        }
    }

    /// The same, which says nothing of trust.
    pub(crate) fn without_trust(mut self) -> Self {
        self.all.trust = None;
        for tool in self.tools.values_mut() {
            tool.trust = None;
        }
        self
    }

    fn total(&self) -> Duration {
        self.patience.over(&Limits::default()).total
    }

    /// The limits of the server, given those of all servers.
    pub(crate) fn limits(&self, all: &Limits) -> Limits {
        self.patience.over(all)
    }

    /// What holds for one tool, by its server's own name.
    pub(crate) fn tool(&self, name: &str) -> ToolOverlay {
        match self.tools.get(name) {
            None => self.all.clone(),
            Some(tool) => tool.clone().or(&self.all),
        }
    }

    /// What holds where nothing is said of a tool, and for the server itself.
    pub(crate) fn all(&self) -> &ToolOverlay {
        &self.all
    }

    /// The tools of which something is said, by their server's own names.
    pub(crate) fn named(&self) -> impl Iterator<Item = (&str, &ToolOverlay)> {
        self.tools.iter().map(|(name, tool)| (name.as_str(), tool))
    }

    /// The tool that is renamed to a name, if any is.
    pub(crate) fn renamed_to(&self, name: &str) -> Option<&str> {
        let mut named = self.named();
        let is_it = |(_, tool): &(&str, &ToolOverlay)| {
            tool.rename.as_ref().is_some_and(|to| to.as_str() == name)
        };
        named.find(is_it).map(|(name, _)| name)
    }
}
