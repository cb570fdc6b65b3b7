//! From a schema to its plan.

use serde_json::{Map, Value};

use super::{Object, Plan, Property, Range, Rules, Types};

/// The dialect that is read here, which is also that of schemas that name none.
const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";
/// What says something about the value.
const ASSERTS: [&str; 14] = [
    "type",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "minItems",
    "maxItems",
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "enum",
    "const",
    "anyOf",
];
/// The most properties, one for each bit of a word.
const MOST_PROPERTIES: usize = 64;

pub(super) fn root(schema: &Value) -> Plan {
    let dialect = schema.get("$schema");
    if dialect.is_none_or(|dialect| dialect == DIALECT) {
        plan(schema, true)
    } else {
        Plan::Unknown
    }
}

fn plan(schema: &Value, is_root: bool) -> Plan {
    match schema {
        Value::Bool(true) => Plan::Anything,
        Value::Bool(false) => Plan::Nothing,
        Value::Object(map) if map.keys().all(|key| is_understood(key, is_root)) => {
            rules(map).map_or(Plan::Unknown, |rules| made(map, rules))
        }
        _ => Plan::Unknown,
    }
}

/// Most places have nothing but a type.
fn made(map: &Map<String, Value>, rules: Rules) -> Plan {
    let others = ASSERTS.iter().filter(|keyword| **keyword != "type");
    match rules.types {
        Some(types) if !others.into_iter().any(|keyword| map.contains_key(*keyword)) => {
            Plan::Typed(types)
        }
        _ => Plan::Rules(Box::new(rules)),
    }
}

fn is_understood(keyword: &str, is_root: bool) -> bool {
    // What only describes, in this dialect.
    let describes = [
        "title",
        "description",
        "default",
        "examples",
        "deprecated",
        "readOnly",
        "writeOnly",
        "$comment",
        "format",
    ];
    ASSERTS.contains(&keyword) || describes.contains(&keyword) || (is_root && keyword == "$schema")
}

/// The rules of a schema whose keywords are all understood; nothing where one of them says
/// something that is not.
fn rules(map: &Map<String, Value>) -> Option<Rules> {
    Some(Rules {
        types: map.get("type").map(types).transpose_known()?,
        allowed: allowed(map)?,
        any_of: any_of(map)?,
        integer: Range {
            least: bound(map, "minimum", integer)?,
            most: bound(map, "maximum", integer)?,
        },
        length: Range {
            least: bound(map, "minLength", size)?,
            most: bound(map, "maxLength", size)?,
        },
        count: Range {
            least: bound(map, "minItems", size)?,
            most: bound(map, "maxItems", size)?,
        },
        items: map.get("items").map(|items| plan(items, false)),
        object: object(map)?,
    })
}

/// A part that may be absent, but not of an unknown sort.
trait Known<T> {
    fn transpose_known(self) -> Option<Option<T>>;
}

impl<T> Known<T> for Option<Option<T>> {
    fn transpose_known(self) -> Option<Option<T>> {
        match self {
            None => Some(None),
            Some(part) => part.map(Some),
        }
    }
}

fn types(said: &Value) -> Option<Types> {
    let one = |name: &Value| {
        Some(match name.as_str()? {
            "null" => Types::NULL,
            "boolean" => Types::BOOLEAN,
            "integer" => Types::INTEGER,
            "number" => Types::NUMBER,
            "string" => Types::STRING,
            "array" => Types::ARRAY,
            "object" => Types::OBJECT,
            _ => return None,
        })
    };
    match said {
        Value::Array(names) => names
            .iter()
            .try_fold(Types::default(), |all, name| Some(all.and(one(name)?))),
        name => one(name),
    }
}

fn allowed(map: &Map<String, Value>) -> Option<Option<Vec<String>>> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    match (map.get("enum"), map.get("const")) {
        (None, None) => Some(None),
        (Some(Value::Array(values)), None) => {
            values.iter().map(text).collect::<Option<_>>().map(Some)
        }
        (None, Some(value)) => Some(Some(vec![text(value)?])),
        _ => None,
    }
}

fn any_of(map: &Map<String, Value>) -> Option<Vec<Plan>> {
    match map.get("anyOf") {
        None => Some(Vec::new()),
        Some(Value::Array(forms)) if !forms.is_empty() => {
            Some(forms.iter().map(|form| plan(form, false)).collect())
        }
        Some(_) => None,
    }
}

fn bound<T>(
    map: &Map<String, Value>,
    keyword: &str,
    read: impl Fn(&Value) -> Option<T>,
) -> Option<Option<T>> {
    map.get(keyword).map(read).transpose_known()
}

fn integer(said: &Value) -> Option<i128> {
    let signed = said.as_i64().map(i128::from);
    signed.or_else(|| said.as_u64().map(i128::from))
}

fn size(said: &Value) -> Option<usize> {
    said.as_u64().and_then(|said| usize::try_from(said).ok())
}

fn object(map: &Map<String, Value>) -> Option<Option<Object>> {
    let (described, required) = (map.get("properties"), map.get("required"));
    let additional = map.get("additionalProperties");
    if described.is_none() && required.is_none() && additional.is_none() {
        return Some(None);
    }
    let mut properties = Vec::new();
    if let Some(described) = described {
        for (name, schema) in described.as_object()? {
            properties.push(Property {
                name: name.clone(),
                plan: Some(plan(schema, false)),
            });
        }
    }
    let mut bits = 0_u64;
    if let Some(required) = required {
        for name in required.as_array()? {
            let name = name.as_str()?;
            let found = properties.iter().position(|one| one.name == name);
            let index = found.unwrap_or(properties.len());
            if found.is_none() {
                properties.push(Property {
                    name: name.to_owned(),
                    plan: None,
                });
            }
            bits |= 1_u64.checked_shl(u32::try_from(index).ok()?)?;
        }
    }
    if properties.len() > MOST_PROPERTIES {
        return None;
    }
    Some(Some(Object {
        properties,
        required: bits,
        additional: additional.map_or(Plan::Anything, |schema| plan(schema, false)),
    }))
}
