//! What holds for every provider: a schema that is one, and that can be followed.

use jsonschema::PatternOptions;
use serde_json::{Value, json};
use tool_core::SchemaError;

use crate::dialect::Dialect;
use crate::lint::site::token;
use crate::lint::subject::{Engine, Hit, Hits, Subject};
use crate::rules::{Metaschema, Rules};

/// Errors of a metaschema that are reported of one schema.
const MOST_ERRORS: usize = 20;

pub(crate) fn root_type(subject: &Subject<'_>, _: &Rules, hits: &mut Hits) {
    let Some(schema) = subject.schema else { return };
    match schema.get("type") {
        Some(kind) if kind == "object" || kind == "OBJECT" => {}
        Some(_) => hits.schema("/type", "type", "the type at the root is not \"object\""),
        None => hits.schema("", "type", "the root names no type"),
    }
}

pub(crate) fn dialect(subject: &Subject<'_>, _: &Rules, hits: &mut Hits) {
    let Some(schema) = subject.schema else { return };
    if let Err(address) = Dialect::of(schema) {
        let message = format!("\"{}\" is no dialect that is known", address.escape_debug());
        hits.schema("/$schema", "$schema", message);
    }
}

pub(crate) fn bounded(subject: &Subject<'_>, _: &Rules, hits: &mut Hits) {
    if let Some(problem @ (SchemaError::TooDeep | SchemaError::TooLarge)) = &subject.unbounded {
        hits.schema("", "", format!("the {problem}"));
    }
}

/// Validity by the metaschema that the provider holds definitions against.
pub(crate) fn valid(subject: &Subject<'_>, rules: &Rules, hits: &mut Hits) {
    let dialect = match rules.metaschema {
        Metaschema::None => return others(subject, hits),
        Metaschema::Draft7 => Dialect::Draft7,
        Metaschema::Draft2020 => Dialect::Draft2020,
        Metaschema::Declared => match subject.dialect() {
            Some(dialect) => dialect,
            None => return,
        },
    };
    hits.0.extend_from_slice(&subject.invalid(dialect, invalid));
}

/// What is wrong by a metaschema.
pub(super) fn invalid(schema: &Value, dialect: Dialect) -> Vec<Hit> {
    let validator = match dialect {
        Dialect::Draft4 => jsonschema::draft4::meta::validator(),
        Dialect::Draft6 => jsonschema::draft6::meta::validator(),
        Dialect::Draft7 => jsonschema::draft7::meta::validator(),
        Dialect::Draft2019 => jsonschema::draft201909::meta::validator(),
        Dialect::Draft2020 => jsonschema::draft202012::meta::validator(),
    };
    let mut hits = Hits::default();
    if validator.is_valid(schema) {
        return hits.0;
    }
    let mut seen: Vec<String> = Vec::new();
    for error in validator.iter_errors(schema).take(MOST_ERRORS) {
        let place = error.instance_path().as_str().to_owned();
        if seen.contains(&place) {
            continue;
        }
        let keyword = last(&place).to_owned();
        let message = format!("by {}, {}", dialect.name(), error.masked());
        hits.schema(&place, &keyword, message);
        if let Some(fix) = remedy(&keyword, schema.pointer(&place)) {
            hits.fix(fix);
        }
        seen.push(place);
    }
    hits.0
}

/// Places where a schema has to be and none is, for those who check nothing else.
fn others(subject: &Subject<'_>, hits: &mut Hits) {
    for other in subject
        .sites
        .others
        .iter()
        .filter(|it| !it.value.is_boolean())
    {
        let place = &other.pointer;
        hits.schema(place, "", "there is no schema where one has to be");
        if let Some(fix) = remedy(last(place), Some(other.value)) {
            hits.fix(fix);
        }
    }
}

fn last(place: &str) -> &str {
    place.rsplit('/').next().unwrap_or_default()
}

