//! A line in the making.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ecow::{EcoString, eco_format};
use tool_core::{Content, Digest, Event, EventKind, Identity, Settlement};

use super::line::{Answer, Kept, Line, Ruled};

/// What is known of a call so far.
#[derive(Debug)]
pub(super) struct Draft {
    began: SystemTime,
    tool: EcoString,
    identity: Option<Identity>,
    definition: Option<Digest>,
    arguments: Option<Digest>,
    rulings: Vec<Ruled>,
    answers: Vec<Answer>,
}

/// The most bytes of a text that others chose, such as the name of a tool that does not exist.
const MOST_BYTES: usize = 1024;
/// The most rulings, and answers, of one call: what a handler asks for has no end of its own.
const MOST_ITEMS: usize = 64;

impl Draft {
    pub(super) fn begin(began: SystemTime) -> Self {
        Self {
            began,
            tool: EcoString::default(),
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
        let ruled = |action: &str, ruling: &tool_core::Ruling| Ruled {
            action: text(action),
            decision: ruling.decision.as_str(),
            // What is said beside may hold what was asked about.
            rule: ruling.rule().map(text),
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
            EventKind::Answered { gate, approved, by } if self.answers.len() < MOST_ITEMS => {
                self.answers.push(Answer {
                    approved: *approved,
                    by: by.map(text),
                    gate: text(&gate.to_string()),
                });
            }
            _ => {}
        }
    }

    /// The line, without its number.
    pub(super) fn finish(self, event: &Event<'_>, now: SystemTime) -> Line {
        let settlement = match &event.kind {
            EventKind::Settled(settlement) => Some(*settlement),
            _ => None,
        };
        let since = self.began.duration_since(UNIX_EPOCH);
        let lasted = now.duration_since(self.began).unwrap_or(Duration::ZERO);
        let facts = event.facts;
        let id = |id: Option<&str>| id.map(text);
        let caller = facts.identification();
        let identity = settlement.and_then(|settlement| settlement.identity.as_ref());
        // A call that was dropped, or ended on its way, has been found all the same.
        let identity = identity.or(self.identity.as_ref());
        let line = Line {
            time_ms: u64::try_from(since.unwrap_or(Duration::ZERO).as_millis()).unwrap_or(u64::MAX),
            duration_ms: lasted.as_secs_f64() * 1_000.0,
            session: id(facts.session_id().map(|id| id.as_str())),
            agent: id(facts.agent_id().map(|id| id.as_str())),
            message: id(facts.message_id().map(|id| id.as_str())),
            run: id(facts.run_id().map(|id| id.as_str())),
            principal: id(caller.and_then(|caller| caller.principal.as_deref())),
            tenant: id(caller.and_then(|caller| caller.tenant.as_deref())),
            call: id(event.call.map(|id| id.as_str())),
            tool: self.tool,
            server: id(identity.and_then(|identity| Some(identity.namespace()?.as_str()))),
            name: id(identity.map(|identity| identity.name().as_str())),
            definition: self.definition,
            arguments: self.arguments,
            rulings: self.rulings,
            answers: self.answers,
            outcome: "dropped",
            ..Line::default()
        };
        match settlement {
            Some(settlement) => of_settlement(settlement, line),
            None => line,
        }
    }
}

fn of_settlement(settlement: &Settlement, line: Line) -> Line {
    let shown = |block: &Content| match block {
        Content::Text(text) => text.text.len(),
        Content::Media(media) => media.data.len(),
        _ => 0,
    };
    let repairs = settlement.repairs.len();
    let retained = settlement.retained.iter().map(|one| Kept {
        bytes: one.bytes,
        id: text(&one.id),
    });
    Line {
        outcome: settlement.outcome.as_str(),
        kind: settlement.outcome.kind(),
        repairs: (repairs > 0).then_some(repairs),
        shown_bytes: Some(settlement.content.iter().map(shown).sum()),
        retained: retained.collect(),
        ..line
    }
}

/// As much of a text as has room.
fn text(text: &str) -> EcoString {
    match text.get(..text.floor_char_boundary(MOST_BYTES)) {
        Some(start) if start.len() < text.len() => eco_format!("{start}..."),
        _ => text.into(),
    }
}
