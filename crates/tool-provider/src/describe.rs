//! Constraints in words, for descriptions.

use serde_json::Value;

const MOST_CHARS: usize = 160;

/// What a keyword says, as a sentence; `None` where words would be longer than they help.
pub(crate) fn sentence(keyword: &str, value: &Value) -> Option<String> {
    let shown = match value {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    };
    if shown.chars().count() > MOST_CHARS {
        return None;
    }
    Some(match keyword {
        "minimum" => format!("At least {shown}."),
        "maximum" => format!("At most {shown}."),
        "exclusiveMinimum" => format!("Greater than {shown}."),
        "exclusiveMaximum" => format!("Less than {shown}."),
        "multipleOf" => format!("A multiple of {shown}."),
        "minLength" => format!("At least {shown} characters."),
        "maxLength" => format!("At most {shown} characters."),
        "minItems" => format!("At least {shown} items."),
        "maxItems" => format!("At most {shown} items."),
        "minProperties" => format!("At least {shown} keys."),
        "maxProperties" => format!("At most {shown} keys."),
        "uniqueItems" if value == &Value::Bool(true) => "No item twice.".to_owned(),
        "pattern" => format!("Matches the pattern {shown}"),
        "format" => format!("Format: {shown}."),
        "default" => format!("Default: {value}."),
        "enum" => format!("One of {}.", values(value)),
        _ => return None,
    })
}

fn values(value: &Value) -> String {
    let values = value.as_array().into_iter().flatten();
    values.map(Value::to_string).collect::<Vec<_>>().join(", ")
}
