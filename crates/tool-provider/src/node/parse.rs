//! From a schema of any dialect to nodes that mean the same in 2020-12.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ptr;

use serde_json::{Map, Value};

use super::anchors::{Anchors, own_id, percent_decoded};
use super::entries::Entries;
use super::given_names::GivenNames;
use super::{ANNOTATIONS, Document, Keys, Name, Named, Node, Place, Plain, Slot, TypeSet};
use crate::dialect::Dialect;
use crate::survey::Survey;

/// Why a schema cannot be read.
#[derive(Debug)]
pub(crate) struct ParseFault<'a> {
    pub(crate) place: Place<'a>,
    pub(crate) reason: String,
}

/// Nodes that are read at the most, with those that are reached by several references.
const MOST_NODES: usize = 40_000;

/// Reads a schema, and whatever it refers to.
pub(crate) fn parse(schema: &Value) -> Result<Document<'_>, ParseFault<'_>> {
    let dialect = Dialect::of(schema).map_err(|address| ParseFault {
        place: Place::of(schema),
        reason: format!(
            "the schema is written in \"{address}\", which is no dialect that is known"
        ),
    })?;
    let survey = Survey::of(schema);
    let mut reader = Reader {
        schema,
        dialect,
        anchors: None,
        names: BTreeMap::new(),
        given: GivenNames::default(),
        known: BTreeMap::new(),
        pending: Vec::new(),
        entries: Entries::default(),
        nodes: 0,
        refers: false,
        survey,
    };
    let root = reader.node(schema, Place::of(schema))?;
    let mut defs = Vec::new();
    while let Some((name, target, base)) = reader.pending.pop() {
        defs.push((name, reader.node(target, base)?));
    }
    Ok(Document {
        root,
        defs: defs.into_iter().collect(),
        refers: reader.refers,
        survey,
    })
}

