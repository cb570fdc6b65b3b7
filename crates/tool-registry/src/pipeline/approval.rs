//! Stage 6: whoever has to be asked.

use serde_json::Value;
use tool_core::{Action, Outcome, Refusal, Stage};

use super::Run;
use super::policy::{self, Open};
use crate::Entry;

/// Puts every question that policy left open. One answer never stands for another.
pub(super) async fn ask(
    run: &Run<'_>,
    entry: &Entry,
    input: &Value,
    open: Vec<Open<'_>>,
) -> Result<(), Outcome> {
    run.stage(Stage::Approval);
    for Open { action, ruling } in open {
        let request = policy::request(run, entry, action, Some(input));
        let answer = run.services.permission.enforce(&request, &ruling).await;
        answer.map_err(|refusal| {
            Outcome::Refused(match refusal {
                // As the gate's own denial does, so that who reads it knows what was denied.
                Refusal::Denied(mut denial) if request.action == Action::CALL => {
                    denial.action.clone_from(&run.name);
                    Refusal::Denied(denial)
                }
                other => other,
            })
        })?;
    }
    Ok(())
}
