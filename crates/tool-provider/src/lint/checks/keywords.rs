//! Keywords that a provider does not take, and those that it takes without heeding them.

use serde_json::Value;

use crate::lint::subject::{Hits, Subject};
use crate::node::ANNOTATIONS;
use crate::pass::{constrains, is_common, is_regular};
use crate::rules::{Envelope, Rules};

/// What no strict provider compiles.
const NEVER_STRICT: [&str; 19] = [
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "patternProperties",
    "propertyNames",
    "dependentRequired",
    "dependentSchemas",
    "dependencies",
    "unevaluatedProperties",
    "unevaluatedItems",
    "minProperties",
    "maxProperties",
    "prefixItems",
    "contains",
    "minContains",
    "maxContains",
    "additionalItems",
];

/// What the one strict provider refuses and the other takes, or ignores.
const STRICT_ANTHROPIC: [&str; 9] = [
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "maxItems",
    "uniqueItems",
];
const STRICT_OPENAI: [&str; 7] = [
    "allOf",
    "uniqueItems",
    "contentEncoding",
    "contentMediaType",
    "contentSchema",
    "$dynamicRef",
    "$anchor",
];

/// Keywords that a strict provider refuses.
pub(crate) fn strict(subject: &Subject<'_>, rules: &Rules, hits: &mut Hits) {
    let own: &[&str] = match rules.envelope {
        Envelope::Anthropic => &STRICT_ANTHROPIC,
        _ => &STRICT_OPENAI,
    };
    for site in &subject.sites.objects {
        for key in site.map.keys().map(String::as_str) {
            if NEVER_STRICT.contains(&key) || own.contains(&key) {
                hits.schema(&site.at(key), key, format!("`{key}` is not taken"));
                // Other bounds are not taken either.
                hits.fix(match STRICT_ANTHROPIC.contains(&key) {
                    true => in_words(key),
                    false => remedy(key),
                });
            }
        }
        let most = site.map.get("minItems").and_then(Value::as_u64);
        if rules.envelope == Envelope::Anthropic && most.is_some_and(|it| it > 1) {
            let place = site.at("minItems");
            hits.schema(&place, "minItems", "`minItems` is neither 0 nor 1");
            hits.fix("Say the number of items in the description.");
        }
    }
}

/// Patterns that a grammar cannot be made of.
pub(crate) fn patterns(subject: &Subject<'_>, _: &Rules, hits: &mut Hits) {
    for site in &subject.sites.objects {
        if site.text("pattern").is_some_and(|it| !is_regular(it)) {
            let message = "the pattern looks around, refers back, or names a word border";
            hits.schema(&site.at("pattern"), "pattern", message);
        }
    }
}

/// Whatever is no field of the provider's own form of schemas.
pub(crate) fn unknown(subject: &Subject<'_>, rules: &Rules, hits: &mut Hits) {
    let fields = [
        "default",
        "example",
        "nullable",
        "propertyOrdering",
        "title",
    ];
    let Some(kept) = rules.keywords else { return };
    for site in &subject.sites.objects {
        for key in site.map.keys().map(String::as_str) {
            let never = ["additionalProperties", "patternProperties", "$ref"];
            let is_field = fields.contains(&key) || kept.contains(&key) || is_common(key);
            if never.contains(&key) || !is_field {
                hits.schema(
                    &site.at(key),
                    key,
                    format!("`{key}` is no field that it knows"),
                );
                let closes = key == "additionalProperties"
                    && site.map.get(key).is_some_and(Value::is_boolean);
                hits.fix(match closes {
                    true => CLOSING.to_owned(),
                    false => remedy(key),
                });
            }
        }
    }
}

/// Keywords that constrain and that the provider ignores.
pub(crate) fn ignored(subject: &Subject<'_>, rules: &Rules, hits: &mut Hits) {
    let Some(kept) = rules.keywords else { return };
    let no_format = rules.formats == Some(&[]);
    for site in &subject.sites.objects {
        for key in site.map.keys().map(String::as_str) {
            let taken = match key {
                "patternProperties" => false,
                "format" => !no_format,
                // The one provider reads it as `anyOf`, the other as nothing.
                "oneOf" => rules.envelope == Envelope::GeminiJson,
                key => is_common(key) || kept.contains(&key),
            };
            let means = !ANNOTATIONS.contains(&key)
                && !key.starts_with('$')
                && !key.starts_with("x-")
                && constrains(key);
            if means && !taken {
                hits.schema(&site.at(key), key, format!("`{key}` has no effect"));
                hits.fix(remedy(key));
            }
        }
    }
}

