//! References, and what refers to itself.

use crate::lint::cycles::cycles;
use crate::lint::site::Target;
use crate::lint::subject::{Hits, Subject};
use crate::rules::Rules;

const KEYS: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

fn each(subject: &Subject<'_>, mut run: impl FnMut(&str, &str, Target)) {
    for site in &subject.sites.objects {
        for key in KEYS {
            if let Some(reference) = site.text(key) {
                run(&site.at(key), key, subject.sites.target(site, reference));
            }
        }
    }
}

pub(crate) fn dangling(subject: &Subject<'_>, _: &Rules, hits: &mut Hits) {
    each(subject, |place, key, target| {
        if target == Target::Nowhere {
            hits.schema(place, key, "the reference leads nowhere in the schema");
        }
    });
}

pub(crate) fn external(subject: &Subject<'_>, _: &Rules, hits: &mut Hits) {
    each(subject, |place, key, target| {
        if target == Target::Outside {
            hits.schema(place, key, "the reference leads out of the schema");
        }
    });
}

/// No schema refers to itself.
pub(crate) fn recursion(subject: &Subject<'_>, _: &Rules, hits: &mut Hits) {
    self_references(subject, false, "the schema refers to itself", hits);
}

/// What refers to itself does so by a property that may be left out.
pub(crate) fn demanded_recursion(subject: &Subject<'_>, _: &Rules, hits: &mut Hits) {
    let message = "the schema refers to itself without a property that may be left out";
    self_references(subject, true, message, hits);
}

fn self_references(subject: &Subject<'_>, demanded: bool, message: &str, hits: &mut Hits) {
    for place in cycles(&subject.sites, demanded) {
        hits.schema(&place, "$ref", message);
    }
}

pub(crate) fn any(subject: &Subject<'_>, _: &Rules, hits: &mut Hits) {
    for site in &subject.sites.objects {
        for key in KEYS.iter().filter(|key| site.has(key)) {
            hits.schema(&site.at(key), key, "there is a reference");
        }
    }
}

/// Nothing stands beside a reference.
pub(crate) fn alone(subject: &Subject<'_>, _: &Rules, hits: &mut Hits) {
    for site in subject.sites.objects.iter().filter(|it| it.has("$ref")) {
        // The root holds the definitions, which are no part of what it says.
        let beside = site
            .map
            .keys()
            .find(|key| !key.starts_with('$') && *key != "definitions");
        if let Some(beside) = beside {
            let message = format!("`{beside}` stands beside `$ref`");
            hits.schema(&site.at("$ref"), "$ref", message);
        }
    }
}

/// References go to `$defs`.
pub(crate) fn to_defs(subject: &Subject<'_>, _: &Rules, hits: &mut Hits) {
    for site in &subject.sites.objects {
        let strange = site.text("$ref").filter(|it| !is_definition(it, false));
        if strange.is_some() {
            hits.schema(
                &site.at("$ref"),
                "$ref",
                "the reference does not lead to `$defs`",
            );
        }
    }
}

/// References go to a name in `$defs`, or to the root.
pub(crate) fn to_names(subject: &Subject<'_>, _: &Rules, hits: &mut Hits) {
    for site in &subject.sites.objects {
        let strange = site.text("$ref").filter(|it| !is_definition(it, true));
        if strange.is_some() {
            let message = "the reference leads neither to a name in `$defs` nor to the root";
            hits.schema(&site.at("$ref"), "$ref", message);
        }
    }
}

fn is_definition(reference: &str, or_root: bool) -> bool {
    let name = reference.strip_prefix("#/$defs/");
    or_root && reference == "#" || name.is_some_and(|name| !or_root || !name.contains('/'))
}

pub(crate) fn in_all_of(subject: &Subject<'_>, _: &Rules, hits: &mut Hits) {
    for site in subject.sites.objects.iter().filter(|it| it.has("$ref")) {
        if site.role == crate::lint::site::Role::Of("allOf") {
            hits.schema(&site.at("$ref"), "$ref", "a reference stands in `allOf`");
        }
    }
}
