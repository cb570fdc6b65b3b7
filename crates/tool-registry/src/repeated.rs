//! Telling a model that it makes the same call again.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::{Mutex, PoisonError};

use tool_core::{
    AfterHook, BoxFuture, Content, Digest, HookError, Identity, RepeatedWhen, SettledCall,
    Settlement, Speaker, canonical_json,
};

use crate::contained::contained;
use crate::runs::Runs;

type Report = Box<dyn Fn(&Repeated) + Send + Sync>;

/// Calls that are remembered of one run; the oldest are forgotten first.
const MOST_CALLS: usize = 10_000;

/// An observer that a host may attach: when a call of a run lands the second time, the model is
/// told so once. Nothing is suppressed.
///
/// Calls are the same by their tool, canonical arguments and result, or by tool and arguments
/// where the tool says [`RepeatedWhen::Arguments`]. A call that was refused is none. Only digests
/// are kept: of the eight runs that called last, and of the last 10,000 calls of each. Calls of no
/// run are not watched.
///
/// ```
/// use tool_registry::{Registry, RepeatedCalls};
///
/// let registry = Registry::builder().after(RepeatedCalls::new()).build();
/// # let _ = registry;
/// ```
#[derive(Default)]
pub struct RepeatedCalls {
    runs: Mutex<Runs<Ledger>>,
    report: Option<Report>,
}

/// A call that landed the second time: digests only, no value.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Repeated {
    /// The tool that was called.
    pub tool: Identity,
    /// The digest of the canonical arguments.
    pub arguments: Digest,
    /// The digest of the result; `None` where the tool counts by arguments alone.
    pub result: Option<Digest>,
    /// By what the tool counts.
    pub by: RepeatedWhen,
}

/// The calls of one run, by their digests.
#[derive(Default)]
struct Ledger {
    times: HashMap<Digest, usize>,
    order: VecDeque<Digest>,
}

impl Ledger {
    /// Counts a call in, and says how often it has landed.
    fn land(&mut self, call: Digest) -> usize {
        let times = self.times.entry(call).or_default();
        *times += 1;
        let times = *times;
        if times == 1 {
            self.order.push_back(call);
        }
        if self.order.len() > MOST_CALLS
            && let Some(oldest) = self.order.pop_front()
        {
            self.times.remove(&oldest);
        }
        times
    }
}

impl RepeatedCalls {
    /// An observer that has seen nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Tells the host as well. Nobody is told by default.
    #[must_use]
    pub fn report(mut self, report: impl Fn(&Repeated) + Send + Sync + 'static) -> Self {
        self.report = Some(Box::new(report));
        self
    }

    fn is_second(&self, run: &str, call: Digest) -> bool {
        let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        runs.of(run).land(call) == 2
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
            let by = call.declarations.repeated_when;
            let arguments = Digest::of(canonical_json(arguments).as_bytes());
            let result = match by {
                RepeatedWhen::Arguments => None,
                _ => Some(result_of(settlement, call)),
            };
            let identity = call.identity.to_string();
            let result_hex = result.map(|result| result.hex()).unwrap_or_default();
            let landed = Digest::of_parts(&[&identity, &arguments.hex(), &result_hex]);
            if self.is_second(run.as_str(), landed) {
                settlement.content.push(Content::notice(note(by)));
                if let Some(report) = &self.report {
                    let repeated = Repeated {
                        tool: call.identity.clone(),
                        arguments,
                        result,
                        by,
                    };
                    contained(|| report(&repeated));
                }
            }
            Ok(())
        })
    }
}

/// The digest of what a call came to: its output, else what it says itself.
///
/// What the runtime says beside it counts for nothing: it names where a shortened text is kept, which is
/// another place every time.
fn result_of(settlement: &Settlement, call: &SettledCall<'_>) -> Digest {
    let mut parts = vec![settlement.outcome.as_str().to_owned()];
    match settlement.output() {
        Some(output) => parts.push(canonical_json(output)),
        None => {
            parts.extend(call.placed.map(|placed| placed.hex()));
            parts.extend(settlement.retained.iter().map(|kept| kept.digest.clone()));
            parts.extend(settlement.content.iter().filter_map(said));
        }
    }
    let parts: Vec<_> = parts.iter().map(String::as_str).collect();
    Digest::of_parts(&parts)
}

/// What a tool itself says in a block.
fn said(block: &Content) -> Option<String> {
    match block {
        Content::Text(text) if text.by == Speaker::Runtime => None,
        Content::Text(text) => Some(text.text.clone()),
        block => serde_json::to_string(block).ok(),
    }
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
