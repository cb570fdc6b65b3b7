//! A call that ends as a suspension.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use tool_core::{
    Arguments, Component, Digest, EventKind, Gate, Outcome, Refusal, Spoken, Suspension, ToolKind,
};

use super::Run;
use crate::nesting::is_shallow;
use crate::{Entry, seal};

/// Keeps name and arguments as they were delivered, for a suspension. Arguments that no stage would
/// take are not worth a copy.
pub(super) fn keep_delivered(run: &mut Run<'_>, arguments: &Arguments) {
    if !matches!(arguments, Arguments::Value(value) if !is_shallow(value)) {
        run.delivered = Some(Box::new((run.name().to_owned(), arguments.clone())));
    }
}

/// Keeps them for a tool that is settled from outside.
pub(super) fn keep_for_outside(run: &mut Run<'_>, entry: &Entry, arguments: &Arguments) {
    if run.delivered.is_none() && matches!(entry.tool().kind(), ToolKind::External) {
        run.delivered = Some(Box::new((run.name().to_owned(), arguments.clone())));
    }
}

/// Why a call waits.
pub(super) struct Wait {
    pub(super) gate: Gate,
    pub(super) because: String,
    pub(super) component: Option<Component>,
}

/// Suspends the call at a gate, or refuses it where the door cannot suspend.
pub(super) fn suspend(run: &Run<'_>, entry: &Entry, input: &Spoken<'_>, wait: Wait) -> Outcome {
    let declaration = match &wait.gate {
        Gate::Policy { .. } => "a question of policy",
        Gate::Approval => "needs_approval",
        Gate::CheckIn => "check_in",
        Gate::Consent { .. } => "needs",
        Gate::External => "an outside result",
        _ => "a gate",
    };
    let sealed = run
        .door
        .suspends()
        .then(|| sealed(run, entry, input, wait))
        .flatten();
    match sealed {
        Some(suspension) => {
            run.tell(|| EventKind::Asked(&suspension.gate));
            Outcome::Suspended(Box::new(suspension))
        }
        None => Outcome::Refused(Refusal::Door { declaration }),
    }
}

fn sealed(run: &Run<'_>, entry: &Entry, input: &Spoken<'_>, wait: Wait) -> Option<Suspension> {
    let services = run.services;
    let key = services.seal_key.as_ref()?;
    let (name, delivered) = run.delivered.as_deref()?;
    let delivered = match delivered {
        Arguments::Text(text) => Value::String(text.clone()),
        Arguments::Value(value) => json!([value]),
        _ => return None,
    };
    let mut suspension = Suspension::new(seal::fresh_id()?, wait.gate, name.clone());
    suspension.passed = run.gating.passed().to_vec();
    suspension.because = wait.because;
    suspension.component = wait.component;
    suspension.call = run.id().cloned();
    suspension.tool = entry.wire_name().to_string();
    suspension.identity = entry.identity().to_string();
    suspension.definition = binding(entry);
    suspension.arguments = input.value().clone();
    suspension.delivered = delivered;
    suspension.facts = run.facts.clone();
    suspension.expires_at_ms = expiry((services.clock)(), services.suspension_ttl)?;
    key.seal(&mut suspension);
    Some(suspension)
}

/// What a decision on a tool is bound to. Two tools may have one definition, and one name in two
/// requests, so that neither tells them apart.
pub(super) fn binding(entry: &Entry) -> String {
    let source = entry.source().to_string();
    let name = entry.identity().name().as_str();
    Digest::of_parts(&[&source, name, &entry.digest().hex()]).to_string()
}

/// The end of the year 9999, which every clock can say: what lasts longer lasts for ever.
const LATEST_MS: u64 = 253_402_300_799_999;

/// When a suspension of now expires. `None` for a clock that stands before 1970.
fn expiry(now: SystemTime, ttl: Duration) -> Option<u64> {
    let now = now.duration_since(UNIX_EPOCH).ok()?;
    let expires = now.saturating_add(ttl).as_millis();
    Some(u64::try_from(expires).unwrap_or(u64::MAX).min(LATEST_MS))
}