/// Whatever combines schemas.
pub(crate) fn combinators(subject: &Subject<'_>, _: &Rules, hits: &mut Hits) {
    let keys = [
        "allOf",
        "oneOf",
        "not",
        "if",
        "prefixItems",
        "patternProperties",
    ];
    for site in &subject.sites.objects {
        for key in keys.iter().filter(|key| site.has(key)) {
            hits.schema(
                &site.at(key),
                key,
                format!("`{key}` is not known everywhere"),
            );
            hits.fix(remedy(key));
        }
    }
}

/// Combinators at the root of the schema.
pub(crate) fn at_root(subject: &Subject<'_>, rules: &Rules, hits: &mut Hits) {
    let keys: &[&str] = match rules.envelope {
        Envelope::Anthropic => &["allOf", "anyOf", "oneOf"],
        _ => &["allOf", "anyOf", "oneOf", "enum", "not"],
    };
    let Some(root) = subject.sites.objects.first() else {
        return;
    };
    for key in keys.iter().filter(|key| root.has(key)) {
        hits.schema(&root.at(key), key, format!("`{key}` stands at the root"));
    }
}

/// What one provider refuses and strict ones demand.
const CLOSING: &str = "Leave it where strict providers are to take the tool: clients for this one drop it, and the tool checks for unknown keys.";

fn in_words(key: &str) -> String {
    format!("Say in the description what `{key}` demands, and check it in the tool.")
}

/// What an author does about a keyword.
fn remedy(key: &str) -> String {
    let text = match key {
        "oneOf" => {
            "Write `anyOf`, and tell the alternatives apart by a property that each requires with another single `enum` value."
        }
        "allOf" => "Write the parts together as one schema.",
        "not" | "if" | "then" | "else" | "dependentRequired" | "dependentSchemas"
        | "dependencies" => "Say the condition in a description, and check it in the tool.",
        "patternProperties"
        | "propertyNames"
        | "unevaluatedProperties"
        | "additionalProperties"
        | "minProperties"
        | "maxProperties" => {
            "Name the keys in `properties`, or take a list of objects with a key and a value; a client drops this one, and the tool checks it."
        }
        "prefixItems" | "additionalItems" | "unevaluatedItems" => {
            "Take an object with a property for each place, or one schema for all items."
        }
        "const" => "Write `enum` with the one value.",
        "exclusiveMinimum" | "exclusiveMaximum" => {
            "Write the bound that takes the value in, where the type allows it, and say it in the description."
        }
        "$ref" | "$defs" | "definitions" => {
            "Write what is referred to in its place, or offer the tool to clients that do; none can where it refers to itself."
        }
        "$schema" | "$id" | "$anchor" | "$comment" | "$dynamicRef" => {
            "Leave it out unless the schema needs it; clients for this provider have to drop it."
        }
        "examples" | "deprecated" | "readOnly" | "writeOnly" => "Say it in the description.",
        _ => {
            return format!(
                "Say in the description what `{key}` demands, and check it in the tool."
            );
        }
    };
    text.to_owned()
}

/// Keywords that JSON Schema does not know and that hold a schema: properties, most likely.
pub(crate) fn misplaced(subject: &Subject<'_>, _: &Rules, hits: &mut Hits) {
    for site in &subject.sites.objects {
        for (key, value) in site.map {
            let holds_schema = value.get("type").is_some_and(Value::is_string);
            let known = constrains(key) || ANNOTATIONS.contains(&key.as_str());
            let reserved = key.starts_with('$') || key.starts_with("x-");
            let named = ["definitions", "contentSchema", "additionalItems"];
            if holds_schema && !known && !reserved && !named.contains(&key.as_str()) {
                let message = format!("`{key}` is no keyword, and holds a schema");
                hits.schema(&site.at(key), key, message);
            }
        }
    }
}
