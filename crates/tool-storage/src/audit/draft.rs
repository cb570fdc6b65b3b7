//! A line in the making.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value, json};
use tool_core::{Content, Digest, Event, EventKind, Identity, Settlement};

/// What is known of a call so far.
#[derive(Debug)]
pub(super) struct Draft {
    began: SystemTime,
    tool: String,
    identity: Option<Identity>,
    definition: Option<Digest>,
    arguments: Option<Digest>,
    rulings: Vec<Value>,
    answers: Vec<Value>,
}

/// The most bytes of a text that others chose, such as the name of a tool that does not exist.
const MOST_BYTES: usize = 1024;
/// The most rulings, and answers, of one call: what a handler asks for has no end of its own.
const MOST_ITEMS: usize = 64;

impl Draft {
    pub(super) fn begin(began: SystemTime) -> Self {
        Self {
            began,
            tool: String::new(),
            identity: None,
            definition: None,
            arguments: None,
            rulings: Vec::new(),
            answers: Vec::new(),
        }
    }

    /// Takes in what is told.
    pub(super) fn take(&mut self, event: &Event<'_>) {
        if !event.tool.is_empty() && event.tool != self.tool {
            self.tool = text(event.tool);
        }
        let ruled = |action: &str, ruling: &tool_core::Ruling| {
            let mut ruled = Map::new();
            ruled.insert("action".to_owned(), json!(text(action)));
            ruled.insert("decision".to_owned(), json!(ruling.decision.as_str()));
            // What is said beside may hold what was asked about.
            if let Some(rule) = ruling.rule() {
                ruled.insert("rule".to_owned(), json!(text(rule)));
            }
            Value::Object(ruled)
        };
        match &event.kind {
            EventKind::Received {
                identity,
                definition,
                arguments,
            } => {
                self.identity = Some((*identity).clone());
                self.definition = Some(*definition);
                self.arguments = arguments.map(Digest::of_json);
            }
            EventKind::Ruled { capability, ruling } if self.rulings.len() < MOST_ITEMS => {
                let action = capability.map_or("call", |capability| capability.as_str());
                self.rulings.push(ruled(action, ruling));
            }
            EventKind::Asserted { action, ruling } if self.rulings.len() < MOST_ITEMS => {
                self.rulings.push(ruled(action, ruling));
            }
            EventKind::Answered { gate, approved } if self.answers.len() < MOST_ITEMS => {
                let answer = json!({"gate": text(&gate.to_string()), "approved": approved});
                self.answers.push(answer);
            }
            _ => {}
        }
    }

    /// The line, without its number.
    pub(super) fn finish(self, event: &Event<'_>, now: SystemTime) -> Map<String, Value> {
        let mut line = Map::new();
        let mut put = |key: &str, value: Value| {
            // What is absent stays absent.
            if !value.is_null() {
                line.insert(key.to_owned(), value);
            }
        };
        let settlement = match &event.kind {
            EventKind::Settled(settlement) => Some(*settlement),
            _ => None,
        };
        let since = self
            .began
            .duration_since(UNIX_EPOCH)
            .unwrap_or(Duration::ZERO);
        put(
            "time_ms",
            json!(u64::try_from(since.as_millis()).unwrap_or(u64::MAX)),
        );
        let lasted = now.duration_since(self.began).unwrap_or(Duration::ZERO);
        put("duration_ms", json!(lasted.as_secs_f64() * 1_000.0));

        let facts = event.facts;
        let id = |id: Option<&str>| json!(id.map(text));
        put("session", id(facts.session_id().map(|id| id.as_str())));
        put("agent", id(facts.agent_id().map(|id| id.as_str())));
        put("message", id(facts.message_id().map(|id| id.as_str())));
        put("run", id(facts.run_id().map(|id| id.as_str())));
        let caller = facts.identification();
        put(
            "principal",
            id(caller.and_then(|caller| caller.principal.as_deref())),
        );
        put(
            "tenant",
            id(caller.and_then(|caller| caller.tenant.as_deref())),
        );
        put("call", id(event.call.map(|id| id.as_str())));

        // A call that was dropped, or ended on its way, has been found all the same.
        let identity = settlement.and_then(|settlement| settlement.identity.as_ref());
        let identity = identity.or(self.identity.as_ref());
        put("tool", json!(self.tool));
        put(
            "server",
            id(identity.and_then(|identity| Some(identity.namespace()?.as_str()))),
        );
        put(
            "name",
            id(identity.map(|identity| identity.name().as_str())),
        );
        put(
            "definition",
            json!(self.definition.map(|digest| digest.to_string())),
        );
        put(
            "arguments",
            json!(self.arguments.map(|digest| digest.to_string())),
        );
        put("rulings", json!(self.rulings));
        if !self.answers.is_empty() {
            put("answers", json!(self.answers));
        }
        match settlement {
            Some(settlement) => of_settlement(settlement, &mut put),
            None => put("outcome", json!("dropped")),
        }
        line
    }
}

fn of_settlement(settlement: &Settlement, put: &mut impl FnMut(&str, Value)) {
    put("outcome", json!(settlement.outcome.as_str()));
    put("kind", json!(settlement.outcome.kind()));
    if !settlement.repairs.is_empty() {
        put("repairs", json!(settlement.repairs.len()));
    }
    let shown = |block: &Content| match block {
        Content::Text(text) => text.text.len(),
        Content::Media(media) => media.data.len(),
        _ => 0,
    };
    let shown: usize = settlement.content.iter().map(shown).sum();
    put("shown_bytes", json!(shown));
    if !settlement.retained.is_empty() {
        let retained = settlement.retained.iter();
        let retained = retained.map(|one| json!({"id": text(&one.id), "bytes": one.bytes}));
        put("retained", retained.collect());
    }
}

/// As much of a text as has room.
fn text(text: &str) -> String {
    match text.get(..text.floor_char_boundary(MOST_BYTES)) {
        Some(start) if start.len() < text.len() => format!("{start}..."),
        _ => text.to_owned(),
    }
}