/// What authors mostly meant.
fn remedy(keyword: &str, value: Option<&Value>) -> Option<&'static str> {
    Some(match (keyword, value?) {
        ("items", Value::Array(_)) => {
            "Write `prefixItems` for the list, and `items` for what follows it."
        }
        ("required", Value::Bool(_)) => {
            "List the name in `required` of the object that holds the property."
        }
        ("exclusiveMinimum" | "exclusiveMaximum", Value::Bool(_)) => {
            "Write the bound itself here, and leave out the one beside it."
        }
        ("type", _) => {
            "Name one or several of string, number, integer, boolean, object, array and null."
        }
        ("enum", Value::Array(_)) => "List at least one value.",
        (_, Value::Null) => "Leave the keyword out, or give it a value.",
        _ => return None,
    })
}

/// Patterns that no engine reads.
pub(crate) fn pattern_unreadable(subject: &Subject<'_>, _: &Rules, hits: &mut Hits) {
    let message = "the pattern is no regular expression";
    patterns_of(subject, Engine::None, message, hits);
}

/// Patterns that only an engine that backtracks reads.
pub(crate) fn pattern_backtracks(subject: &Subject<'_>, _: &Rules, hits: &mut Hits) {
    let message = "only an engine that backtracks reads the pattern";
    patterns_of(subject, Engine::Backtracking, message, hits);
}

fn patterns_of(subject: &Subject<'_>, by: Engine, message: &str, hits: &mut Hits) {
    for (place, engine) in subject.patterns(patterns) {
        if *engine == by {
            hits.schema(place, "pattern", message);
        }
    }
}

fn patterns(subject: &Subject<'_>) -> Vec<(String, Engine)> {
    let mut found = Vec::new();
    for site in &subject.sites.objects {
        if let Some(pattern) = site.text("pattern") {
            found.push((site.at("pattern"), engine(pattern)));
        }
        let keys = site.map.get("patternProperties").and_then(Value::as_object);
        for pattern in keys.into_iter().flatten().map(|(pattern, _)| pattern) {
            let place = format!("{}/{}", site.at("patternProperties"), token(pattern));
            found.push((place, engine(pattern)));
        }
    }
    found
}

/// The engine that the pipeline would take.
fn engine(pattern: &str) -> Engine {
    let schema = json!({"pattern": pattern});
    let options = || jsonschema::options().offline();
    let linear = options().with_pattern_options(PatternOptions::regex());
    if linear.build(&schema).is_ok() {
        return Engine::Any;
    }
    let backtracking = options().with_pattern_options(PatternOptions::fancy_regex());
    match backtracking.build(&schema) {
        Ok(_) => Engine::Backtracking,
        Err(_) => Engine::None,
    }
}

/// Keywords beside a reference that the dialect does not read.
pub(crate) fn beside_reference(subject: &Subject<'_>, _: &Rules, hits: &mut Hits) {
    let Some(schema) = subject.walked() else {
        return;
    };
    if crate::lint::site::reads_beside_ref(schema) {
        return;
    }
    for site in subject.sites.objects.iter().filter(|site| site.has("$ref")) {
        let lost = site.map.keys().find(|key| {
            !key.starts_with('$')
                && *key != "definitions"
                && !crate::node::ANNOTATIONS.contains(&key.as_str())
        });
        if let Some(lost) = lost {
            let message = format!("the dialect ignores `{lost}`, as it stands beside a reference");
            hits.schema(&site.at(lost), lost, message);
        }
    }
}

/// Keywords that are about a type that the schema does not take.
pub(crate) fn idle(subject: &Subject<'_>, _: &Rules, hits: &mut Hits) {
    for site in &subject.sites.objects {
        let Some(types) = site.types().filter(|types| !types.is_empty()) else {
            continue;
        };
        for key in site.map.keys() {
            let about = crate::pass::about(key);
            if key != "format" && !about.is_empty() && !types.meets(about) {
                let names = about.names().join(" or ");
                let message = format!("`{key}` is about {names}, which the type rules out");
                hits.schema(&site.at(key), key, message);
            }
        }
    }
}
