//! A schema as the passes work on it: a tree whose subschemas are nodes and whose other keywords
//! are plain values.

pub(crate) mod anchors;
mod emit;
mod keys;
mod parse;
mod place;
mod type_set;
mod write;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

pub(crate) use emit::emit;
pub(crate) use keys::{Key, Keys, key_of};
pub(crate) use parse::{Document, parse};
pub(crate) use place::Place;
pub(crate) use type_set::TypeSet;
pub(crate) use write::Text;

/// One schema.
#[derive(Clone, Debug, Default)]
pub(crate) struct Node {
    /// Where it stands in the schema that was given.
    pub(crate) place: Place,
    /// `false` accepts nothing. `true` is the same as a node without keywords.
    pub(crate) never: bool,
    pub(crate) keys: Keys,
    /// The original does not take null here, whatever the passes make of it.
    pub(crate) refuses_null: bool,
    /// How to undo what was done to instances of it.
    pub(crate) undo: Option<Box<Undo>>,
}

/// The value of a keyword.
#[derive(Clone, Debug)]
pub(crate) enum Slot {
    /// No schema.
    Plain(Value),
    /// The value of `type`, and of no other keyword.
    Types(TypeSet),
    /// One schema.
    One(Box<Node>),
    /// A list of schemas.
    List(Vec<Node>),
    /// Schemas by name.
    Map(BTreeMap<String, Node>),
}

impl Slot {
    /// Runs over every schema that it holds.
    pub(crate) fn each(&mut self, run: &mut dyn FnMut(&mut Node)) {
        match self {
            Self::Plain(_) | Self::Types(_) => {}
            Self::One(node) => run(node),
            Self::List(nodes) => nodes.iter_mut().for_each(&mut *run),
            Self::Map(nodes) => nodes.values_mut().for_each(&mut *run),
        }
    }
}

/// What a projection did to the instances of an object.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Undo {
    /// Properties that are optional, take no null, and whose null says that they are absent.
    pub(crate) nulls: BTreeSet<String>,
    /// Whether these are sent as null when absent.
    pub(crate) fills: bool,
    /// Further properties that are sent as null when absent.
    pub(crate) filled: BTreeSet<String>,
    /// Names on the wire and the names that they stand for.
    pub(crate) names: BTreeMap<String, String>,
    /// A property that stands only because an object may not be empty.
    pub(crate) placeholder: Option<&'static str>,
}

/// Keywords that constrain nothing.
pub(crate) const ANNOTATIONS: [&str; 10] = [
    "$comment",
    "default",
    "deprecated",
    "description",
    "example",
    "examples",
    "readOnly",
    "title",
    "writeOnly",
    "contentMediaType",
];

impl Node {
    pub(crate) fn at(place: Place) -> Self {
        Self {
            place,
            ..Self::default()
        }
    }

    /// A node that takes values of these types and says nothing else.
    pub(crate) fn of_types(place: Place, types: TypeSet) -> Self {
        let mut node = Self::at(place);
        node.set_types(types);
        node
    }

    pub(crate) fn has(&self, key: &str) -> bool {
        self.keys.has(key)
    }

    pub(crate) fn plain(&self, key: &str) -> Option<&Value> {
        match self.keys.get(key) {
            Some(Slot::Plain(value)) => Some(value),
            _ => None,
        }
    }

    pub(crate) fn text(&self, key: &str) -> Option<&str> {
        self.plain(key).and_then(Value::as_str)
    }

    pub(crate) fn one(&self, key: &str) -> Option<&Node> {
        match self.keys.get(key) {
            Some(Slot::One(node)) => Some(node),
            _ => None,
        }
    }

    pub(crate) fn list(&self, key: &str) -> Option<&[Node]> {
        match self.keys.get(key) {
            Some(Slot::List(nodes)) => Some(nodes),
            _ => None,
        }
    }

    pub(crate) fn list_mut(&mut self, key: &str) -> Option<&mut Vec<Node>> {
        match self.keys.get_mut(key) {
            Some(Slot::List(nodes)) => Some(nodes),
            _ => None,
        }
    }

    pub(crate) fn map(&self, key: &str) -> Option<&BTreeMap<String, Node>> {
        match self.keys.get(key) {
            Some(Slot::Map(nodes)) => Some(nodes),
            _ => None,
        }
    }

    pub(crate) fn map_mut(&mut self, key: &str) -> Option<&mut BTreeMap<String, Node>> {
        match self.keys.get_mut(key) {
            Some(Slot::Map(nodes)) => Some(nodes),
            _ => None,
        }
    }

    pub(crate) fn take(&mut self, key: &str) -> Option<Slot> {
        self.keys.remove(key)
    }

    pub(crate) fn take_plain(&mut self, key: &str) -> Option<Value> {
        match self.keys.remove(key) {
            Some(Slot::Plain(value)) => Some(value),
            _ => None,
        }
    }

    pub(crate) fn take_one(&mut self, key: &str) -> Option<Node> {
        match self.keys.remove(key) {
            Some(Slot::One(node)) => Some(*node),
            _ => None,
        }
    }

