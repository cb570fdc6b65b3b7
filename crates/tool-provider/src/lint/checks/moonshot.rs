//! What Moonshot's own validator asks for.

use serde_json::Value;

use super::objects::listed;
use crate::lint::site::{Role, Target};
use crate::lint::subject::{Hits, Subject};
use crate::node::TypeSet;
use crate::rules::Rules;

const TEXTS: [&str; 2] = ["description", "title"];

/// `anyOf` shares no keyword with its alternatives, and no type stands beside it.
pub(crate) fn any_of(subject: &Subject<'_>, _: &Rules, hits: &mut Hits) {
    for site in &subject.sites.objects {
        let Some(branches) = site.list("anyOf") else {
            continue;
        };
        if site.has("type") {
            hits.schema(&site.at("anyOf"), "anyOf", "`type` stands beside `anyOf`");
        }
        let beside = |key: &String| {
            !["anyOf", "type", "$defs"].contains(&key.as_str()) && !TEXTS.contains(&key.as_str())
        };
        let shared = branches
            .iter()
            .filter_map(Value::as_object)
            .flat_map(|branch| branch.keys())
            .find(|key| beside(key) && site.has(key));
        if let Some(key) = shared {
            let message = format!("`{key}` stands beside `anyOf` and in an alternative");
            hits.schema(&site.at("anyOf"), "anyOf", message);
        }
        if !(1..=500).contains(&branches.len()) {
            let message = format!(
                "there are {} alternatives, and 1 to 500 may be",
                branches.len()
            );
            hits.schema(&site.at("anyOf"), "anyOf", message);
        }
    }
}

/// Nothing that the target of a reference says too stands beside it, and no type.
pub(crate) fn reference(subject: &Subject<'_>, _: &Rules, hits: &mut Hits) {
    let Some(schema) = subject.walked() else {
        return;
    };
    for site in &subject.sites.objects {
        let Some(reference) = site.text("$ref") else {
            continue;
        };
        let target = match subject.sites.target(site, reference) {
            Target::Place(place) => schema.pointer(&place).and_then(Value::as_object),
            _ => None,
        };
        let shared = site.map.keys().find(|key| {
            let key = key.as_str();
            key == "type"
                || !TEXTS.contains(&key)
                    && !key.starts_with('$')
                    && target.is_some_and(|target| target.contains_key(key))
        });
        if let Some(key) = shared {
            hits.schema(
                &site.at("$ref"),
                "$ref",
                format!("`{key}` stands beside `$ref`"),
            );
        }
        let conditions = ["not", "if", "then", "else", "propertyNames", "contains"];
        if let Role::Of(key) = site.role
            && conditions.contains(&key)
        {
            hits.schema(
                &site.at("$ref"),
                "$ref",
                format!("a reference stands in `{key}`"),
            );
        }
    }
}

/// A list of types stands alone, or is one simple type and null, enumerated.
pub(crate) fn types(subject: &Subject<'_>, _: &Rules, hits: &mut Hits) {
    for site in &subject.sites.objects {
        let Some(names) = site.list("type") else {
            continue;
        };
        let simple = TypeSet::STRING
            .with(TypeSet::NUMBER)
            .with(TypeSet::BOOLEAN)
            .with(TypeSet::NULL);
        let types = site.types().unwrap_or_default();
        let enumerated =
            site.has("enum") && names.len() == 2 && types.has(TypeSet::NULL) && simple.has(types);
        let beside: Vec<&str> = site
            .map
            .keys()
            .map(String::as_str)
            .filter(|key| *key != "type" && !TEXTS.contains(key))
            .filter(|key| !(enumerated && *key == "enum"))
            .collect();
        if !beside.is_empty() {
            let message = format!("beside a list of types stands: {}", listed(&beside));
            hits.schema(&site.at("type"), "type", message);
        }
    }
}

/// Values have the type that stands beside them.
pub(crate) fn enums(subject: &Subject<'_>, _: &Rules, hits: &mut Hits) {
    for site in &subject.sites.objects {
        let Some(values) = site.list("enum") else {
            continue;
        };
        let place = site.at("enum");
        match site.types() {
            None => hits.schema(&place, "enum", "no type stands beside the enumeration"),
            Some(types) if !values.iter().all(|it| types.has(TypeSet::of_value(it))) => {
                let message = "a value is not of the type that stands beside";
                hits.schema(&place, "enum", message);
            }
            Some(_) if values.is_empty() => hits.schema(&place, "enum", "there is no value"),
            Some(_) => {}
        }
    }
}

/// Items of an array are one object.
pub(crate) fn items(subject: &Subject<'_>, _: &Rules, hits: &mut Hits) {
    for site in &subject.sites.objects {
        if site
            .map
            .get("items")
            .is_some_and(|items| !items.is_object())
        {
            hits.schema(&site.at("items"), "items", "`items` is no object");
        }
    }
}

/// Definitions stand at the root, and no name of one has a slash.
pub(crate) fn definitions(subject: &Subject<'_>, _: &Rules, hits: &mut Hits) {
    for site in &subject.sites.objects {
        let Some(named) = site.map.get("$defs").and_then(Value::as_object) else {
            continue;
        };
        if named.keys().any(|name| name.contains('/')) {
            hits.schema(
                &site.at("$defs"),
                "$defs",
                "the name of a definition has a slash",
            );
        }
    }
}
