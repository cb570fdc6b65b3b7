//! Stage 8: the credential, last before the tool runs.

use tool_core::{
    Credential, CredentialNeed, Credentials as _, Gate, Outcome, Refusal, Spoken, Stage,
};

use super::passage::Passage;
use super::suspend::{self, Wait};
use super::{Ended, Run};
use crate::{Approvals, Entry};

/// Acquires what the tool needs. No secret is acquired for a call that does not run.
///
/// Consent of a person suspends the call where it can; a call that was resumed after consent and
/// still lacks it is refused, not suspended again. The address to consent at goes to the host
/// beside the suspension and to nobody else.
pub(super) fn acquire<'a>(
    run: &'a Run<'_>,
    entry: &'a Entry,
    input: &'a Spoken<'_>,
) -> Passage<'a, Result<Option<Box<Credential>>, Ended>> {
    run.stage(Stage::Credentials);
    match &entry.tool().declarations().needs {
        None => Passage::At(Ok(None)),
        Some(need) => Passage::after(move || acquire_needed(run, entry, input, need)),
    }
}

async fn acquire_needed(
    run: &Run<'_>,
    entry: &Entry,
    input: &Spoken<'_>,
    need: &CredentialNeed,
) -> Result<Option<Box<Credential>>, Ended> {
    match run.host.acquire(run.facts, need).await {
        Ok(credential) => Ok(Some(Box::new(credential))),
        Err(error) if error.consent().is_some() && may_wait(run, &need.service) => {
            let gate = Gate::Consent {
                service: need.service.clone(),
            };
            let because = format!("{} asks a person for consent", need.service);
            let mut outcome = suspend::suspend(
                run,
                entry,
                input,
                Wait {
                    gate,
                    because,
                    component: None,
                },
            );
            if let Outcome::Suspended(suspension) = &mut outcome {
                suspension.consent = error.consent().cloned();
            }
            Err(outcome.into())
        }
        Err(error) => Err(Outcome::Refused(Refusal::Credential {
            service: need.service.clone(),
            operator: error.to_string(),
        })
        .into()),
    }
}

fn may_wait(run: &Run<'_>, service: &str) -> bool {
    let gate = Gate::Consent {
        service: service.to_owned(),
    };
    run.gating.consent == Approvals::Suspend && !run.gating.passed().contains(&gate)
}
