//! A schema as the passes work on it: a tree whose subschemas are nodes and whose other keywords
//! are plain values.

pub(crate) mod anchors;
mod document;
mod emit;
mod entries;
mod given_names;
mod keys;
mod named;
mod parse;
mod place;
mod plain;
mod type_set;
mod write;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

pub(crate) use document::Document;
pub(crate) use emit::emit;
pub(crate) use keys::Keys;
pub(crate) use named::{Name, Named};
pub(crate) use parse::parse;
pub(crate) use place::{Place, pointers};
pub(crate) use plain::Plain;
pub(crate) use type_set::TypeSet;
pub(crate) use write::Text;

/// One schema. What it says is borrowed from the schema that was given, as far as no pass changed
/// it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Node<'a> {
    /// Where it stands in the schema that was given.
    pub(crate) place: Place<'a>,
    /// `false` accepts nothing. `true` is the same as a node without keywords.
    pub(crate) never: bool,
    /// The original does not take null here, whatever the passes make of it.
    pub(crate) refuses_null: bool,
    pub(crate) keys: Keys<'a>,
    /// How to undo what was done to instances of it.
    pub(crate) undo: Option<Box<Undo>>,
}

/// The value of a keyword.
#[derive(Clone, Debug)]
pub(crate) enum Slot<'a> {
    /// No schema.
    Plain(Plain<'a>),
    /// A description, or the name of what a reference refers to.
    Text(Cow<'a, str>),
    /// The value of `type`, and of no other keyword.
    Types(TypeSet),
    /// The names that are required.
    Names(Vec<Name<'a>>),
    /// One schema.
    One(Box<Node<'a>>),
    /// A list of schemas.
    List(Vec<Node<'a>>),
    /// Schemas by name.
    Map(Named<'a>),
}

impl<'a> Slot<'a> {
    /// Every schema that it holds.
    fn nodes(&self) -> impl Iterator<Item = &Node<'a>> {
        let (one, list, map) = match self {
            Self::Plain(_) | Self::Text(_) | Self::Types(_) | Self::Names(_) => (None, None, None),
            Self::One(node) => (Some(&**node), None, None),
            Self::List(nodes) => (None, Some(nodes), None),
            Self::Map(nodes) => (None, None, Some(nodes.nodes())),
        };
        let (list, map) = (list.into_iter().flatten(), map.into_iter().flatten());
        one.into_iter().chain(list).chain(map)
    }

    /// Runs over every schema that it holds.
    pub(crate) fn each(&mut self, run: &mut dyn FnMut(&mut Node<'a>)) {
        match self {
            Self::Plain(_) | Self::Text(_) | Self::Types(_) | Self::Names(_) => {}
            Self::One(node) => run(node),
            Self::List(nodes) => nodes.iter_mut().for_each(&mut *run),
            Self::Map(nodes) => nodes.nodes_mut().for_each(&mut *run),
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

impl<'a> Node<'a> {
    pub(crate) fn at(place: Place<'a>) -> Self {
        Self {
            place,
            ..Self::default()
        }
    }

    /// A node that takes nothing.
    pub(crate) fn nothing(place: Place<'a>) -> Self {
        Self {
            never: true,
            ..Self::at(place)
        }
    }

    /// A node that takes values of these types and says nothing else.
    pub(crate) fn of_types(place: Place<'a>, types: TypeSet) -> Self {
        let mut node = Self::at(place);
        node.set_types(types);
        node
    }

    #[inline]
    pub(crate) fn has(&self, key: &str) -> bool {
        self.keys.has(key)
    }

    #[inline]
    pub(crate) fn plain(&self, key: &str) -> Option<&Value> {
        match self.keys.get(key) {
            Some(Slot::Plain(value)) => Some(value),
            _ => None,
        }
    }

    #[inline]
    pub(crate) fn text(&self, key: &str) -> Option<&str> {
        match self.keys.get(key) {
            Some(Slot::Text(text)) => Some(text),
            Some(Slot::Plain(value)) => value.as_str(),
            _ => None,
        }
    }

    #[inline]
    pub(crate) fn one(&self, key: &str) -> Option<&Node<'a>> {
        match self.keys.get(key) {
            Some(Slot::One(node)) => Some(node),
            _ => None,
        }
    }

    #[inline]
    pub(crate) fn one_mut(&mut self, key: &str) -> Option<&mut Node<'a>> {
        match self.keys.get_mut(key) {
            Some(Slot::One(node)) => Some(node),
            _ => None,
        }
    }

    #[inline]
    pub(crate) fn list(&self, key: &str) -> Option<&[Node<'a>]> {
        match self.keys.get(key) {
            Some(Slot::List(nodes)) => Some(nodes),
            _ => None,
        }
    }

    #[inline]
    pub(crate) fn list_mut(&mut self, key: &str) -> Option<&mut Vec<Node<'a>>> {
        match self.keys.get_mut(key) {
            Some(Slot::List(nodes)) => Some(nodes),
            _ => None,
        }
    }

    #[inline]
    pub(crate) fn map(&self, key: &str) -> Option<&Named<'a>> {
        match self.keys.get(key) {
            Some(Slot::Map(nodes)) => Some(nodes),
            _ => None,
        }
    }

    #[inline]
    pub(crate) fn map_mut(&mut self, key: &str) -> Option<&mut Named<'a>> {
        match self.keys.get_mut(key) {
            Some(Slot::Map(nodes)) => Some(nodes),
            _ => None,
        }
    }

    #[inline]
    pub(crate) fn take(&mut self, key: &str) -> Option<Slot<'a>> {
        self.keys.remove(key)
    }

    #[inline]
    pub(crate) fn take_plain(&mut self, key: &str) -> Option<Plain<'a>> {
        match self.keys.remove(key) {
            Some(Slot::Plain(value)) => Some(value),
            _ => None,
        }
    }

    #[inline]
    pub(crate) fn take_text(&mut self, key: &str) -> Option<Cow<'a, str>> {
        match self.keys.remove(key) {
            Some(Slot::Text(text)) => Some(text),
            _ => None,
        }
    }

    #[inline]
    pub(crate) fn take_one(&mut self, key: &str) -> Option<Node<'a>> {
        match self.keys.remove(key) {
            Some(Slot::One(node)) => Some(*node),
            _ => None,
        }
    }

    #[inline]
    pub(crate) fn take_list(&mut self, key: &str) -> Vec<Node<'a>> {
        match self.keys.remove(key) {
            Some(Slot::List(nodes)) => nodes,
            _ => Vec::new(),
        }
    }

    #[inline]
    pub(crate) fn take_map(&mut self, key: &str) -> Named<'a> {
        match self.keys.remove(key) {
            Some(Slot::Map(nodes)) => nodes,
            _ => Named::default(),
        }
    }

    pub(crate) fn set(&mut self, key: &'static str, value: impl Into<Value>) {
        let value = Plain::Made(Box::new(value.into()));
        self.keys.insert(key, Slot::Plain(value));
    }

    pub(crate) fn set_text(&mut self, key: &'static str, text: impl Into<Cow<'a, str>>) {
        self.keys.insert(key, Slot::Text(text.into()));
    }

    pub(crate) fn set_one(&mut self, key: &'static str, node: Node<'a>) {
        self.keys.insert(key, Slot::One(Box::new(node)));
    }

    pub(crate) fn set_list(&mut self, key: &'static str, nodes: Vec<Node<'a>>) {
        self.keys.insert(key, Slot::List(nodes));
    }

    pub(crate) fn set_map(&mut self, key: &'static str, nodes: Named<'a>) {
        self.keys.insert(key, Slot::Map(nodes));
    }

    /// The types that it names; `None` where it names none.
    #[inline]
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
        !self.never && self.keys.annotate()
    }

    /// What is done to instances of it, to be added to.
    pub(crate) fn undo_mut(&mut self) -> &mut Undo {
        self.undo.get_or_insert_default()
    }

    /// The names that are required, as they are listed.
    pub(crate) fn listed_required(&self) -> &[Name<'a>] {
        match self.keys.get("required") {
            Some(Slot::Names(names)) => names,
            _ => &[],
        }
    }

    /// The names that are required.
    pub(crate) fn required(&self) -> BTreeSet<Name<'a>> {
        self.listed_required().iter().cloned().collect()
    }

    pub(crate) fn set_required(&mut self, names: impl IntoIterator<Item = Name<'a>>) {
        let names: Vec<_> = names.into_iter().collect();
        if names.is_empty() {
            self.keys.remove("required");
        } else {
            self.keys.insert("required", Slot::Names(names));
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
        self.set_text("description", said);
    }

    /// Every direct subschema.
    pub(crate) fn children(&self) -> impl Iterator<Item = &Node<'a>> {
        self.keys.values().flat_map(Slot::nodes)
    }

    /// Looks at every subschema below and at this one.
    pub(crate) fn look<'n>(&'n self, run: &mut dyn FnMut(&'n Node<'a>)) {
        for slot in self.keys.values() {
            match slot {
                Slot::Plain(_) | Slot::Text(_) | Slot::Types(_) | Slot::Names(_) => {}
                Slot::One(node) => node.look(run),
                Slot::List(nodes) => nodes.iter().for_each(|node| node.look(run)),
                Slot::Map(nodes) => nodes.nodes().for_each(|node| node.look(run)),
            }
        }
        run(self);
    }

    /// Runs over every direct subschema.
    pub(crate) fn each_child(&mut self, run: &mut dyn FnMut(&mut Node<'a>)) {
        for slot in self.keys.values_mut() {
            slot.each(run);
        }
    }

    /// Runs over every subschema below and then over this one.
    pub(crate) fn each(&mut self, run: &mut dyn FnMut(&mut Node<'a>)) {
        self.each_child(&mut |child| child.each(run));
        run(self);
    }

    /// Whether any subschema, this one included, does.
    pub(crate) fn any(&self, test: &dyn Fn(&Node<'a>) -> bool) -> bool {
        let below = |slot: &Slot<'a>| match slot {
            Slot::Plain(_) | Slot::Text(_) | Slot::Types(_) | Slot::Names(_) => false,
            Slot::One(node) => node.any(test),
            Slot::List(nodes) => nodes.iter().any(|node| node.any(test)),
            Slot::Map(nodes) => nodes.nodes().any(|node| node.any(test)),
        };
        test(self) || self.keys.values().any(below)
    }
}

fn sentence_end(said: &str) -> String {
    let said = said.trim_end();
    match said.chars().next_back() {
        Some('.' | '!' | '?' | ':' | ';' | ',') => said.to_owned(),
        _ => format!("{said}."),
    }
}
