//! Objects: their properties, which of them are required, and whether further keys fit.

use serde_json::{Map, Value};

use crate::lint::site::{Role, Site};
use crate::lint::subject::{Hits, Subject};
use crate::node::TypeSet;
use crate::pass::{is_anthropic_key, is_moonshot_key};
use crate::rules::Rules;

pub(crate) fn root_properties(subject: &Subject<'_>, _: &Rules, hits: &mut Hits) {
    let root = subject.sites.objects.first();
    if root.is_some_and(|root| root.properties().is_none()) {
        hits.schema("", "properties", "the root has no `properties`");
    }
}

pub(crate) fn root_empty(subject: &Subject<'_>, _: &Rules, hits: &mut Hits) {
    let root = subject.sites.objects.first();
    if root.is_some_and(|root| root.properties().is_none_or(Map::is_empty)) {
        hits.schema("", "properties", "the tool takes no argument");
    }
}

/// Objects that take further keys, or that may.
pub(crate) fn closed(subject: &Subject<'_>, _: &Rules, hits: &mut Hits) {
    for site in &subject.sites.objects {
        if !site.is(TypeSet::OBJECT) || site.map.get("additionalProperties") == Some(&false.into())
        {
            continue;
        }
        match site.map.get("additionalProperties") {
            None => {
                let message = "the object does not say `\"additionalProperties\": false`";
                hits.schema(&site.pointer, "additionalProperties", message);
            }
            Some(_) => {
                let place = site.at("additionalProperties");
                let message = "the object takes keys that are not named";
                hits.schema(&place, "additionalProperties", message);
                hits.fix(
                    "Name the keys, or take a list of objects with a key and a value; as it is, \
                     the tool cannot be strict.",
                );
            }
        }
    }
}

/// Objects that do not require each of their properties.
pub(crate) fn all_required(subject: &Subject<'_>, _: &Rules, hits: &mut Hits) {
    for site in &subject.sites.objects {
        let Some(properties) = site.properties() else {
            continue;
        };
        let required: Vec<&str> = site.required().collect();
        let optional: Vec<&str> = properties
            .keys()
            .map(String::as_str)
            .filter(|name| !required.contains(name))
            .collect();
        if !optional.is_empty() {
            let message = format!("not required: {}", listed(&optional));
            hits.schema(&site.pointer, "required", message);
        }
    }
}

/// Objects that say nothing of what is required.
pub(crate) fn says_required(subject: &Subject<'_>, _: &Rules, hits: &mut Hits) {
    for site in subject
        .sites
        .objects
        .iter()
        .filter(|it| it.is(TypeSet::OBJECT))
    {
        if site.properties().is_none_or(Map::is_empty) && !site.has("required") {
            let message = "the object has no `required`";
            hits.schema(&site.pointer, "required", message);
        }
    }
}

/// Names that are required and not described.
pub(crate) fn required_names(subject: &Subject<'_>, _: &Rules, hits: &mut Hits) {
    for site in &subject.sites.objects {
        let properties = site.properties();
        let known = |name: &&str| properties.is_some_and(|it| it.contains_key(*name));
        let missing: Vec<&str> = site.required().filter(|name| !known(name)).collect();
        if !missing.is_empty() {
            let message = format!("required and not in `properties`: {}", listed(&missing));
            hits.schema(&site.at("required"), "required", message);
        }
    }
}

pub(crate) fn required_without_properties(subject: &Subject<'_>, _: &Rules, hits: &mut Hits) {
    for site in &subject.sites.objects {
        if site.has("required") && !site.has("properties") {
            let message = "there is `required` and no `properties` beside it";
            hits.schema(&site.at("required"), "required", message);
        }
    }
}

pub(crate) fn anthropic_keys(subject: &Subject<'_>, _: &Rules, hits: &mut Hits) {
    if let Some(root) = subject.sites.objects.first() {
        keys(root, is_anthropic_key, hits);
    }
}

pub(crate) fn moonshot_keys(subject: &Subject<'_>, _: &Rules, hits: &mut Hits) {
    for site in &subject.sites.objects {
        keys(site, is_moonshot_key, hits);
    }
}

fn keys(site: &Site<'_>, is_legal: fn(&str) -> bool, hits: &mut Hits) {
    let names = site.properties().into_iter().flatten();
    for (name, _) in names.filter(|(name, _)| !is_legal(name)) {
        let place = format!(
            "{}/{}",
            site.at("properties"),
            crate::lint::site::token(name)
        );
        let message = format!("\"{}\" is no name for a property", name.escape_debug());
        hits.schema(&place, "properties", message);
    }
}

/// `true` and `false` where a schema stands, but for further keys.
pub(crate) fn booleans(subject: &Subject<'_>, _: &Rules, hits: &mut Hits) {
    for other in &subject.sites.others {
        let further = matches!(
            other.role,
            Role::Of("additionalProperties" | "unevaluatedProperties" | "additionalItems")
        );
        if other.value.is_boolean() && !further {
            let message = format!("there is `{}` instead of a schema", other.value);
            hits.schema(&other.pointer, "", message);
            if other.value == &Value::Bool(false) {
                hits.fix("Leave the place out: nothing fits it.");
            }
        }
    }
}

/// Names for a message, the first of them.
pub(super) fn listed(names: &[&str]) -> String {
    const MOST: usize = 8;
    let shown: Vec<String> = names
        .iter()
        .take(MOST)
        .map(|name| name.escape_debug().to_string())
        .collect();
    match names.len().saturating_sub(MOST) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
