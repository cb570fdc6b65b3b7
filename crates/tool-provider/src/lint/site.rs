//! A schema as its author wrote it: every subschema with its place, and where references lead.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::ptr;

use serde_json::{Map, Value};

use crate::dialect::Dialect;
use crate::node::anchors::{Anchors, own_id, percent_decoded};
use crate::node::{Place, TypeSet, pointers};

/// One subschema that is an object.
#[derive(Debug)]
pub(crate) struct Site<'a> {
    /// Its place in the schema, as a JSON pointer.
    pub(crate) pointer: String,
    pub(crate) map: &'a Map<String, Value>,
    pub(crate) role: Role<'a>,
    /// The place of the document that its references are relative to.
    base: String,
    /// The length of the place of the innermost property around it that may be left out.
    pub(crate) optional: usize,
    /// Levels of objects and arrays around it.
    pub(crate) levels: usize,
}

/// What a subschema is to the one that holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role<'a> {
    Root,
    /// A property of that name.
    Property(&'a str),
    /// Below this keyword.
    Of(&'a str),
}

/// Where a reference leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// To this place of the same schema.
    Place(String),
    Nowhere,
    Outside,
}

/// A subschema that is no schema or a boolean.
#[derive(Debug)]
pub(crate) struct Bare<'a> {
    pub(crate) pointer: String,
    pub(crate) value: &'a Value,
    pub(crate) role: Role<'a>,
}

/// Every subschema of a schema, in the order of their places.
#[derive(Debug, Default)]
pub(crate) struct Sites<'a> {
    pub(crate) objects: Vec<Site<'a>>,
    /// Places where a schema has to be and no object is.
    pub(crate) others: Vec<Bare<'a>>,
    /// What was walked.
    schema: Option<&'a Value>,
    named: OnceCell<Addresses<'a>>,
    /// Where references lead, by the schema that each stands in: several rules ask.
    targets: RefCell<BTreeMap<(usize, &'a str), Target>>,
}

/// What references may name, with the places of it.
#[derive(Debug)]
struct Addresses<'a> {
    anchors: Anchors<'a>,
    /// Pointers, by where the value is in memory.
    pointers: BTreeMap<usize, String>,
}

impl<'a> Addresses<'a> {
    fn of(schema: &'a Value) -> Self {
        let anchors = Anchors::of(schema);
        let places: Vec<Place<'a>> = anchors.all().map(Place::of).collect();
        let addresses = anchors.all().map(|value| ptr::from_ref(value).addr());
        let pointers = addresses.zip(pointers(schema, &places)).collect();
        Self { anchors, pointers }
    }

    fn pointer(&self, value: Option<&'a Value>) -> Option<String> {
        self.pointers.get(&ptr::from_ref(value?).addr()).cloned()
    }
}

const MAPS: [&str; 5] = [
    "properties",
    "patternProperties",
    "dependentSchemas",
    "$defs",
    "definitions",
];
const LISTS: [&str; 4] = ["allOf", "anyOf", "oneOf", "prefixItems"];
const SINGLE: [&str; 12] = [
    "additionalItems",
    "additionalProperties",
    "unevaluatedItems",
    "unevaluatedProperties",
    "propertyNames",
    "contains",
    "contentSchema",
    "not",
    "if",
    "then",
    "else",
    "items",
];

impl<'a> Sites<'a> {
    /// Walks a schema whose depth is known to be bounded.
    pub(crate) fn of(schema: &'a Value) -> Self {
        let mut sites = Self {
            schema: Some(schema),
            ..Self::default()
        };
        sites.visit(schema, &Site::above_root(), String::new(), Role::Root);
        sites
    }

    fn visit(&mut self, value: &'a Value, above: &Site<'a>, pointer: String, role: Role<'a>) {
        let Value::Object(map) = value else {
            self.others.push(Bare {
                pointer,
                value,
                role,
            });
            return;
        };
        let names_itself = own_id(map).is_some_and(|id| !id.starts_with('#'));
        let optional = match role {
            Role::Property(name) if !above.requires(name) => pointer.len(),
            _ => above.optional,
        };
        let nests = ["properties", "items", "prefixItems"]
            .iter()
            .any(|key| map.contains_key(*key));
        let site = Site {
            base: if names_itself {
                pointer.clone()
            } else {
                above.base.clone()
            },
            pointer,
            map,
            role,
            optional,
            levels: above.levels + usize::from(nests),
        };
        let below: Vec<_> = site.below();
        // The keywords of one schema stand together, ahead of those below it.
        let at = self.objects.len();
        self.objects.push(site);
        let Some(site) = self.objects.get(at).map(Site::shallow) else {
            return;
        };
        for (pointer, value, role) in below {
            self.visit(value, &site, pointer, role);
        }
    }

