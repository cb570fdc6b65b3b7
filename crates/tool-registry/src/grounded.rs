//! Telling a host that arguments were made up.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::{Mutex, PoisonError};

use serde_json::Value;
use tool_core::{
    AfterHook, BoxFuture, Content, Digest, HookError, Identity, SettledCall, Settlement, Speaker,
    canonical_json,
};

use crate::contained::contained;
use crate::runs::Runs;

/// Values that are remembered of one run.
const MOST_VALUES: usize = 100_000;
/// Arguments that one finding names.
const MOST_ARGUMENTS: usize = 100;

/// An observer that a host may attach: it reports arguments of a tool that says where its
/// arguments come from, when no result of those tools in the same run held their value.
///
/// Grounds are named by wire name or by identity. Findings never block and never reach the model.
/// Only digests of values are kept, of the eight runs that called last and at most 100,000 of
/// each; a ground that served more than that, or blocks without an output, grounds everything, so that
/// nothing is reported which may have been served.
///
/// ```
/// use tool_registry::{GroundedArguments, Registry, Ungrounded};
///
/// let observer = GroundedArguments::new(|finding: &Ungrounded| {
///     eprintln!("{} was given {} that nothing served", finding.tool, finding.arguments.join(", "));
/// });
/// let registry = Registry::builder().after(observer).build();
/// # let _ = registry;
/// ```
pub struct GroundedArguments<F> {
    runs: Mutex<Runs<Seen>>,
    report: F,
}

/// An argument whose value no declared ground served.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ungrounded {
    /// The tool that was called.
    pub tool: Identity,
    /// JSON pointers of the arguments, at most 100; the values are not told.
    pub arguments: Vec<String>,
    /// Whether any of the declared grounds was called in the run at all, also where it failed.
    pub ground_called: bool,
}

/// What the tools of one run have served, by identity.
#[derive(Default)]
struct Seen {
    served: HashMap<String, Served>,
    /// Identities by the wire names that they were called by.
    identities: HashMap<String, String>,
    values: usize,
}

#[derive(Default)]
struct Served {
    values: HashSet<Digest>,
    /// It served more than is remembered or can be read.
    more: bool,
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
        let declared = call.declarations.arguments_from.as_ref();
        let finding = declared
            .zip(call.arguments)
            .and_then(|(grounds, arguments)| seen.finding(call.identity, grounds, arguments));
        let served = seen.called(call.identity, &settlement.tool);
        if !settlement.is_error() {
            match settlement.output() {
                Some(output) => seen.serve(&served, output),
                // What is said in blocks is not read here, and may be anything.
                None if says_something(settlement, call) => seen.serve_unread(&served),
                None => {}
            }
        }
        // Not under the lock: what a host does with a finding is its own.
        drop(runs);
        if let Some(finding) = finding {
            contained(|| (self.report)(&finding));
        }
    }
}

impl Seen {
    /// Takes note of a call, whatever it came to; gives back as what it serves.
    fn called(&mut self, tool: &Identity, wire_name: &str) -> String {
        let identity = tool.to_string();
        if wire_name != identity {
            self.identities
                .insert(wire_name.to_owned(), identity.clone());
        }
        self.served.entry(identity.clone()).or_default();
        identity
    }

    fn serve_unread(&mut self, identity: &str) {
        if let Some(served) = self.served.get_mut(identity) {
            served.more = true;
        }
    }

    fn serve(&mut self, identity: &str, output: &Value) {
        let Some(served) = self.served.get_mut(identity) else {
            return;
        };
        let values = &mut self.values;
        walk(output, &mut String::new(), &mut |_, leaf| {
            if *values == MOST_VALUES {
                served.more = true;
            } else if served.values.insert(digest(leaf)) {
                *values += 1;
            }
        });
    }

    fn finding(
        &self,
        tool: &Identity,
        grounds: &[String],
        arguments: &Value,
    ) -> Option<Ungrounded> {
        let served: Vec<_> = grounds
            .iter()
            .filter_map(|name| self.served(name))
            .collect();
        if served.iter().any(|served| served.more) {
            return None;
        }
        let mut ungrounded = Vec::new();
        walk(arguments, &mut String::new(), &mut |pointer, leaf| {
            // A flag or an absence is nobody's to serve.
            let speaks = matches!(leaf, Value::String(_) | Value::Number(_));
            if speaks
                && ungrounded.len() < MOST_ARGUMENTS
                && !served
                    .iter()
                    .any(|served| served.values.contains(&digest(leaf)))
            {
                ungrounded.push(pointer.to_owned());
            }
        });
        (!ungrounded.is_empty()).then(|| Ungrounded {
            tool: tool.clone(),
            arguments: ungrounded,
            ground_called: !served.is_empty(),
        })
    }

    fn served(&self, ground: &str) -> Option<&Served> {
        let identity = self.identities.get(ground).map_or(ground, String::as_str);
        self.served.get(identity)
    }
}

/// Whether a tool itself has said anything, shown or not. What the runtime says beside it serves
/// nothing.
fn says_something(settlement: &Settlement, call: &SettledCall<'_>) -> bool {
    let is_own =
        |block: &Content| !matches!(block, Content::Text(text) if text.by == Speaker::Runtime);
    call.placed.is_some()
        || !settlement.retained.is_empty()
        || settlement.content.iter().any(is_own)
}

fn digest(leaf: &Value) -> Digest {
    Digest::of(canonical_json(leaf).as_bytes())
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
