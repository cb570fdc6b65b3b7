//! What stands around a schema: names, descriptions, and that there is a schema at all.

use crate::lint::subject::{Hits, Subject};
use crate::rules::Rules;

pub(crate) fn is_object(subject: &Subject<'_>, _: &Rules, hits: &mut Hits) {
    if subject.entry.is_none() {
        hits.entry("", "the entry of the list is no object");
    }
}

pub(crate) fn has_name(subject: &Subject<'_>, _: &Rules, hits: &mut Hits) {
    let Some(entry) = subject.entry else { return };
    match entry.get("name") {
        Some(name) if name.is_string() && name != "" => {}
        Some(name) if name.is_string() => hits.entry("/name", "the name is empty"),
        Some(_) => hits.entry("/name", "the name is no text"),
        None => hits.entry("", "there is no name"),
    }
}

pub(crate) fn has_schema(subject: &Subject<'_>, _: &Rules, hits: &mut Hits) {
    let Some(entry) = subject.entry else { return };
    match entry.get("inputSchema") {
        Some(schema) if schema.is_object() => {}
        Some(_) => hits.entry("/inputSchema", "the input schema is no object"),
        None => hits.entry("", "there is no input schema"),
    }
}

pub(crate) fn texts(subject: &Subject<'_>, _: &Rules, hits: &mut Hits) {
    let Some(entry) = subject.entry else { return };
    for key in ["title", "description"] {
        if entry.get(key).is_some_and(|value| !value.is_string()) {
            hits.entry(&format!("/{key}"), format!("the {key} is no text"));
        }
    }
}

pub(crate) fn described(subject: &Subject<'_>, _: &Rules, hits: &mut Hits) {
    let Some(entry) = subject.entry else { return };
    let said = entry.get("description").is_some_and(|it| {
        // What is no text has a rule of its own.
        it.as_str().is_none_or(|it| !it.trim().is_empty())
    });
    if !said {
        hits.entry("", "nothing says what the tool does");
    }
}

/// A description of at most so many characters.
pub(crate) fn description<const MOST: usize>(subject: &Subject<'_>, _: &Rules, hits: &mut Hits) {
    let count = subject
        .text("description")
        .unwrap_or_default()
        .chars()
        .count();
    if count > MOST {
        let message = format!("the description has {count} characters, and may have {MOST}");
        hits.entry("/description", message);
    }
}

/// A name of at most so many characters.
pub(crate) fn length<const MOST: usize>(subject: &Subject<'_>, _: &Rules, hits: &mut Hits) {
    let count = subject.name().unwrap_or_default().chars().count();
    if count > MOST {
        let message = format!("the name has {count} characters, and may have {MOST}");
        hits.entry("/name", message);
    }
}

/// A name of letters, digits, `_` and `-`, at most so many.
pub(crate) fn plain_name<const MOST: usize>(subject: &Subject<'_>, rules: &Rules, hits: &mut Hits) {
    let Some(name) = subject.name() else { return };
    characters(name, "_-", hits);
    length::<MOST>(subject, rules, hits);
}

pub(crate) fn gemini_name(subject: &Subject<'_>, rules: &Rules, hits: &mut Hits) {
    let Some(name) = subject.name() else { return };
    begins(name, hits);
    characters(name, "_-.:", hits);
    length::<128>(subject, rules, hits);
}

pub(crate) fn kimi_name(subject: &Subject<'_>, rules: &Rules, hits: &mut Hits) {
    let Some(name) = subject.name() else { return };
    begins(name, hits);
    characters(name, "_-", hits);
    length::<256>(subject, rules, hits);
}

pub(crate) fn mcp_name(subject: &Subject<'_>, rules: &Rules, hits: &mut Hits) {
    let Some(name) = subject.name() else { return };
    characters(name, "_-.", hits);
    length::<128>(subject, rules, hits);
}

fn begins(name: &str, hits: &mut Hits) {
    if let Some(first) = name.chars().next()
        && !(first.is_ascii_alphabetic() || first == '_')
    {
        let message = format!("the name begins with \"{}\"", first.escape_debug());
        hits.entry("/name", message);
    }
}

fn characters(name: &str, further: &str, hits: &mut Hits) {
    let strange = |c: &char| !(c.is_ascii_alphanumeric() || further.contains(*c));
    if let Some(strange) = name.chars().find(strange) {
        let message = format!("the name holds \"{}\"", strange.escape_debug());
        hits.entry("/name", message);
    }
}