struct Reader<'a> {
    schema: &'a Value,
    dialect: Dialect,
    /// What names itself, once something refers to it.
    anchors: Option<Anchors<'a>>,
    /// The name of everything that something refers to, by where it is in memory.
    names: BTreeMap<usize, Name<'a>>,
    /// The same names.
    given: GivenNames<'a>,
    /// The names of references, by where they are relative to.
    known: BTreeMap<(usize, &'a str), Name<'a>>,
    /// What was referred to and is not read yet: its name, and what references in it are relative
    /// to.
    pending: Vec<(Name<'a>, &'a Value, Place<'a>)>,
    entries: Entries<'a>,
    nodes: usize,
    refers: bool,
    survey: Survey,
}

impl<'a> Reader<'a> {
    /// Reads one schema. `base` is the document that references are relative to.
    fn node(&mut self, value: &'a Value, base: Place<'a>) -> Result<Node<'a>, ParseFault<'a>> {
        let place = Place::of(value);
        self.nodes += 1;
        if self.nodes > MOST_NODES {
            return Err(fault(
                place,
                "the schema is too large once its references are followed",
            ));
        }
        let map = match value {
            Value::Bool(true) => return Ok(Node::at(place)),
            Value::Bool(false) => return Ok(Node::nothing(place)),
            Value::Object(map) => map,
            _ => return Err(fault(place, "there is no schema where one has to be")),
        };
        let entries = self.entries.push(map);
        let holds = |name: &str| map.keys().any(|key| key == name);
        let (mut base, mut alone) = (base, false);
        if self.survey.refers {
            if own_id(map).is_some_and(|id| !id.starts_with('#')) {
                base = place;
            }
            alone = !self.dialect.reads_beside_ref() && holds("$ref");
        }
        // An object that is closed gets two more.
        let more = if holds("properties") { 2 } else { 0 };
        let mut keys = Vec::with_capacity(entries.len() + more);
        for at in entries.clone() {
            let Some((key, value)) = self.entries.get(at) else {
                break;
            };
            if (alone && key != "$ref" && !ANNOTATIONS.contains(&key))
                || !self.dialect.knows(key)
                || value.is_null() && !matches!(key, "const" | "default" | "example")
            {
                continue;
            }
            if let Some(slot) = self.slot(key, value, map, base)? {
                keys.push((key, slot));
            }
        }
        self.entries.pop(&entries);
        let mut node = Node::at(place);
        node.keys = Keys::of_sorted(keys);
        self.upgrade(&mut node);
        Ok(node)
    }

    /// The value of a keyword of a schema.
    fn slot(
        &mut self,
        key: &str,
        value: &'a Value,
        map: &'a Map<String, Value>,
        base: Place<'a>,
    ) -> Result<Option<Slot<'a>>, ParseFault<'a>> {
        let here = Place::of(value);
        // The most frequent ones come first.
        Ok(Some(match key {
            "type" => {
                let types = TypeSet::of_keyword(value);
                if types.is_empty() {
                    return Err(fault(here, "the type is none of the seven that there are"));
                }
                Slot::Types(types)
            }
            "description" => match value {
                Value::String(text) => Slot::Text(Cow::Borrowed(text)),
                _ => return Ok(None),
            },
            "properties" | "patternProperties" | "dependentSchemas" => {
                let Value::Object(named) = value else {
                    return Err(fault(
                        here,
                        "there is no map of schemas where one has to be",
                    ));
                };
                let entries = self.entries.push(named);
                let mut nodes = Vec::with_capacity(entries.len());
                for at in entries.clone() {
                    if let Some((name, value)) = self.entries.get(at) {
                        nodes.push((Cow::Borrowed(name), self.node(value, base)?));
                    }
                }
                self.entries.pop(&entries);
                Slot::Map(Named::of_sorted(nodes))
            }
            "required" => {
                // A boolean is draft 3, and was ignored ever since.
                let Some(names) = value.as_array() else {
                    return Ok(None);
                };
                let names = names.iter().filter_map(Value::as_str);
                let mut names: Vec<Name<'a>> = names.map(Cow::Borrowed).collect();
                names.sort_unstable();
                names.dedup();
                if names.is_empty() {
                    return Ok(None);
                }
                Slot::Names(names)
            }
            "items" if value.is_array() => self.list(value, base)?,
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
            | "else" => Slot::One(Box::new(self.node(value, base)?)),
            "allOf" | "anyOf" | "oneOf" | "prefixItems" => self.list(value, base)?,
            // Names of places, which nothing asks for once references are resolved.
            "$schema" | "$id" | "$anchor" | "$dynamicAnchor" | "$recursiveAnchor"
            | "$vocabulary" | "$comment" | "$defs" | "definitions" => return Ok(None),
            // `id` is a property's name as often as it is draft 4.
            "id" if value.is_string() => return Ok(None),
            "$ref" | "$recursiveRef" | "$dynamicRef" => {
                let Some(reference) = value.as_str() else {
                    return Err(fault(here, "a reference is no text"));
                };
                let known = (base.address(), reference);
                let name = match self.known.get(&known) {
                    Some(name) => name.clone(),
                    None => {
                        let name = self.name_of(reference, here, base)?;
                        self.known.entry(known).or_insert(name).clone()
                    }
                };
                self.refers = true;
                if key != "$ref" && map.contains_key("$ref") {
                    return Ok(None);
                }
                Slot::Text(name)
            }
            "dependencies" => return self.dependencies(value, base),
            "enum" if !value.is_array() => return Ok(None),
            "title" | "pattern" | "format" if !value.is_string() => return Ok(None),
            _ => Slot::Plain(Plain::Given(value)),
        }))
    }

    fn list(&mut self, value: &'a Value, base: Place<'a>) -> Result<Slot<'a>, ParseFault<'a>> {
        let Value::Array(values) = value else {
            return Err(fault(
                Place::of(value),
                "there is no list of schemas where one has to be",
            ));
        };
        let mut nodes = Vec::with_capacity(values.len());
        for value in values {
            nodes.push(self.node(value, base)?);
        }
        Ok(Slot::List(nodes))
    }

    /// `dependencies` holds what two keywords hold since.
    fn dependencies(
        &mut self,
        value: &'a Value,
        base: Place<'a>,
    ) -> Result<Option<Slot<'a>>, ParseFault<'a>> {
        let Value::Object(named) = value else {
            return Ok(None);
        };
        let entries = self.entries.push(named);
        let mut schemas = Vec::with_capacity(entries.len());
        for at in entries.clone() {
            let Some((name, value)) = self.entries.get(at) else {
                break;
            };
            let node = match value {
                Value::Array(names) => {
                    let names = names.iter().filter_map(Value::as_str);
                    let names = names.map(Cow::Borrowed).collect();
                    let mut node = Node::at(Place::of(value));
                    node.keys.insert("required", Slot::Names(names));
                    node
                }
                value => self.node(value, base)?,
            };
            schemas.push((Cow::Borrowed(name), node));
        }
        self.entries.pop(&entries);
        let schemas = Named::of_sorted(schemas);
        Ok(Some(Slot::Map(schemas)))
    }

    /// Gives keywords that changed their meaning the one that they have in 2020-12.
    fn upgrade(&self, node: &mut Node<'a>) {
        if let Some(slot) = node
            .take("$recursiveRef")
            .or_else(|| node.take("$dynamicRef"))
        {
            node.keys.insert("$ref", slot);
        }
        if node.list("items").is_some() {
            let prefix = node.take_list("items");
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
        reference: &'a str,
        place: Place<'a>,
        base: Place<'a>,
    ) -> Result<Name<'a>, ParseFault<'a>> {
        let schema = self.schema;
        let (address, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let base = if address.is_empty() {
            base
        } else {
            let Some(document) = self.anchors().embedded(address) else {
                return Err(fault(
                    place,
                    "a reference leads out of the schema, and is not followed",
                ));
            };
            Place::of(document)
        };
        let document = base.value().unwrap_or(schema);
        let fragment = percent_decoded(fragment);
        let target = if fragment.is_empty() {
            Some(document)
        } else if fragment.starts_with('/') {
            document.pointer(&fragment)
        } else {
            self.anchors().named(&fragment)
        };
        let target = match target {
            Some(target @ (Value::Object(_) | Value::Bool(_))) => target,
            Some(_) => {
                return Err(fault(
                    place,
                    "a reference leads to something that is no schema",
                ));
            }
            None => return Err(fault(place, "a reference leads nowhere")),
        };
        if ptr::eq(target, schema) {
            return Ok(Cow::Borrowed(""));
        }
        let address = Place::of(target).address();
        if let Some(name) = self.names.get(&address) {
            return Ok(name.clone());
        }
        let token = match fragment.strip_prefix('/') {
            Some(below) => below.rsplit('/').next().unwrap_or_default().to_owned(),
            None => self.anchors().token(target).to_owned(),
        };
        let name = self.given.give(&token, reference);
        self.names.insert(address, name.clone());
        self.pending.push((name.clone(), target, base));
        Ok(name)
    }

    fn anchors(&mut self) -> &Anchors<'a> {
        let schema = self.schema;
        self.anchors.get_or_insert_with(|| Anchors::of(schema))
    }
}

fn fault<'a>(place: Place<'a>, reason: &str) -> ParseFault<'a> {
    ParseFault {
        place,
        reason: reason.to_owned(),
    }
}
