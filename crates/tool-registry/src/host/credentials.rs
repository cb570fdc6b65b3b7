//! Credentials for the handler of one call.

use tool_core::{
    BoxFuture, Credential, CredentialError, CredentialNeed, CredentialStep, Credentials, EventKind,
    Facts,
};

use super::Host;

impl Credentials for Host {
    fn acquire<'a>(
        &'a self,
        facts: &'a Facts,
        need: &'a CredentialNeed,
    ) -> BoxFuture<'a, Result<Credential, CredentialError>> {
        Box::pin(async move {
            let step = |step| {
                self.tell_met(EventKind::Credential {
                    service: &need.service,
                    step,
                });
            };
            step(CredentialStep::Requested);
            let acquired = self
                .snapshot
                .services()
                .credentials
                .acquire(facts, need)
                .await;
            step(step_of(&acquired));
            acquired
        })
    }
}

/// What is told of an answer of the provider.
fn step_of(acquired: &Result<Credential, CredentialError>) -> CredentialStep {
    match acquired {
        Ok(_) => CredentialStep::Acquired,
        Err(error) if error.consent().is_some() => CredentialStep::ConsentRequired,
        Err(_) => CredentialStep::Failed,
    }
}
