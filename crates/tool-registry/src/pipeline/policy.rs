//! Stage 4: the gate, and one question for each capability that policy governs.

use std::pin::pin;

use tool_core::{
    Action, Capability, Decision, Denial, EventKind, Outcome, Refusal, Request, Ruling, Spoken,
    Stage,
};

use super::parse::Parsed;
use super::{Ended, Run};
use crate::Entry;
use crate::within::within;

/// Questions that policy left open, to be asked in the approval stage.
pub(super) struct Open<'e> {
    pub(super) action: Action<'e>,
    pub(super) ruling: Ruling,
}

/// Asks policy about the call as a whole, then about each declared capability that it governs, in
/// the order of declaration. The first denial settles the call.
pub(super) async fn rule<'e>(
    run: &Run<'_>,
    entry: &'e Entry,
    parsed: &Parsed<'_>,
) -> Result<Vec<Open<'e>>, Ended> {
    run.stage(Stage::Policy);
    let declared = entry.tool().declarations().capabilities.as_deref();
    let questions = std::iter::once(None).chain(declared.unwrap_or_default().iter().map(Some));

    let mut open = Vec::new();
    for capability in questions {
        if capability.is_some_and(|capability| !run.services.permission.governs(capability)) {
            continue;
        }
        let request = request(run, entry, action(capability), parsed.spoken.as_ref().ok());
        let decided = within(
            run.services.gate_timeout,
            pin!(run.services.permission.decide(&request)),
        )
        .await;
        let ruling = decided
            .unwrap_or_else(|| Ruling::new(Decision::Deny, "the policy took too long to decide"));
        run.tell(|| EventKind::Ruled {
            capability,
            ruling: &ruling,
        });
        match ruling.decision {
            Decision::Allow => {}
            Decision::Ask => open.push(Open {
                action: action(capability),
                ruling,
            }),
            Decision::Deny => {
                let denial = Denial::new(denied_action(run, capability), ruling.because)
                    .reason(ruling.reason);
                return Err(Outcome::Refused(Refusal::Denied(denial)).into());
            }
        }
    }
    Ok(open)
}

fn action(capability: Option<&Capability>) -> Action<'_> {
    match capability {
        None => Action::CALL,
        Some(capability) => Action::new(Capability::as_str(capability)),
    }
}

/// The gate's question, as stage 4 puts it to policy and stage 6 to a person.
pub(super) fn request<'r>(
    run: &'r Run<'_>,
    entry: &'r Entry,
    action: Action<'r>,
    arguments: Option<&'r Spoken<'r>>,
) -> Request<'r> {
    let mut request = Request::new(action, &entry.resource, run.facts);
    request.asserts = request.action == Action::CALL && entry.tool().declarations().asserts;
    request.call = run.id();
    request.tool = Some(entry.identity());
    request.source = Some(entry.source());
    request.definition = Some(&entry.digest);
    request.save = &entry.save;
    request.set_spoken(arguments);
    request
}

fn denied_action(run: &Run<'_>, capability: Option<&Capability>) -> String {
    match capability {
        None => run.name().to_owned(),
        Some(capability) => capability.to_string(),
    }
}
