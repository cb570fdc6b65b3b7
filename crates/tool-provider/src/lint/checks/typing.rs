//! Types: named ones, lists of them, and alternatives.

use serde_json::Value;

use crate::lint::subject::{Hits, Subject};
use crate::node::TypeSet;
use crate::pass::about;
use crate::rules::Rules;

/// Schemas that none of these keywords says anything about. What has no place there at all is
/// reported as such.
fn untyped(subject: &Subject<'_>, said: &[&str], hits: &mut Hits) {
    let elsewhere = ["oneOf", "allOf", "not", "if"];
    for site in &subject.sites.objects {
        if said.iter().chain(&elsewhere).any(|key| site.has(key)) {
            continue;
        }
        hits.schema(&site.pointer, "type", "the schema names no type");
        let about = site.map.keys().map(|key| about(key));
        let about = about.fold(TypeSet::NONE, TypeSet::with);
        if site.has("enum") || site.has("const") {
            hits.fix("Write the type of the value beside it.");
        } else if !about.is_empty() {
            let names = about.names().join("\", \"");
            hits.fix(format!(
                "Write `\"type\": \"{names}\"`, which the other keywords are about."
            ));
        }
    }
}

pub(crate) fn anthropic_untyped(subject: &Subject<'_>, _: &Rules, hits: &mut Hits) {
    untyped(subject, &["type", "enum", "const", "anyOf", "$ref"], hits);
}

pub(crate) fn openai_untyped(subject: &Subject<'_>, _: &Rules, hits: &mut Hits) {
    untyped(subject, &["type", "anyOf", "$ref"], hits);
}

pub(crate) fn gemini_untyped(subject: &Subject<'_>, _: &Rules, hits: &mut Hits) {
    untyped(subject, &["type", "anyOf", "$ref"], hits);
}

/// Arrays that do not say what their items are.
pub(crate) fn items(subject: &Subject<'_>, _: &Rules, hits: &mut Hits) {
    for site in &subject.sites.objects {
        if site.is(TypeSet::ARRAY) && !site.has("items") {
            hits.schema(&site.pointer, "items", "the array has no `items`");
        }
    }
}

pub(crate) fn one_type(subject: &Subject<'_>, _: &Rules, hits: &mut Hits) {
    for site in &subject.sites.objects {
        if site.map.get("type").is_some_and(Value::is_array) {
            hits.schema(&site.at("type"), "type", "the type is a list");
        }
    }
}

/// Whatever stands beside `anyOf` and is no text about it.
pub(crate) fn any_of_alone(subject: &Subject<'_>, _: &Rules, hits: &mut Hits) {
    let constrains = ["type", "items", "properties", "required", "enum", "format"];
    for site in subject.sites.objects.iter().filter(|it| it.has("anyOf")) {
        if let Some(beside) = constrains.iter().find(|key| site.has(key)) {
            let message = format!("`{beside}` stands beside `anyOf`");
            hits.schema(&site.at("anyOf"), "anyOf", message);
        }
    }
}

/// Whatever else stands beside `anyOf`, where it has to be the only field.
pub(crate) fn any_of_only(subject: &Subject<'_>, _: &Rules, hits: &mut Hits) {
    for site in subject.sites.objects.iter().filter(|it| it.has("anyOf")) {
        if let Some(beside) = site.map.keys().find(|key| *key != "anyOf") {
            let message = format!("`{beside}` stands beside `anyOf`");
            hits.schema(&site.at("anyOf"), "anyOf", message);
        }
    }
}
