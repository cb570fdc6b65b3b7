//! Telling a host that arguments were made up.

use std::collections::{HashMap, HashSet, VecDeque};
use std::fmt;
use std::sync::{Mutex, PoisonError};

use serde_json::Value;
use tool_core::{
    AfterHook, BoxFuture, Digest, HookError, Identity, SettledCall, Settlement, canonical_json,
};

/// Runs that are remembered at the same time.
const MOST_RUNS: usize = 8;
/// Values that are remembered of one run; the oldest are forgotten first.
const MOST_VALUES: usize = 100_000;

/// An observer that a host may attach: it reports arguments of a tool that says where its
/// arguments come from, when no result of those tools in the same run held their value.
///
/// Findings never block and never reach the model. Only digests of values are kept.
pub struct GroundedArguments<F> {
    runs: Mutex<Runs>,
    report: F,
}

/// An argument whose value no declared ground served.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ungrounded {
    /// The tool that was called.
    pub tool: Identity,
    /// JSON pointers of the arguments; the values are not told.
    pub arguments: Vec<String>,
    /// Whether any of the declared grounds was called in the run at all.
    pub ground_called: bool,
}

#[derive(Default)]
struct Runs {
    seen: HashMap<String, Seen>,
    recent: VecDeque<String>,
}

/// What the tools of one run have served, by tool.
#[derive(Default)]
struct Seen {
    served: HashMap<String, HashSet<Digest>>,
    values: usize,
}

impl<F: Fn(&Ungrounded) + Send + Sync> GroundedArguments<F> {
    /// An observer that has seen nothing and reports here.
    pub fn new(report: F) -> Self {
        Self {
            runs: Mutex::default(),
            report,
        }
    }

    fn observe(&self, run: &str, settlement: &Settlement, call: &SettledCall<'_>) {
        let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        let seen = runs.of(run);
        let finding = call
            .declarations
            .arguments_from
            .as_ref()
            .zip(call.arguments)
            .and_then(|(grounds, arguments)| seen.finding(call.identity, grounds, arguments));
        if let Some(output) = settlement
            .output
            .as_ref()
            .filter(|_| !settlement.is_error())
        {
            seen.serve(call.identity, output);
        }
        // Not under the lock: what a host does with a finding is its own.
        drop(runs);
        if let Some(finding) = finding {
            (self.report)(&finding);
        }
    }
}

impl Runs {
    fn of(&mut self, run: &str) -> &mut Seen {
        self.recent.retain(|other| other != run);
        self.recent.push_back(run.to_owned());
        if self.recent.len() > MOST_RUNS
            && let Some(oldest) = self.recent.pop_front()
        {
            self.seen.remove(&oldest);
        }
        self.seen.entry(run.to_owned()).or_default()
    }
}

impl Seen {
    fn serve(&mut self, tool: &Identity, output: &Value) {
        if self.values > MOST_VALUES {
            self.served.clear();
            self.values = 0;
        }
        let served = self.served.entry(tool.to_string()).or_default();
        let before = served.len();
        walk(output, &mut String::new(), &mut |_, leaf| {
            served.insert(Digest::of(canonical_json(leaf).as_bytes()));
        });
        self.values += served.len() - before;
    }

    fn finding(
        &self,
        tool: &Identity,
        grounds: &[String],
        arguments: &Value,
    ) -> Option<Ungrounded> {
        let served: Vec<_> = grounds
            .iter()
            .filter_map(|ground| self.served.get(ground))
            .collect();
        let mut ungrounded = Vec::new();
        walk(arguments, &mut String::new(), &mut |pointer, leaf| {
            // A flag or an absence is nobody's to serve.
            let speaks = matches!(leaf, Value::String(_) | Value::Number(_));
            let digest = Digest::of(canonical_json(leaf).as_bytes());
            if speaks && !served.iter().any(|served| served.contains(&digest)) {
                ungrounded.push(pointer.to_owned());
            }
        });
        (!ungrounded.is_empty()).then(|| Ungrounded {
            tool: tool.clone(),
            arguments: ungrounded,
            ground_called: !served.is_empty(),
        })
    }
}

/// Visits every value that is neither array nor object, with its JSON pointer.
fn walk(value: &Value, pointer: &mut String, visit: &mut impl FnMut(&str, &Value)) {
    let length = pointer.len();
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                pointer.push('/');
                pointer.push_str(&key.replace('~', "~0").replace('/', "~1"));
                walk(value, pointer, visit);
                pointer.truncate(length);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                pointer.push_str(&format!("/{index}"));
                walk(item, pointer, visit);
                pointer.truncate(length);
            }
        }
        leaf => visit(pointer, leaf),
    }
}

impl<F: Fn(&Ungrounded) + Send + Sync> AfterHook for GroundedArguments<F> {
    fn after<'a>(
        &'a self,
        settlement: &'a mut Settlement,
        call: &'a SettledCall<'a>,
    ) -> BoxFuture<'a, Result<(), HookError>> {
        Box::pin(async move {
            if let Some(run) = call.facts.run_id() {
                self.observe(run.as_str(), settlement, call);
            }
            Ok(())
        })
    }
}

impl<F> fmt::Debug for GroundedArguments<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("GroundedArguments(..)")
    }
}
