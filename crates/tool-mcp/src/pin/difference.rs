//! Where two JSON values are not the same.

use std::fmt;

use serde_json::Value;

/// One place at which what is seen is not what was trusted.
///
/// Printing it shows the place and both sides, a line each, with everything escaped that cannot be
/// seen or that could act on a terminal: one that changed by an invisible character is told from
/// the one before.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Difference {
    /// The place, as a JSON pointer; empty for the whole.
    pub pointer: String,
    /// What was trusted, where there was something.
    pub trusted: Side,
    /// What is seen, where there is something.
    pub seen: Side,
}

/// What stands at a place.
pub type Side = Option<Value>;

impl Difference {
    /// All places at which two values are not the same, in the order of their pointers' keys.
    #[must_use]
    pub fn between(trusted: Option<&Value>, seen: Option<&Value>) -> Vec<Self> {
        let mut found = Vec::new();
        compare(trusted, seen, &mut String::new(), &mut found);
        found
    }
}

fn compare(
    trusted: Option<&Value>,
    seen: Option<&Value>,
    pointer: &mut String,
    found: &mut Vec<Difference>,
) {
    let length = pointer.len();
    match (trusted, seen) {
        (a, b) if a == b => {}
        (Some(Value::Object(a)), Some(Value::Object(b))) => {
            let mut keys: Vec<_> = a.keys().chain(b.keys()).collect();
            keys.sort_unstable();
            keys.dedup();
            for key in keys {
                pointer.push('/');
                pointer.push_str(&key.replace('~', "~0").replace('/', "~1"));
                compare(a.get(key), b.get(key), pointer, found);
                pointer.truncate(length);
            }
        }
        (Some(Value::Array(a)), Some(Value::Array(b))) => {
            for index in 0..a.len().max(b.len()) {
                pointer.push('/');
                pointer.push_str(&index.to_string());
                compare(a.get(index), b.get(index), pointer, found);
                pointer.truncate(length);
            }
        }
        (a, b) => found.push(Difference {
            pointer: pointer.clone(),
            trusted: a.cloned(),
            seen: b.cloned(),
        }),
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = match self.pointer.as_str() {
            "" => "all of it".to_owned(),
            pointer => pointer.escape_debug().to_string(),
        };
        write!(f, "{place}")?;
        for (sign, side) in [('-', &self.trusted), ('+', &self.seen)] {
            if let Some(value) = side {
                write!(f, "\n  {sign} {}", shown(value))?;
            }
        }
        Ok(())
    }
}

/// JSON in which every character can be seen.
fn shown(value: &Value) -> String {
    let mut text = String::new();
    for c in value.to_string().chars() {
        // Quotes and backslashes are escaped as JSON already.
        if matches!(c, '"' | '\\' | '\'') {
            text.push(c);
        } else {
            text.extend(c.escape_debug());
        }
    }
    text
}
