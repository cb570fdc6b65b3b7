//! Telling a model that it makes the same call again.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::{Mutex, PoisonError};

use tool_core::{
    AfterHook, BoxFuture, Content, Digest, HookError, RepeatedWhen, SettledCall, Settlement,
    canonical_json,
};

/// Runs that are remembered at the same time.
const MOST_RUNS: usize = 8;

/// An observer that a host may attach: when a call of a run lands the second time, the model is
/// told so once. Nothing is suppressed.
///
/// Calls are the same by their tool, canonical arguments and result, or by tool and arguments
/// where the tool says [`RepeatedWhen::Arguments`]. Only digests are kept, for the eight runs that
/// called last; calls of no run are not watched.
#[derive(Default)]
pub struct RepeatedCalls {
    ledger: Mutex<Ledger>,
}

#[derive(Default)]
struct Ledger {
    runs: HashMap<String, HashMap<Digest, usize>>,
    recent: VecDeque<String>,
}

impl RepeatedCalls {
    /// An observer that has seen nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn landed(&self, run: &str, key: Digest) -> usize {
        let mut ledger = self.ledger.lock().unwrap_or_else(PoisonError::into_inner);
        ledger.recent.retain(|other| other != run);
        ledger.recent.push_back(run.to_owned());
        if ledger.recent.len() > MOST_RUNS
            && let Some(oldest) = ledger.recent.pop_front()
        {
            ledger.runs.remove(&oldest);
        }
        let times = ledger
            .runs
            .entry(run.to_owned())
            .or_default()
            .entry(key)
            .or_default();
        *times += 1;
        *times
    }
}

impl AfterHook for RepeatedCalls {
    fn after<'a>(
        &'a self,
        settlement: &'a mut Settlement,
        call: &'a SettledCall<'a>,
    ) -> BoxFuture<'a, Result<(), HookError>> {
        Box::pin(async move {
            let (Some(run), Some(arguments)) = (call.facts.run_id(), call.arguments) else {
                return Ok(());
            };
            let result = match call.declarations.repeated_when {
                RepeatedWhen::Arguments => String::new(),
                _ => result_of(settlement),
            };
            let identity = call.identity.to_string();
            let key = Digest::of_parts(&[&identity, &canonical_json(arguments), &result]);
            if self.landed(run.as_str(), key) == 2 {
                settlement
                    .content
                    .push(Content::text(note(call.declarations.repeated_when)));
            }
            Ok(())
        })
    }
}

fn result_of(settlement: &Settlement) -> String {
    // A shortened text names where the rest is kept, which is another place every time.
    let shown = match &settlement.output {
        Some(output) => canonical_json(output),
        None => settlement.text(),
    };
    format!("{}\n{shown}", settlement.outcome.as_str())
}

fn note(repeated: RepeatedWhen) -> &'static str {
    match repeated {
        RepeatedWhen::Arguments => {
            "[The tool runtime: this call was made before with the same arguments. Act on what is \
             known, change the arguments, or say that you are waiting.]"
        }
        _ => {
            "[The tool runtime: this call was made before with the same arguments and the same \
             result, and calling again will not change it. Act on the result, change the \
             arguments, or say that you are waiting.]"
        }
    }
}

impl fmt::Debug for RepeatedCalls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RepeatedCalls(..)")
    }
}