    pub(crate) fn take_list(&mut self, key: &str) -> Vec<Node> {
        match self.keys.remove(key) {
            Some(Slot::List(nodes)) => nodes,
            _ => Vec::new(),
        }
    }

    pub(crate) fn take_map(&mut self, key: &str) -> BTreeMap<String, Node> {
        match self.keys.remove(key) {
            Some(Slot::Map(nodes)) => nodes,
            _ => BTreeMap::new(),
        }
    }

    pub(crate) fn set(&mut self, key: &'static str, value: impl Into<Value>) {
        self.keys.insert(key, Slot::Plain(value.into()));
    }

    pub(crate) fn set_one(&mut self, key: &'static str, node: Node) {
        self.keys.insert(key, Slot::One(Box::new(node)));
    }

    pub(crate) fn set_list(&mut self, key: &'static str, nodes: Vec<Node>) {
        self.keys.insert(key, Slot::List(nodes));
    }

    pub(crate) fn set_map(&mut self, key: &'static str, nodes: BTreeMap<String, Node>) {
        self.keys.insert(key, Slot::Map(nodes));
    }

    /// The types that it names; `None` where it names none.
    pub(crate) fn types(&self) -> Option<TypeSet> {
        match self.keys.get("type") {
            Some(Slot::Types(types)) => Some(*types),
            _ => None,
        }
    }

    pub(crate) fn set_types(&mut self, types: TypeSet) {
        self.keys.insert("type", Slot::Types(types));
    }

    /// Whether it takes objects because it says so.
    pub(crate) fn is_object(&self) -> bool {
        self.types().is_some_and(|types| types.has(TypeSet::OBJECT))
    }

    /// Whether it accepts every value: no keyword of it constrains anything.
    pub(crate) fn is_any(&self) -> bool {
        !self.never && self.keys.keys().all(|key| ANNOTATIONS.contains(&&**key))
    }

    /// What is done to instances of it, to be added to.
    pub(crate) fn undo_mut(&mut self) -> &mut Undo {
        self.undo.get_or_insert_default()
    }

    /// The names that are required, as they are listed.
    pub(crate) fn listed_required(&self) -> impl Iterator<Item = &str> {
        let names = self.plain("required").and_then(Value::as_array);
        names.into_iter().flatten().filter_map(Value::as_str)
    }

    /// The names that are required.
    pub(crate) fn required(&self) -> BTreeSet<String> {
        self.listed_required().map(str::to_owned).collect()
    }

    pub(crate) fn set_required(&mut self, names: BTreeSet<String>) {
        if names.is_empty() {
            self.keys.remove("required");
        } else {
            self.set("required", names.into_iter().collect::<Vec<_>>());
        }
    }

    /// Adds a sentence to the description.
    pub(crate) fn describe(&mut self, sentence: &str) {
        let said = match self.text("description") {
            Some(said) if said.trim().is_empty() => sentence.to_owned(),
            Some(said) if said.contains(sentence) => return,
            Some(said) => format!("{} {sentence}", sentence_end(said)),
            None => sentence.to_owned(),
        };
        self.set("description", said);
    }

    /// Every direct subschema.
    pub(crate) fn children(&self) -> impl Iterator<Item = &Node> {
        self.keys.values().flat_map(|slot| {
            let (one, list, map) = match slot {
                Slot::Plain(_) | Slot::Types(_) => (None, None, None),
                Slot::One(node) => (Some(&**node), None, None),
                Slot::List(nodes) => (None, Some(nodes), None),
                Slot::Map(nodes) => (None, None, Some(nodes.values())),
            };
            let (list, map) = (list.into_iter().flatten(), map.into_iter().flatten());
            one.into_iter().chain(list).chain(map)
        })
    }

    /// Looks at every subschema below and at this one.
    pub(crate) fn look(&self, run: &mut dyn FnMut(&Node)) {
        for slot in self.keys.values() {
            match slot {
                Slot::Plain(_) | Slot::Types(_) => {}
                Slot::One(node) => node.look(run),
                Slot::List(nodes) => nodes.iter().for_each(|node| node.look(run)),
                Slot::Map(nodes) => nodes.values().for_each(|node| node.look(run)),
            }
        }
        run(self);
    }

    /// Runs over every direct subschema.
    pub(crate) fn each_child(&mut self, run: &mut dyn FnMut(&mut Node)) {
        for slot in self.keys.values_mut() {
            slot.each(run);
        }
    }

    /// Runs over every subschema below and then over this one.
    pub(crate) fn each(&mut self, run: &mut dyn FnMut(&mut Node)) {
        self.each_child(&mut |child| child.each(run));
        run(self);
    }

    /// Whether any subschema, this one included, does.
    pub(crate) fn any(&self, test: &dyn Fn(&Node) -> bool) -> bool {
        test(self) || self.children().any(|child| child.any(test))
    }
}

fn sentence_end(said: &str) -> String {
    let said = said.trim_end();
    match said.chars().next_back() {
        Some('.' | '!' | '?' | ':' | ';' | ',') => said.to_owned(),
        _ => format!("{said}."),
    }
}
