//! Stage 6: whoever has to be asked.

use serde_json::Value;
use tool_core::{Outcome, Stage};

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
        run.services
            .permission
            .enforce(&request, &ruling)
            .await
            .map_err(Outcome::Refused)?;
    }
    Ok(())
}
