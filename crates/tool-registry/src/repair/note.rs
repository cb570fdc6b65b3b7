//! What a model is told of repairs.

use std::fmt::Write as _;

use tool_core::{Content, Repair, RepairRule};

/// Places that are named for one rule.
const MOST_PLACES: usize = 3;
/// The most characters of a place.
const MOST_OF_PLACE: usize = 80;

/// A block that tells the model what it should spell otherwise, if anything: places and rules, no
/// values. Nothing is said of what a client does, nor of numbers that are the same number.
pub(crate) fn note(repairs: &[Repair]) -> Option<Content> {
    let mut note = String::new();
    for rule in RepairRule::ALL {
        let Some(advice) = advice(rule) else { continue };
        let mut places = repairs
            .iter()
            .filter(|repair| repair.rule == rule)
            .map(|repair| repair.path.as_str());
        let Some(first) = places.next() else { continue };
        note.push_str(if note.is_empty() {
            "[the arguments were repaired: "
        } else {
            "; "
        });
        note.push_str(advice);
        if first.is_empty() {
            continue;
        }
        note.push_str(" at ");
        push_place(&mut note, first);
        for place in places.by_ref().take(MOST_PLACES - 1) {
            note.push_str(", ");
            push_place(&mut note, place);
        }
        let more = places.count();
        if more > 0 {
            let _ = write!(note, " and {more} more");
        }
    }
    if note.is_empty() {
        return None;
    }
    note.push(']');
    Some(Content::notice(note))
}

/// A place, escaped and cut: it holds keys that came from outside.
fn push_place(note: &mut String, place: &str) {
    let shown = place.chars().take(MOST_OF_PLACE);
    note.extend(shown.flat_map(char::escape_debug));
    if place.chars().nth(MOST_OF_PLACE).is_some() {
        note.push('…');
    }
}

fn advice(rule: RepairRule) -> Option<&'static str> {
    match rule {
        RepairRule::CodeFence => Some("send them without a code fence"),
        RepairRule::ClosingTag => Some("send nothing after the JSON object"),
        RepairRule::EncodedArguments => Some("send the object itself, not a string that holds it"),
        RepairRule::EncodedValue => Some("send the value itself, not a string that holds it,"),
        RepairRule::NullOptional => Some("leave the key out instead of sending null"),
        _ => None,
    }
}
