//! Arguments as a whole that were encoded twice.

use serde_json::Value;
use tool_core::Issue;

use crate::strict_json::{self, Read};

/// The object that a string holds. `None` where it holds none.
///
/// # Errors
/// Why the text is none, where it begins as one.
pub(super) fn decode(encoded: &str) -> Result<Option<Read>, Issue> {
    match strict_json::parse(encoded) {
        Ok(read) if matches!(read.value, Value::Object(_)) => Ok(Some(read)),
        Err(issue) if encoded.trim_start().starts_with('{') => Err(issue),
        _ => Ok(None),
    }
}
