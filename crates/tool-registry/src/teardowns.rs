//! Cleanups that wait for the end of a run, of a session or of everything.

use std::collections::HashMap;
use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::FutureExt as _;
use tool_core::{
    Cleanup, Digest, Facts, Registered, RunId, SessionId, Teardown, TeardownError, TeardownScope,
};

/// How long one cleanup may take.
const BUDGET: Duration = Duration::from_secs(5);

/// All cleanups of one registry.
#[derive(Default)]
pub(crate) struct Teardowns {
    scopes: Mutex<HashMap<Scope, Vec<Pending>>>,
}

/// One scope, told apart from every other.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Scope {
    Call(u64),
    Run(RunId),
    Session(SessionId),
    Shutdown,
}

struct Pending {
    tool: String,
    key: String,
    times: usize,
    cleanup: Cleanup,
}

/// What became of one cleanup. The key is named by its digest only.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TeardownReport {
    /// The tool that registered it.
    pub tool: String,
    /// The first 12 hexadecimal digits of the digest of its key.
    pub key_digest: String,
    /// How it ended.
    pub end: TeardownEnd,
}

/// How a cleanup ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TeardownEnd {
    /// It ran to its end.
    Done,
    /// It took longer than five seconds and was dropped.
    Abandoned,
    /// It panicked.
    Panicked,
}

impl Teardowns {
    fn register(&self, scope: Scope, tool: &str, key: &str, cleanup: Cleanup) -> Registered {
        let mut scopes = self.scopes();
        let pending = scopes.entry(scope).or_default();
        let same = pending
            .iter_mut()
            .find(|other| other.tool == tool && other.key == key);
        if let Some(first) = same {
            first.times += 1;
            return Registered::Reused { times: first.times };
        }
        pending.push(Pending {
            tool: tool.to_owned(),
            key: key.to_owned(),
            times: 1,
            cleanup,
        });
        Registered::New
    }

    /// Runs the cleanups of a scope, the one registered last first. Each has five seconds.
    pub(crate) async fn run(&self, scope: &Scope) -> Vec<TeardownReport> {
        let pending = self.scopes().remove(scope).unwrap_or_default();
        let mut reports = Vec::with_capacity(pending.len());
        for Pending {
            tool, key, cleanup, ..
        } in pending.into_iter().rev()
        {
            let running = AssertUnwindSafe(async move { cleanup().await }).catch_unwind();
            let end = match tokio::time::timeout(BUDGET, running).await {
                Ok(Ok(())) => TeardownEnd::Done,
                Ok(Err(_)) => TeardownEnd::Panicked,
                Err(_) => TeardownEnd::Abandoned,
            };
            let key_digest = Digest::of(key.as_bytes()).hex().chars().take(12).collect();
            reports.push(TeardownReport {
                tool,
                key_digest,
                end,
            });
        }
        reports
    }

    /// Whether a scope has cleanups, so that one without costs nothing.
    pub(crate) fn is_empty(&self, scope: &Scope) -> bool {
        !self.scopes().contains_key(scope)
    }

    /// Runs every cleanup that is left, whatever it waits for.
    pub(crate) async fn run_all(&self) -> Vec<TeardownReport> {
        let mut reports = Vec::new();
        loop {
            // The end of everything comes last.
            let next = {
                let scopes = self.scopes();
                let mut left: Vec<_> = scopes.keys().cloned().collect();
                left.sort_by_key(|scope| matches!(scope, Scope::Shutdown));
                left.into_iter().next()
            };
            match next {
                Some(scope) => reports.extend(self.run(&scope).await),
                None => return reports,
            }
        }
    }

    fn scopes(&self) -> MutexGuard<'_, HashMap<Scope, Vec<Pending>>> {
        self.scopes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The teardown of one call.
pub(crate) struct CallTeardown {
    pub(crate) teardowns: Arc<Teardowns>,
    pub(crate) honoured: &'static [TeardownScope],
    pub(crate) call: u64,
    pub(crate) tool: String,
    pub(crate) facts: Facts,
}

impl Teardown for CallTeardown {
    fn scopes(&self) -> &[TeardownScope] {
        self.honoured
    }

    fn register(
        &self,
        scope: TeardownScope,
        key: &str,
        cleanup: Cleanup,
    ) -> Result<Registered, TeardownError> {
        if !self.honoured.contains(&scope) {
            return Err(TeardownError::NotHonoured {
                scope,
                honoured: self.honoured.to_vec(),
            });
        }
        let within = match scope {
            TeardownScope::Call => Some(Scope::Call(self.call)),
            TeardownScope::Run => self.facts.run_id().cloned().map(Scope::Run),
            TeardownScope::Session => self.facts.session_id().cloned().map(Scope::Session),
            TeardownScope::Shutdown => Some(Scope::Shutdown),
        };
        let within = within.ok_or(TeardownError::NoKey { scope })?;
        Ok(self.teardowns.register(within, &self.tool, key, cleanup))
    }
}

impl fmt::Debug for Teardowns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Teardowns(..)")
    }
}
