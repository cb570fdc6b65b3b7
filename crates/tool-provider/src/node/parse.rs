//! From a schema of any dialect to nodes that mean the same in 2020-12.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::anchors::{anchored, embedded, own_id, percent_decoded};
use super::{ANNOTATIONS, Key, Keys, Node, Place, Slot, TypeSet, key_of};
use crate::dialect::Dialect;

/// A schema with what it refers to.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    pub(crate) root: Node,
    /// What references name. The root itself goes by the empty name.
    pub(crate) defs: BTreeMap<String, Node>,
    /// Whether anything refers to anything.
    pub(crate) refers: bool,
}

impl Document {
    /// What references lead to, beside what is worked on. Nothing is copied where there are none.
    pub(crate) fn referred(&self) -> Self {
        match self.refers {
            true => self.clone(),
            false => Self {
                root: Node::default(),
                defs: BTreeMap::new(),
                refers: false,
            },
        }
    }
}

/// Why a schema cannot be read.
#[derive(Debug)]
pub(crate) struct ParseFault {
    pub(crate) place: Place,
    pub(crate) reason: String,
}

/// Nodes that are read at the most, with those that are reached by several references.
const MOST_NODES: usize = 40_000;

/// Reads a schema, and whatever it refers to.
pub(crate) fn parse(schema: &Value) -> Result<Document, ParseFault> {
    let dialect = Dialect::of(schema).map_err(|address| ParseFault {
        place: Place::root(),
        reason: format!(
            "the schema is written in \"{address}\", which is no dialect that is known"
        ),
    })?;
    let mut reader = Reader {
        schema,
        dialect,
        names: BTreeMap::new(),
        pending: Vec::new(),
        nodes: 0,
        refers: false,
    };
    let root = reader.node(schema, &Place::root(), "")?;
    let mut defs = BTreeMap::new();
    while let Some((name, pointer, base)) = reader.pending.pop() {
        if let Some(target) = schema.pointer(&pointer) {
            let node = reader.node(target, &Place::of_pointer(&pointer), &base)?;
            defs.insert(name, node);
        }
    }
    let refers = reader.refers;
    Ok(Document { root, defs, refers })
}

struct Reader<'a> {
    schema: &'a Value,
    dialect: Dialect,
    /// The name of every pointer that something refers to.
    names: BTreeMap<String, String>,
    pending: Vec<(String, String, String)>,
    nodes: usize,
    refers: bool,
}

