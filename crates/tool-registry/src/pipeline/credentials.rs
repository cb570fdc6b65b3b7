//! Stage 8: the credential, last before the tool runs.

use tool_core::{Credential, Outcome, Refusal, Stage};

use super::Run;
use crate::Entry;

/// Acquires what the tool needs. No secret is acquired for a call that does not run.
pub(super) async fn acquire(run: &Run<'_>, entry: &Entry) -> Result<Option<Credential>, Outcome> {
    run.stage(Stage::Credentials);
    let Some(need) = &entry.tool().declarations().needs else {
        return Ok(None);
    };
    match run.services.credentials.acquire(run.facts, need).await {
        Ok(credential) => Ok(Some(credential)),
        Err(error) => Err(Outcome::Refused(Refusal::Credential {
            service: need.service.clone(),
            operator: error.to_string(),
        })),
    }
}
