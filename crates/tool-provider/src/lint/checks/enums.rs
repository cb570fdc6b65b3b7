//! Enumerations, constants and formats.

use serde_json::Value;

use crate::lint::subject::{Hits, Subject};
use crate::node::TypeSet;
use crate::rules::{Enums, Rules};

/// Values that the provider does not let enumerate.
pub(crate) fn values(subject: &Subject<'_>, rules: &Rules, hits: &mut Hits) {
    for site in &subject.sites.objects {
        let constant = site.map.get("const").map(std::slice::from_ref);
        let listed = site.list("enum").map(Vec::as_slice);
        for (key, values) in [("const", constant), ("enum", listed)] {
            // Where there is no word for constants, that is what is reported.
            if key == "const" && matches!(rules.enums, Enums::Strings | Enums::Scalars) {
                continue;
            }
            let wrong = values.into_iter().flatten();
            let mut wrong = wrong.filter_map(|value| problem(rules.enums, value));
            if let Some(problem) = wrong.next() {
                hits.schema(&site.at(key), key, format!("a value is {problem}"));
            }
        }
    }
}

/// Why a value may not be enumerated.
fn problem(enums: Enums, value: &Value) -> Option<&'static str> {
    let structured = match value {
        Value::Array(_) => Some("an array"),
        Value::Object(_) => Some("an object"),
        _ => None,
    };
    match (enums, value) {
        (Enums::Free, _) => None,
        (Enums::Primitive | Enums::OneType, _) => structured,
        (Enums::Scalars, Value::Bool(_)) => Some("a boolean"),
        (Enums::Scalars, Value::Null) => Some("null"),
        (Enums::Scalars, _) => structured,
        (Enums::Strings, Value::String(text)) => text.is_empty().then_some("an empty text"),
        (Enums::Strings, _) => Some("no text"),
    }
}

/// Formats that the provider does not know, or not on that type.
pub(crate) fn formats(subject: &Subject<'_>, rules: &Rules, hits: &mut Hits) {
    let Some(known) = rules.formats else { return };
    for site in &subject.sites.objects {
        let Some(format) = site.text("format") else {
            continue;
        };
        let types = site
            .types()
            .unwrap_or_default()
            .without(TypeSet::NULL)
            .names();
        let on_type = known
            .iter()
            .any(|(of, it)| *it == format && types.contains(of));
        // An enumeration of texts may say that it is one.
        let is_enum = rules.enums == Enums::Strings && format == "enum" && site.has("enum");
        if !on_type && !is_enum {
            let message = format!(
                "\"{}\" is no format that is taken here",
                format.escape_debug()
            );
            hits.schema(&site.at("format"), "format", message);
        }
    }
}
