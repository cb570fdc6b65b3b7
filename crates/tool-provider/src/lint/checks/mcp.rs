//! What only the protocol asks for.

use serde_json::Value;

use super::general::invalid;
use crate::dialect::Dialect;
use crate::lint::site::{Role, Sites};
use crate::lint::subject::{Hits, Subject};
use crate::rules::Rules;
use tool_core::Schema;

pub(crate) fn dialect(subject: &Subject<'_>, _: &Rules, hits: &mut Hits) {
    if subject.dialect().is_some_and(|it| it != Dialect::Draft2020) {
        let message = "the schema names a dialect other than 2020-12";
        hits.schema("/$schema", "$schema", message);
    }
}

/// The schema of results is valid in its own dialect.
pub(crate) fn output(subject: &Subject<'_>, _: &Rules, hits: &mut Hits) {
    let Some(schema) = subject.entry.and_then(|it| it.get("outputSchema")) else {
        return;
    };
    if !schema.is_object() {
        return hits.entry("/outputSchema", "the output schema is no object");
    }
    if let Err(problem) = Schema::new(schema.clone()) {
        return hits.entry("/outputSchema", problem.to_string());
    }
    let Ok(dialect) = Dialect::of(schema) else {
        let message = "the output schema names a dialect that is not known";
        return hits.entry("/outputSchema/$schema", message);
    };
    for mut hit in invalid(schema, dialect) {
        let place = hit.pointer.strip_prefix("/inputSchema").unwrap_or_default();
        hit.pointer = format!("/outputSchema{place}");
        hits.0.push(hit);
    }
    let sites = Sites::of(schema);
    for site in &sites.objects {
        if let Some(reference) = site.text("$ref")
            && !matches!(
                subject.sites.target(site, reference),
                crate::lint::site::Target::Place(_)
            )
        {
            let place = format!("/outputSchema{}", site.at("$ref"));
            hits.entry(&place, "the reference leads to no place of the schema");
        }
    }
}

/// Hints have the types that the protocol gives them.
pub(crate) fn annotations(subject: &Subject<'_>, _: &Rules, hits: &mut Hits) {
    let Some(annotations) = subject.entry.and_then(|it| it.get("annotations")) else {
        return;
    };
    let Value::Object(hints) = annotations else {
        return hits.entry("/annotations", "the annotations are no object");
    };
    for key in [
        "readOnlyHint",
        "destructiveHint",
        "idempotentHint",
        "openWorldHint",
    ] {
        if hints.get(key).is_some_and(|hint| !hint.is_boolean()) {
            hits.entry(&format!("/annotations/{key}"), "the hint is no boolean");
        }
    }
    if hints.get("title").is_some_and(|title| !title.is_string()) {
        hits.entry("/annotations/title", "the title is no text");
    }
}

/// `x-mcp-header`: a token, once, on a property of a simple type that is reached by properties.
pub(crate) fn header(subject: &Subject<'_>, _: &Rules, hits: &mut Hits) {
    const KEY: &str = "x-mcp-header";
    let mut seen: Vec<String> = Vec::new();
    for site in subject.sites.objects.iter().filter(|it| it.has(KEY)) {
        let place = site.at(KEY);
        let is_token = |name: &str| {
            let legal = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
            !name.is_empty() && name.chars().all(legal)
        };
        let Some(name) = site.text(KEY).filter(|name| is_token(name)) else {
            hits.schema(&place, KEY, "the header's name is no token");
            continue;
        };
        let name = name.to_ascii_lowercase();
        if seen.contains(&name) {
            hits.schema(&place, KEY, "another property has the same header");
        }
        seen.push(name);
        let simple = ["integer", "string", "boolean"];
        if !site.text("type").is_some_and(|it| simple.contains(&it)) {
            let message = "the property is no integer, string or boolean";
            hits.schema(&place, KEY, message);
        }
        let by_properties = matches!(site.role, Role::Property(_))
            && reached_by_properties(&subject.sites, &site.pointer);
        if !by_properties {
            hits.schema(&place, KEY, "the place is not reached by properties alone");
        }
    }
}

/// Whether every schema on the way to a place is a property of the one above.
fn reached_by_properties(sites: &Sites<'_>, pointer: &str) -> bool {
    sites.objects.iter().all(|site| {
        let above = pointer
            .strip_prefix(site.pointer.as_str())
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        !above || matches!(site.role, Role::Root | Role::Property(_))
    })
}
