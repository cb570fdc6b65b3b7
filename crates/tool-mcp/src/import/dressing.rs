//! From a server's tool to the tool that the operator wants of it.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tool_core::{
    Annotations, Definition, Digest, Identity, Namespace, Source, Tool, ToolName, WireName,
};

use super::Overlay;
use super::declared::Dropped;
use super::gates::{Class, Gates};
use super::nearest::nearest;
use super::throttle::Throttle;
use super::turns::Turns;

/// Notes on one list; a server must not fill the memory with them.
const MOST_NOTES: usize = 32;

/// From a server's tool to the tool that the operator wants of it.
pub(crate) struct Dressing {
    server: Namespace,
    overlay: Arc<Overlay>,
    /// Those that hold for all that the server is asked.
    gates: Gates,
    /// Of its tools, by their own names.
    throttles: HashMap<String, Arc<Throttle>>,
    turns: Arc<Turns>,
}

/// A tool as it is registered.
pub(crate) struct Dressed {
    pub(crate) tool: Tool,
    /// The name by which it is advertised, where its identity gives another one.
    pub(crate) advertised: Option<WireName>,
    /// Set where it only reads, as far as the server is believed.
    pub(crate) believed: Option<(Identity, Digest)>,
}

impl Dressing {
    pub(crate) fn new(server: Namespace, overlay: Arc<Overlay>, patience: Duration) -> Self {
        let gates = Gates {
            server: Throttle::new(format!("server {server}"), &overlay.calls),
            patience,
            ..Gates::default()
        };
        let throttles = overlay.named().filter_map(|(name, tool)| {
            Some((
                name.to_owned(),
                Throttle::new(whose(name, &server), &tool.calls)?,
            ))
        });
        Self {
            throttles: throttles.collect(),
            gates,
            turns: Arc::default(),
            server,
            overlay,
        }
    }

    pub(crate) fn server(&self) -> &Namespace {
        &self.server
    }

    /// Whether nobody shall be offered a tool.
    pub(crate) fn is_disabled(&self, name: &str) -> bool {
        self.overlay.tool(name).disabled
    }

    /// Why a tool cannot have the name that it has, if another was given it.
    pub(crate) fn taken(&self, name: &str) -> Option<String> {
        let other = self.overlay.renamed_to(name)?;
        // One that is renamed itself leaves its name to others.
        let own = self.overlay.tool(name).rename;
        own.is_none().then(|| {
            let other = other.escape_debug();
            format!("tool \"{other}\" was renamed to its name; rename this one as well")
        })
    }

    /// The name by which a tool of the server is advertised, as far as that is known.
    pub(crate) fn advertised(&self, name: &ToolName) -> WireName {
        let renamed = self.overlay.tool(name.as_str()).rename;
        let source = Source::Server(self.server.clone());
        WireName::of(&Identity::new(
            &source,
            renamed.unwrap_or_else(|| name.clone()),
        ))
    }

    /// What everything passes that the server is asked by whoever calls.
    pub(crate) fn gates(&self) -> Gates {
        self.gates.clone()
    }

    /// What calls of a tool pass, of which the operator may have said which run beside each other.
    pub(crate) fn gates_of(&self, name: &str) -> Gates {
        let class = self
            .overlay
            .tool(name)
            .concurrency
            .map(|concurrency| Class {
                turns: Arc::clone(&self.turns),
                tool: name.into(),
                whose: whose(name, &self.server).into(),
                concurrency,
            });
        Gates {
            tool: self.throttles.get(name).cloned(),
            class,
            ..self.gates()
        }
    }

    /// Notes what a server declares of a tool and was left out.
    #[expect(clippy::unused_self, reason = "reads like the others")]
    pub(crate) fn note_dropped(&self, name: &str, dropped: &[Dropped], notes: &mut Vec<String>) {
        let name = name.escape_debug();
        for Dropped { field, problem } in dropped {
            let text = format!("tool \"{name}\": declaration {field} {problem} and is left out");
            note(notes, text);
        }
    }

    /// Puts on a tool what the operator wants of it.
    pub(crate) fn dress(&self, name: &str, tool: Tool) -> Dressed {
        let wanted = self.overlay.tool(name);
        let only_reads = tool.declarations().annotations.read_only;
        let mut tool = wanted.on(tool);
        if wanted.withholds_hints() {
            let mut annotations = Annotations::default();
            annotations
                .title
                .clone_from(&tool.declarations().annotations.title);
            tool = tool.annotations(annotations);
        }
        let source = Source::Server(self.server.clone());
        let wire = |name: &ToolName| WireName::of(&Identity::new(&source, name.clone()));
        let advertised = wanted.rename.as_ref().map(wire);
        let believed = match ToolName::new(name) {
            Ok(own) if only_reads && wanted.believes_hints() => {
                let advertised = advertised.clone().unwrap_or_else(|| wire(&own));
                Some((Identity::new(&source, own), definition(advertised, &tool)))
            }
            _ => None,
        };
        Dressed {
            tool,
            advertised,
            believed,
        }
    }

    /// What the overlay says of tools that are not listed. A switch that is meant for another tool
    /// than it names is in force for none.
    pub(crate) fn unlisted(&self, entries: &[Value]) -> Vec<String> {
        let name = |entry| Value::get(entry, "name")?.as_str();
        let listed: HashSet<&str> = entries.iter().filter_map(name).collect();
        let mut notes = Vec::new();
        for (name, _) in self.overlay.named() {
            if listed.contains(name) {
                continue;
            }
            let shown = name.escape_debug();
            let near = match nearest(name, listed.iter().copied()) {
                Some(near) => format!("; did you mean \"{}\"?", near.escape_debug()),
                None => String::new(),
            };
            note(
                &mut notes,
                format!("the overlay names \"{shown}\", which it does not list{near}"),
            );
        }
        notes
    }
}

/// A tool as the subject of a sentence.
fn whose(name: &str, server: &Namespace) -> String {
    format!("tool {name} of server {server}")
}

fn note(notes: &mut Vec<String>, note: String) {
    if notes.len() < MOST_NOTES {
        notes.push(note);
    }
}

fn definition(name: WireName, tool: &Tool) -> Digest {
    let output = tool.advertised_output().cloned();
    let annotations = tool.declarations().annotations.clone();
    Definition::new(
        name,
        tool.description(),
        tool.input().clone(),
        output,
        annotations,
    )
    .digest()
}
