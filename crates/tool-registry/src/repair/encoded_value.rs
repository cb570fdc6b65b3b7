//! A string that holds a value, where the schema takes no string.

use serde_json::Value;
use tool_core::Issue;

use super::kinds::Kinds;
use crate::strict_json::{self, Read};

/// What a string stands for at a place.
pub(super) enum Decoded {
    /// A value of a kind that the place takes.
    Value(Read),
    /// Nothing that the place takes.
    Nothing,
    /// JSON that cannot be held, or has more than one reading.
    Broken(Issue),
}

/// Decodes a string at a place that takes these kinds, none of which is a string.
///
/// `drops_null` says that `null` would be removed at the place.
pub(super) fn decode(text: &str, taken: Kinds, drops_null: bool, depth: usize) -> Decoded {
    let read = match strict_json::parse_below(text, depth) {
        Ok(read) => read,
        Err(Issue::Syntax { .. }) => return Decoded::Nothing,
        Err(issue) => return Decoded::Broken(issue),
    };
    let dropped = drops_null && read.value.is_null();
    // One that has lost a digit is no integer, whatever is held of it.
    let takes = match &read.value {
        Value::Number(number) if number.is_f64() && !read.whole => taken.has(Kinds::FRACTION),
        value => !taken.and(Kinds::of(value)).is_none(),
    };
    if takes || dropped {
        Decoded::Value(read)
    } else {
        Decoded::Nothing
    }
}
