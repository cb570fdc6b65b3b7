//! Conditions of a rule on the arguments of a call.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;
use tool_core::canonical_json;

use crate::Pattern;

/// A condition on one argument: what lies under a JSON pointer matches a pattern.
///
/// A text is matched as it is, every other value in its canonical JSON, so that a pattern over an
/// object or array sees all that is in it. A whole number is the same with and without `.0`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Condition {
    pointer: Arc<str>,
    pattern: Pattern,
}

/// Whether something holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Holds {
    No,
    /// It depends on what is not known.
    Perhaps,
    Yes,
}

impl Condition {
    pub(crate) fn new(pointer: impl Into<Arc<str>>, pattern: impl AsRef<str>) -> Self {
        Self {
            pointer: pointer.into(),
            pattern: Pattern::new(pattern),
        }
    }

    /// Whether it holds for arguments, which may not be known.
    pub(crate) fn holds(&self, arguments: Option<&Value>) -> Holds {
        let Some(arguments) = arguments else {
            return Holds::Perhaps;
        };
        let found = arguments.pointer(&self.pointer);
        match found.is_some_and(|value| self.matches(value)) {
            true => Holds::Yes,
            false => Holds::No,
        }
    }

    fn matches(&self, value: &Value) -> bool {
        match value {
            Value::String(text) => self.pattern.matches(text),
            Value::Number(number) => {
                let text = number.to_string();
                let whole = number
                    .as_f64()
                    .filter(|float| float.fract() == 0.0 && float.abs() < WHOLE)
                    .map(|float| format!("{float:.0}"));
                self.pattern.matches(&text)
                    || whole.is_some_and(|whole| self.pattern.matches(&whole))
            }
            other => self.pattern.matches(&canonical_json(other)),
        }
    }

    /// Whether the pointer is one. The text of the error names the way out.
    pub(crate) fn check(&self) -> Result<(), String> {
        let wrong_escape = self
            .pointer
            .split('~')
            .skip(1)
            .any(|rest| !rest.starts_with(['0', '1']));
        if wrong_escape || !(self.pointer.is_empty() || self.pointer.starts_with('/')) {
            return Err(format!(
                "\"{}\" is no JSON pointer; write \"/name\" for an argument, \"/name/0\" for the first of a list",
                self.pointer.escape_debug()
            ));
        }
        Ok(())
    }

    pub(crate) fn pointer(&self) -> &str {
        &self.pointer
    }

    pub(crate) fn pattern(&self) -> &Pattern {
        &self.pattern
    }
}

impl Holds {
    pub(crate) fn of(holds: bool) -> Self {
        if holds { Self::Yes } else { Self::No }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.pointer, self.pattern)
    }
}

/// Below it every whole number has a float of its own.
const WHOLE: f64 = 9_007_199_254_740_992.0;
