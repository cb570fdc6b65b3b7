//! Stage 3: from what was delivered to JSON.

use serde_json::{Map, Value};
use tool_core::{Arguments, EventKind, InvalidArguments, Issue, Repair, Stage};

use super::Run;
use crate::strict_json;

/// Arguments as JSON, or why they are none. Policy sees the attempt either way.
pub(super) struct Parsed(pub(super) Result<Value, InvalidArguments>);

/// Parses the arguments. Text that is cut off is never completed.
///
/// One repair is made: arguments that are missing, empty text, blank text or `null` are an empty
/// object, as APIs send for a tool without arguments.
pub(super) fn parse(run: &mut Run<'_>, arguments: &mut Arguments) -> Parsed {
    run.stage(Stage::Parse);
    Parsed(match read(arguments) {
        Ok(Value::Null) => {
            let repair = Repair::new("", "empty_arguments");
            run.tell(|| EventKind::Repaired(&repair));
            run.settlement.repairs.push(repair);
            Ok(Value::Object(Map::new()))
        }
        Ok(value) => Ok(value),
        Err(issue) => Err(InvalidArguments::new([issue])),
    })
}

/// Arguments as JSON, where nothing is `null`. A value is taken out.
pub(crate) fn read(arguments: &mut Arguments) -> Result<Value, Issue> {
    match arguments {
        Arguments::Text(text) if text.chars().all(char::is_whitespace) => Ok(Value::Null),
        Arguments::Text(text) => strict_json::parse(text),
        Arguments::Value(value) => strict_json::hold(value.take()),
        _ => Ok(Value::Null),
    }
}
