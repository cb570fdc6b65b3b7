//! What one definition may hold at the most.

use serde_json::Value;

use crate::lint::subject::{Hits, Subject};
use crate::rules::Rules;

/// Depth, properties, enumerated values, characters and bytes.
pub(crate) fn schema(subject: &Subject<'_>, rules: &Rules, hits: &mut Hits) {
    let Some(schema) = subject.walked() else {
        return;
    };
    let most = rules.schema;
    let (mut depth, mut properties, mut values, mut characters) = (0, 0, 0, 0);
    for site in &subject.sites.objects {
        depth = depth.max(site.levels);
        for (name, _) in site.properties().into_iter().flatten() {
            properties += 1;
            characters += name.chars().count();
        }
        let listed = site.list("enum").map(Vec::as_slice).unwrap_or_default();
        values += listed.len();
        let texts = listed
            .iter()
            .chain(site.map.get("const"))
            .filter_map(Value::as_str);
        characters += texts.map(|it| it.chars().count()).sum::<usize>();
    }
    let bytes = if most.bytes == usize::MAX {
        0
    } else {
        schema.to_string().len()
    };
    for (is, most, what) in [
        (depth, most.depth, "levels of objects and arrays"),
        (properties, most.properties, "properties"),
        (values, most.enum_values, "enumerated values"),
        (
            characters,
            most.characters,
            "characters in names and values",
        ),
        (bytes, most.bytes, "bytes"),
    ] {
        if is > most {
            hits.schema(
                "",
                "",
                format!("the schema has {is} {what}, and may have {most}"),
            );
        }
    }
    enumerations(subject, rules, hits);
}

/// Single enumerations.
fn enumerations(subject: &Subject<'_>, rules: &Rules, hits: &mut Hits) {
    for site in &subject.sites.objects {
        let Some(values) = site.list("enum") else {
            continue;
        };
        if let Some(over) = rules.schema.enumeration.excess(values) {
            hits.schema(
                &site.at("enum"),
                "enum",
                format!("the enumeration has {over}"),
            );
        }
    }
}

/// Properties that may be left out, and places with alternatives, of which one request takes few.
pub(crate) fn optional(subject: &Subject<'_>, rules: &Rules, hits: &mut Hits) {
    let counts = subject.sites.objects.iter().map(|site| {
        let required: Vec<&str> = site.required().collect();
        let names = site.properties().into_iter().flatten();
        names
            .filter(|(name, _)| !required.contains(&name.as_str()))
            .count()
    });
    let (is, most) = (counts.sum::<usize>(), rules.request.optional);
    if is > most {
        let message = format!("{is} properties may be left out, and {most} may in one request");
        hits.schema("", "required", message);
    }
}

pub(crate) fn unions(subject: &Subject<'_>, rules: &Rules, hits: &mut Hits) {
    let several = subject
        .sites
        .objects
        .iter()
        .filter(|site| site.has("anyOf") || site.map.get("type").is_some_and(Value::is_array));
    let (is, most) = (several.count(), rules.request.unions);
    if is > most {
        let message = format!("{is} places have alternatives, and {most} may in one request");
        hits.schema("", "anyOf", message);
    }
}
