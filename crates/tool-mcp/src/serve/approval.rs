//! Decisions on calls, asked of the person who uses the client.

use serde_json::{Value, json};
use tool_core::{Gate, Suspension, Verdict};

use super::Ask;

/// The key of the question.
pub(crate) const KEY: &str = "approval";
/// The most characters of the arguments that a person is shown.
const SHOWN: usize = 1_000;

/// What a person is asked. `None` where no person can decide.
///
/// Why policy asks is for operators, and is not shown.
pub(crate) fn question(suspension: &Suspension) -> Option<Ask> {
    let name = &suspension.tool;
    let why = match &suspension.gate {
        Gate::Consent { service } => {
            let consent = suspension.consent.as_ref()?;
            let url = Some(consent.expose()).filter(|url| may_be_opened(url))?;
            let message = format!("{name} needs your consent to {service}");
            return Some(Ask::page(message, url, &suspension.id));
        }
        Gate::Policy { action } if action != "call" => {
            format!("The call needs permission for {action}.")
        }
        Gate::Policy { .. } => "No rule allows it by itself.".to_owned(),
        Gate::Approval => "The tool needs approval.".to_owned(),
        Gate::CheckIn => "The tool checks in before it acts.".to_owned(),
        _ => return None,
    };
    let arguments = shown(&suspension.arguments);
    let schema = json!({
        "type": "object",
        "properties": {
            "approve": {"type": "boolean", "title": "Allow this call", "default": false},
        },
        "required": ["approve"],
    });
    Some(Ask::form(
        format!("Allow the call of {name}? {why}\nArguments: {arguments}"),
        schema,
    ))
}

/// What a person said to the question of a gate. `None` for what is no answer.
pub(crate) fn verdict(gate: &Gate, answer: &Value) -> Option<Verdict> {
    let declined = || Some(Verdict::Decline { note: None });
    match answer.get("action").and_then(Value::as_str)? {
        // A page has no form; whether consent was given is seen when it is used.
        "accept" if matches!(gate, Gate::Consent { .. }) => Some(Verdict::Approve),
        "accept" => match answer.pointer("/content/approve")? {
            Value::Bool(true) => Some(Verdict::Approve),
            Value::Bool(false) => declined(),
            _ => None,
        },
        "decline" | "cancel" => declined(),
        _ => None,
    }
}

/// Whether a person can be sent there.
fn may_be_opened(url: &str) -> bool {
    url.starts_with("https://")
        || ["http://localhost", "http://127.0.0.1", "http://[::1]"]
            .iter()
            .filter_map(|host| url.strip_prefix(host))
            .any(|rest| rest.is_empty() || rest.starts_with([':', '/']))
}

/// Arguments as one line without characters that could hide others.
fn shown(arguments: &Value) -> String {
    let text = tool_core::canonical_json(arguments);
    let mut shown = String::new();
    for (at, character) in text.chars().enumerate() {
        if at == SHOWN {
            shown.push_str(" … (cut)");
            break;
        }
        if character.is_ascii_graphic() || character == ' ' || character.is_alphanumeric() {
            shown.push(character);
        } else {
            shown.extend(character.escape_unicode());
        }
    }
    shown
}