    /// Where a reference of one of them leads.
    pub(crate) fn target(&self, site: &Site<'a>, reference: &'a str) -> Target {
        let key = (ptr::from_ref(site.map).addr(), reference);
        let mut targets = self.targets.borrow_mut();
        let target = targets.entry(key);
        let target = target.or_insert_with(|| self.find(site, reference));
        target.clone()
    }

    fn find(&self, site: &Site<'a>, reference: &str) -> Target {
        let Some(schema) = self.schema else {
            return Target::Nowhere;
        };
        let named = || self.named.get_or_init(|| Addresses::of(schema));
        let (address, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let base = if address.is_empty() {
            site.base.clone()
        } else {
            match named().pointer(named().anchors.embedded(address)) {
                Some(pointer) => pointer,
                None => return Target::Outside,
            }
        };
        let fragment = percent_decoded(fragment);
        let pointer = if fragment.is_empty() {
            base
        } else if fragment.starts_with('/') {
            format!("{base}{fragment}")
        } else {
            match named().pointer(named().anchors.named(&fragment)) {
                Some(pointer) => pointer,
                None => return Target::Nowhere,
            }
        };
        match schema.pointer(&pointer) {
            Some(Value::Object(_) | Value::Bool(_)) => Target::Place(pointer),
            _ => Target::Nowhere,
        }
    }
}

impl<'a> Site<'a> {
    fn above_root() -> Self {
        static EMPTY: std::sync::LazyLock<Map<String, Value>> = std::sync::LazyLock::new(Map::new);
        Self {
            pointer: String::new(),
            map: &EMPTY,
            role: Role::Root,
            base: String::new(),
            optional: 0,
            levels: 0,
        }
    }

    fn shallow(&self) -> Self {
        Self {
            pointer: self.pointer.clone(),
            map: self.map,
            role: self.role,
            base: self.base.clone(),
            optional: self.optional,
            levels: self.levels,
        }
    }

    /// The subschemas right below, with their places.
    fn below(&self) -> Vec<(String, &'a Value, Role<'a>)> {
        let mut below = Vec::new();
        for (key, value) in self.map {
            let key = key.as_str();
            if let Value::Object(named) = value
                && (MAPS.contains(&key) || key == "dependencies")
            {
                for (name, value) in named {
                    if key == "dependencies" && value.is_array() {
                        continue;
                    }
                    let role = match key {
                        "properties" => Role::Property(name),
                        _ => Role::Of(key),
                    };
                    below.push((format!("{}/{}", self.at(key), token(name)), value, role));
                }
            } else if let Value::Array(values) = value
                && (LISTS.contains(&key) || key == "items")
            {
                for (index, value) in values.iter().enumerate() {
                    below.push((format!("{}/{index}", self.at(key)), value, Role::Of(key)));
                }
            } else if SINGLE.contains(&key) && !value.is_null() {
                below.push((self.at(key), value, Role::Of(key)));
            }
        }
        below
    }

    pub(crate) fn has(&self, keyword: &str) -> bool {
        self.map.contains_key(keyword)
    }

    /// The place of a keyword of it.
    pub(crate) fn at(&self, keyword: &str) -> String {
        format!("{}/{}", self.pointer, token(keyword))
    }

    pub(crate) fn text(&self, keyword: &str) -> Option<&'a str> {
        self.map.get(keyword).and_then(Value::as_str)
    }

    pub(crate) fn list(&self, keyword: &str) -> Option<&'a Vec<Value>> {
        self.map.get(keyword).and_then(Value::as_array)
    }

    pub(crate) fn properties(&self) -> Option<&'a Map<String, Value>> {
        self.map.get("properties").and_then(Value::as_object)
    }

    /// The types that it names, in either case, as one provider writes them in capitals.
    pub(crate) fn types(&self) -> Option<TypeSet> {
        let lower = |value: &Value| match value {
            Value::String(name) => Value::from(name.to_ascii_lowercase()),
            value => value.clone(),
        };
        let types = match self.map.get("type")? {
            Value::Array(names) => names.iter().map(lower).collect(),
            name => lower(name),
        };
        Some(TypeSet::of_keyword(&types))
    }

    /// Whether it takes values of this type because it says so.
    pub(crate) fn is(&self, kind: TypeSet) -> bool {
        self.types().is_some_and(|types| types.has(kind))
    }

    /// The names that are required.
    pub(crate) fn required(&self) -> impl Iterator<Item = &'a str> {
        let names = self.list("required").into_iter().flatten();
        names.filter_map(Value::as_str)
    }

    fn requires(&self, name: &str) -> bool {
        self.required().any(|it| it == name)
    }
}

/// A name as a JSON pointer writes it.
pub(crate) fn token(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// Whether keywords beside a reference count in the dialect of a schema.
pub(crate) fn reads_beside_ref(schema: &Value) -> bool {
    Dialect::of(schema).is_ok_and(Dialect::reads_beside_ref)
}