impl Reader<'_> {
    /// Reads one schema. `base` is the pointer of the document that references are relative to.
    fn node(&mut self, value: &Value, place: &Place, base: &str) -> Result<Node, ParseFault> {
        self.nodes += 1;
        if self.nodes > MOST_NODES {
            return Err(fault(
                place,
                "the schema is too large once its references are followed",
            ));
        }
        let map = match value {
            Value::Bool(yes) => {
                let mut node = Node::at(place.clone());
                node.never = !yes;
                return Ok(node);
            }
            Value::Object(map) => map,
            _ => return Err(fault(place, "there is no schema where one has to be")),
        };
        let inner = own_id(map)
            .filter(|id| !id.starts_with('#'))
            .map(|_| place.to_string());
        let base = inner.as_deref().unwrap_or(base);

        let mut node = Node::at(place.clone());
        node.keys = Keys::with_capacity(map.len());
        let alone = !self.dialect.reads_beside_ref() && map.contains_key("$ref");
        for (key, value) in map {
            if (alone && key != "$ref" && !ANNOTATIONS.contains(&&**key))
                || !self.dialect.knows(key)
                || value.is_null() && !matches!(key.as_str(), "const" | "default" | "example")
            {
                continue;
            }
            let key = key_of(key);
            if let Some(slot) = self.slot(&key, value, map, place, base)? {
                node.keys.insert(key, slot);
            }
        }
        self.upgrade(&mut node);
        Ok(node)
    }

    /// The value of a keyword of the schema that stands at a place.
    fn slot(
        &mut self,
        key: &Key,
        value: &Value,
        map: &Map<String, Value>,
        place: &Place,
        base: &str,
    ) -> Result<Option<Slot>, ParseFault> {
        let here = || place.below(key.clone());
        Ok(Some(match &**key {
            // Names of places, which nothing asks for once references are resolved.
            "$schema" | "$id" | "$anchor" | "$dynamicAnchor" | "$recursiveAnchor"
            | "$vocabulary" | "$comment" | "$defs" | "definitions" => return Ok(None),
            // `id` is a property's name as often as it is draft 4.
            "id" if value.is_string() => return Ok(None),
            "$ref" | "$recursiveRef" | "$dynamicRef" => {
                let Some(reference) = value.as_str() else {
                    return Err(fault(&here(), "a reference is no text"));
                };
                let name = self.name_of(reference, &here(), base)?;
                self.refers = true;
                if &**key != "$ref" && map.contains_key("$ref") {
                    return Ok(None);
                }
                Slot::Plain(Value::String(name))
            }
            "items" if value.is_array() => self.list(value, &here(), base)?,
            "items"
            | "additionalItems"
            | "additionalProperties"
            | "unevaluatedProperties"
            | "unevaluatedItems"
            | "propertyNames"
            | "contains"
            | "not"
            | "if"
            | "then"
            | "else" => Slot::One(Box::new(self.node(value, &here(), base)?)),
            "allOf" | "anyOf" | "oneOf" | "prefixItems" => self.list(value, &here(), base)?,
            "properties" | "patternProperties" | "dependentSchemas" => {
                let place = here();
                let Value::Object(named) = value else {
                    return Err(fault(
                        &place,
                        "there is no map of schemas where one has to be",
                    ));
                };
                let mut nodes = BTreeMap::new();
                for (name, value) in named {
                    let node = self.node(value, &place.below(name.clone()), base)?;
                    nodes.insert(name.clone(), node);
                }
                Slot::Map(nodes)
            }
            "dependencies" => return self.dependencies(value, &here(), base),
            "type" => {
                let types = TypeSet::of_keyword(value);
                if types.is_empty() {
                    return Err(fault(
                        &here(),
                        "the type is none of the seven that there are",
                    ));
                }
                Slot::Types(types)
            }
            "required" => {
                // A boolean is draft 3, and was ignored ever since.
                let Some(names) = value.as_array() else {
                    return Ok(None);
                };
                let mut names: Vec<&str> = names.iter().filter_map(Value::as_str).collect();
                names.sort_unstable();
                names.dedup();
                if names.is_empty() {
                    return Ok(None);
                }
                Slot::Plain(Value::from(names))
            }
            "enum" if !value.is_array() => return Ok(None),
            "description" | "title" | "pattern" | "format" if !value.is_string() => {
                return Ok(None);
            }
            _ => Slot::Plain(value.clone()),
        }))
    }

    fn list(&mut self, value: &Value, place: &Place, base: &str) -> Result<Slot, ParseFault> {
        let Value::Array(values) = value else {
            return Err(fault(
                place,
                "there is no list of schemas where one has to be",
            ));
        };
        let nodes: Result<Vec<Node>, ParseFault> = values
            .iter()
            .enumerate()
            .map(|(index, value)| self.node(value, &place.below(index.to_string()), base))
            .collect();
        Ok(Slot::List(nodes?))
    }

    /// `dependencies` holds what two keywords hold since.
    fn dependencies(
        &mut self,
        value: &Value,
        place: &Place,
        base: &str,
    ) -> Result<Option<Slot>, ParseFault> {
        let Value::Object(named) = value else {
            return Ok(None);
        };
        let mut schemas = BTreeMap::new();
        for (name, value) in named {
            let place = place.below(name.clone());
            let node = if value.is_array() {
                let mut node = Node::at(place);
                node.set("required", value.clone());
                node
            } else {
                self.node(value, &place, base)?
            };
            schemas.insert(name.clone(), node);
        }
        Ok(Some(Slot::Map(schemas)))
    }

    /// Gives keywords that changed their meaning the one that they have in 2020-12.
    fn upgrade(&self, node: &mut Node) {
        if let Some(slot) = node
            .take("$recursiveRef")
            .or_else(|| node.take("$dynamicRef"))
        {
            node.keys.insert("$ref", slot);
        }
        if let Some(Slot::List(prefix)) = node.keys.get("items") {
            let prefix = prefix.clone();
            node.take("items");
            if let Some(rest) = node.take_one("additionalItems") {
                node.set_one("items", rest);
            }
            node.set_list("prefixItems", prefix);
        } else {
            node.take("additionalItems");
        }
        if let Some(slot) = node.take("dependencies") {
            node.keys.insert("dependentSchemas", slot);
        }
        if self.dialect == Dialect::Draft4 {
            for (flag, bound) in [
                ("exclusiveMinimum", "minimum"),
                ("exclusiveMaximum", "maximum"),
            ] {
                match node.plain(flag) {
                    Some(Value::Bool(true)) => {
                        node.take(flag);
                        if let Some(slot) = node.take(bound) {
                            node.keys.insert(flag, slot);
                        }
                    }
                    Some(Value::Bool(false)) => {
                        node.take(flag);
                    }
                    _ => {}
                }
            }
        }
    }

    /// The name of what a reference points to.
    fn name_of(
        &mut self,
        reference: &str,
        place: &Place,
        base: &str,
    ) -> Result<String, ParseFault> {
        let (address, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let base = if address.is_empty() {
            base.to_owned()
        } else {
            match embedded(self.schema, address, "") {
                Some(pointer) => pointer,
                None => {
                    return Err(fault(
                        place,
                        "a reference leads out of the schema, and is not followed",
                    ));
                }
            }
        };
        let fragment = percent_decoded(fragment);
        let pointer = if fragment.is_empty() {
            base.clone()
        } else if fragment.starts_with('/') {
            format!("{base}{fragment}")
        } else {
            match anchored(self.schema, &fragment, "") {
                Some(pointer) => pointer,
                None => return Err(fault(place, "a reference leads nowhere")),
            }
        };
        match self.schema.pointer(&pointer) {
            Some(Value::Object(_) | Value::Bool(_)) => {}
            Some(_) => {
                return Err(fault(
                    place,
                    "a reference leads to something that is no schema",
                ));
            }
            None => return Err(fault(place, "a reference leads nowhere")),
        }
        if pointer.is_empty() {
            return Ok(String::new());
        }
        if let Some(name) = self.names.get(&pointer) {
            return Ok(name.clone());
        }
        let name = self.new_name(&pointer);
        self.names.insert(pointer.clone(), name.clone());
        self.pending.push((name.clone(), pointer, base));
        Ok(name)
    }

    fn new_name(&self, pointer: &str) -> String {
        let token = pointer.rsplit('/').next().unwrap_or_default();
        let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        let plain: String = token
            .chars()
            .map(|c| if legal(c) { c } else { '_' })
            .collect();
        let plain = if plain.is_empty() {
            "part".to_owned()
        } else {
            plain
        };
        let taken = |name: &str| self.names.values().any(|it| it == name);
        let mut name = plain.clone();
        let mut count = 2;
        while taken(&name) {
            name = format!("{plain}_{count}");
            count += 1;
        }
        name
    }
}

fn fault(place: &Place, reason: &str) -> ParseFault {
    ParseFault {
        place: place.clone(),
        reason: reason.to_owned(),
    }
}
