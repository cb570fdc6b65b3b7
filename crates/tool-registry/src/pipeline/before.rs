//! Stage 1: hooks ahead of lookup.

use serde_json::Value;
use tool_core::{Arguments, Denial, HookError, Incoming, Outcome, Refusal, Stage};

use super::passage::Passage;
use super::{Ended, Run};
use crate::within::within;

/// Runs the hooks in order, for unknown names too. One that rejects, fails or breaks refuses the
/// call.
pub(super) fn run<'a>(
    run: &'a mut Run<'_>,
    arguments: &'a mut Arguments,
) -> Passage<'a, Result<(), Ended>> {
    run.stage(Stage::Before);
    if run.services.before.is_empty() {
        return Passage::At(Ok(()));
    }
    Passage::after(move || look(run, arguments))
}

async fn look(run: &mut Run<'_>, arguments: &mut Arguments) -> Result<(), Ended> {
    let delivered = std::mem::replace(arguments, Arguments::from(Value::Null));
    let mut incoming = Incoming::new(run.id().cloned(), run.name(), delivered);
    for hook in &run.services.before {
        let mut looking = hook.before(&mut incoming, run.facts);
        let looked = within(run.services.gate_timeout, looking.as_mut()).await;
        drop(looking);
        let looked = looked.unwrap_or_else(|| Err(HookError::broken("hook took too long")));
        if let Err(error) = looked {
            let reason = error.model().map(str::to_owned);
            let denial = Denial::new(incoming.name, error.to_string()).reason(reason);
            return Err(Outcome::Refused(Refusal::Denied(denial)).into());
        }
    }
    run.settlement.tool = incoming.name.into();
    *arguments = incoming.arguments;
    Ok(())
}
