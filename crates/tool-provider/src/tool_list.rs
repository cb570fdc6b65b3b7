//! All tools of one request.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde_json::Value;
use tool_core::Definition;

use crate::Profile;
use crate::loss::Loss;
use crate::project::Projection;
use crate::quarantine::Quarantine;
use crate::rules::Envelope;

/// The tools of one request: sorted by name, within the provider's limits, each of them accepted.
///
/// The same definitions give the same bytes, in any order and in any process.
#[derive(Clone, Debug)]
pub struct ToolList {
    profile: Profile,
    tools: Vec<Projection>,
    quarantined: Vec<Quarantine>,
    json: OnceLock<String>,
}

impl Profile {
    /// The tools of one request. One that cannot be sent is quarantined and fails no other.
    ///
    /// Limits on the whole request are kept in the order of names: tools beyond the number that is
    /// taken are quarantined, and strict tools beyond what strictness takes are sent plain.
    #[must_use]
    pub fn tools<'a>(self, definitions: impl IntoIterator<Item = &'a Definition>) -> ToolList {
        let mut sorted: Vec<&Definition> = definitions.into_iter().collect();
        sorted.sort_by(|one, other| {
            let by_name = one.name.cmp(&other.name);
            by_name.then_with(|| one.digest().cmp(&other.digest()))
        });
        let limits = self.rules().request;
        let strict_limits = self.strict().rules().request;
        let mut list = ToolList {
            profile: self,
            tools: Vec::new(),
            quarantined: Vec::new(),
            json: OnceLock::new(),
        };
        let (mut strict, mut optional, mut unions) = (0, 0, 0);
        let mut last = None;
        for definition in sorted {
            let refuse = |reason: &str| Quarantine {
                tool: definition.name.as_str().to_owned(),
                profile: self,
                path: String::new(),
                reason: reason.to_owned(),
            };
            if last == Some(&definition.name) {
                list.quarantined
                    .push(refuse("another tool of the request has its name"));
                continue;
            }
            last = Some(&definition.name);
            if list.tools.len() >= limits.tools {
                list.quarantined.push(refuse(
                    "the request has as many tools as the provider takes",
                ));
                continue;
            }
            let mut projected = self.project(definition);
            if let Ok(tool) = &projected
                && tool.is_strict()
            {
                let over = strict + 1 > strict_limits.strict_tools
                    || optional + tool.optional > strict_limits.optional
                    || unions + tool.unions > strict_limits.unions;
                if over {
                    let note = "the strict tools of the request are as many as the provider takes";
                    let because = Loss::of_all(note);
                    projected = self.strict().fall_back(definition, because);
                } else {
                    strict += 1;
                    optional += tool.optional;
                    unions += tool.unions;
                }
            }
            match projected {
                Ok(tool) => list.tools.push(tool),
                Err(quarantine) => list.quarantined.push(quarantine),
            }
        }
        list
    }
}

impl ToolList {
    /// The profile that they are made for.
    #[must_use]
    pub fn profile(&self) -> Profile {
        self.profile
    }

    /// The tools that are sent, sorted by name.
    #[must_use]
    pub fn tools(&self) -> &[Projection] {
        &self.tools
    }

    /// The tools that are not.
    #[must_use]
    pub fn quarantined(&self) -> &[Quarantine] {
        &self.quarantined
    }

    /// The tool of a wire name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Projection> {
        let found = self.tools.binary_search_by(|tool| tool.name().cmp(name));
        found.ok().and_then(|index| self.tools.get(index))
    }

    /// The value of `tools` in the request. [`as_json`](Self::as_json) has it as text, and for less.
    #[must_use]
    pub fn to_value(&self) -> Value {
        serde_json::from_str(self.as_json()).unwrap_or_default()
    }

    /// The value of `tools` in the request, as text that is always the same. It is written once.
    #[must_use]
    pub fn as_json(&self) -> &str {
        self.json.get_or_init(|| {
            let tools: Vec<&str> = self.tools.iter().map(Projection::as_json).collect();
            let tools = tools.join(",");
            match self.profile.rules().envelope {
                Envelope::Gemini | Envelope::GeminiJson if !tools.is_empty() => {
                    format!("[{{\"functionDeclarations\":[{tools}]}}]")
                }
                _ => format!("[{tools}]"),
            }
        })
    }

    /// What each tool gave up, by name; those that gave up nothing are left out.
    #[must_use]
    pub fn losses(&self) -> BTreeMap<&str, &[Loss]> {
        let lossy = self.tools.iter().filter(|tool| !tool.losses().is_empty());
        lossy.map(|tool| (tool.name(), tool.losses())).collect()
    }
}
