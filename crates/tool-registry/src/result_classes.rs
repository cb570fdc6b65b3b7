//! Telling a host that a classed result does not say how much it covers.

use std::fmt;

use serde_json::Value;
use tool_core::{AfterHook, BoxFuture, HookError, Identity, ResultClass, SettledCall, Settlement};

use crate::contained::contained;

/// An observer that a host may attach: a tool that says what sort of answer it gives is expected
/// to say in each how much of everything it has seen, as `coverage` with the numbers `seen` and
/// `total`. One that does not is reported. Findings never block and never reach the model.
pub struct ResultClasses<F> {
    report: F,
}

/// A result of a classed tool that does not say how much it covers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Uncovered {
    /// The tool that was called.
    pub tool: Identity,
    /// What sort of answer it says to give.
    pub class: ResultClass,
}

impl<F: Fn(&Uncovered) + Send + Sync> ResultClasses<F> {
    /// An observer that reports here.
    pub fn new(report: F) -> Self {
        Self { report }
    }
}

impl<F: Fn(&Uncovered) + Send + Sync> AfterHook for ResultClasses<F> {
    fn after<'a>(
        &'a self,
        settlement: &'a mut Settlement,
        call: &'a SettledCall<'a>,
    ) -> BoxFuture<'a, Result<(), HookError>> {
        Box::pin(async move {
            if let Some(class) = call.declarations.result_class
                && !settlement.is_error()
                && !settlement.output().is_some_and(covers)
            {
                let uncovered = Uncovered {
                    tool: call.identity.clone(),
                    class,
                };
                contained(|| (self.report)(&uncovered));
            }
            Ok(())
        })
    }
}

fn covers(output: &Value) -> bool {
    let counts = |key: &str| {
        output
            .pointer(&format!("/coverage/{key}"))
            .is_some_and(Value::is_u64)
    };
    counts("seen") && counts("total")
}

impl<F> fmt::Debug for ResultClasses<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ResultClasses(..)")
    }
}
