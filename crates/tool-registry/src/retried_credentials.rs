//! Asking again for a credential that could not be had.

use std::num::NonZeroU32;
use std::time::Duration;

use tool_core::{BoxFuture, Credential, CredentialError, CredentialNeed, Credentials, Facts};

/// A provider of credentials that is asked again when it fails: three times in all unless said
/// otherwise, after 200 ms and then twice as long each time, ten seconds at most.
///
/// Where a person must give consent it is not asked again: that is an answer. The last error
/// comes back as it is. A provider that fails must be awaited inside a tokio runtime with time
/// enabled.
///
/// ```
/// use std::num::NonZeroU32;
///
/// use tool_core::NoCredentials;
/// use tool_registry::{Registry, RetriedCredentials};
///
/// let provider = RetriedCredentials::new(NoCredentials).attempts(NonZeroU32::MIN);
/// let registry = Registry::builder().credentials(provider).build();
/// # let _ = registry;
/// ```
#[derive(Clone, Debug)]
pub struct RetriedCredentials<C> {
    provider: C,
    attempts: NonZeroU32,
    first_wait: Duration,
}

const ATTEMPTS: NonZeroU32 = NonZeroU32::new(3).unwrap();
const FIRST_WAIT: Duration = Duration::from_millis(200);
const LONGEST_WAIT: Duration = Duration::from_secs(10);

impl<C> RetriedCredentials<C> {
    /// Asks this provider.
    pub fn new(provider: C) -> Self {
        Self {
            provider,
            attempts: ATTEMPTS,
            first_wait: FIRST_WAIT,
        }
    }

    /// Sets how often the provider is asked, the first time included. Defaults to 3.
    #[must_use]
    pub fn attempts(mut self, attempts: NonZeroU32) -> Self {
        self.attempts = attempts;
        self
    }

    /// Sets how long it waits before it asks the second time; at most ten seconds. Defaults to
    /// 200 ms.
    #[must_use]
    pub fn first_wait(mut self, wait: Duration) -> Self {
        self.first_wait = wait;
        self
    }
}

impl<C: Credentials> Credentials for RetriedCredentials<C> {
    fn acquire<'a>(
        &'a self,
        facts: &'a Facts,
        need: &'a CredentialNeed,
    ) -> BoxFuture<'a, Result<Credential, CredentialError>> {
        Box::pin(async move {
            let mut wait = self.first_wait.min(LONGEST_WAIT);
            let mut left = self.attempts.get();
            loop {
                let acquired = self.provider.acquire(facts, need).await;
                left -= 1;
                match acquired {
                    Err(error) if left > 0 && error.consent().is_none() => {}
                    settled => return settled,
                }
                tokio::time::sleep(wait).await;
                wait = (wait * 2).min(LONGEST_WAIT);
            }
        })
    }
}
