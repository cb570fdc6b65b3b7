//! From the arguments that a model gives to those that the tool takes, and back.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::fits::fits;
use crate::node::{Document, Node, Slot, Undo, emit};

/// Turns arguments as the wire schema has them into arguments as the tool has them.
///
/// It removes a null that stands for a property that was left out, gives renamed properties their
/// own names, and takes out what stands only because an object may not be empty. It changes
/// nothing else, and nothing at all where the two schemas take the same.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Inverse {
    root: Step,
    parts: BTreeMap<String, Step>,
}

/// What is done to one value.
#[derive(Clone, Debug, Default, PartialEq)]
struct Step {
    undo: Option<Box<Undo>>,
    /// By name on the wire, sorted.
    properties: Vec<(String, Step)>,
    further: Option<Box<Step>>,
    items: Option<Box<Step>>,
    prefix: Vec<Step>,
    /// Alternatives with the schemas that tell which one a value is of.
    branches: Vec<(Value, Step)>,
    /// What holds beside.
    all: Vec<Step>,
    reference: Option<String>,
}

#[derive(Clone, Copy, PartialEq)]
enum Way {
    ToTool,
    ToWire,
    /// To the wire, for a look only: references are not followed, as what tells alternatives apart
    /// does not follow them either.
    Sketch,
}

/// Levels of arguments that are looked at.
const MOST_DEPTH: usize = 128;

impl Inverse {
    pub(crate) fn of(mut document: Document<'_>) -> Self {
        let changes = |node: &Node<'_>| node.any(&|node| node.undo.is_some());
        if !document.nodes().any(changes) {
            return Self::default();
        }
        Self {
            root: Step::of(&mut document.root),
            parts: document
                .defs
                .into_iter()
                .map(|(name, mut node)| (name.into_owned(), Step::of(&mut node)))
                .collect(),
        }
    }

    /// Whether it leaves every value as it is.
    #[must_use]
    pub fn is_identity(&self) -> bool {
        *self == Self::default()
    }

    /// The arguments as the tool takes them, from those that a model gave.
    #[must_use]
    pub fn restore(&self, mut arguments: Value) -> Value {
        self.apply(&self.root, &mut arguments, Way::ToTool, 0);
        arguments
    }

    /// The arguments as a model would have to give them, for examples and for a history that was
    /// recorded elsewhere.
    #[must_use]
    pub fn present(&self, mut arguments: Value) -> Value {
        self.apply(&self.root, &mut arguments, Way::ToWire, 0);
        arguments
    }

    fn apply(&self, step: &Step, value: &mut Value, way: Way, depth: usize) {
        self.apply_once(step, value, way, depth, &mut BTreeSet::new());
    }

    /// Applies a step. A reference that was `followed` for the same value already is not followed
    /// again: it would change nothing more, and might lead to itself.
    fn apply_once<'a>(
        &'a self,
        step: &'a Step,
        value: &mut Value,
        way: Way,
        depth: usize,
        followed: &mut BTreeSet<&'a str>,
    ) {
        if depth > MOST_DEPTH {
            return;
        }
        if let Some(name) = &step.reference
            && way != Way::Sketch
            && followed.insert(name)
        {
            let target = if name.is_empty() {
                Some(&self.root)
            } else {
                self.parts.get(name)
            };
            if let Some(target) = target {
                self.apply_once(target, value, way, depth, followed);
            }
        }
        for part in &step.all {
            self.apply_once(part, value, way, depth, followed);
        }
        if step.branches.iter().any(|(_, branch)| !branch.is_idle()) {
            for (schema, branch) in &step.branches {
                if way == Way::ToTool {
                    if fits(schema, value) {
                        self.apply_once(branch, value, way, depth, followed);
                        break;
                    }
                    continue;
                }
                // Trying each alternative to its end would take twice as long with each level of a
                // value whose alternatives lead back to themselves.
                let mut sketch = value.clone();
                self.apply_once(branch, &mut sketch, Way::Sketch, depth, followed);
                if fits(schema, &sketch) {
                    match way {
                        Way::Sketch => *value = sketch,
                        _ => self.apply_once(branch, value, way, depth, followed),
                    }
                    break;
                }
            }
        }
        match value {
            Value::Object(map) => self.object(step, map, way, depth),
            Value::Array(items) => {
                for (index, item) in items.iter_mut().enumerate() {
                    if let Some(step) = step.prefix.get(index).or(step.items.as_deref()) {
                        self.apply(step, item, way, depth + 1);
                    }
                }
            }
            _ => {}
        }
    }

    fn object(&self, step: &Step, map: &mut Map<String, Value>, way: Way, depth: usize) {
        let undo = step.undo.as_deref();
        if let Some(undo) = undo {
            if way == Way::ToTool {
                if let Some(name) = undo.placeholder {
                    map.remove(name);
                }
                map.retain(|name, value| !(value.is_null() && undo.nulls.contains(name)));
            } else {
                rename(map, undo.names.iter().map(|(wire, own)| (own, wire)));
            }
        }
        for (name, value) in map.iter_mut() {
            if let Some(step) = step.property(name).or(step.further.as_deref()) {
                self.apply(step, value, way, depth + 1);
            }
        }
        let Some(undo) = undo else { return };
        if way == Way::ToTool {
            rename(map, undo.names.iter());
        } else {
            let filled = undo.nulls.iter().filter(|_| undo.fills);
            for name in filled.chain(&undo.filled) {
                map.entry(name.clone()).or_insert(Value::Null);
            }
        }
    }
}

fn rename<'a>(map: &mut Map<String, Value>, names: impl Iterator<Item = (&'a String, &'a String)>) {
    let moved: Vec<(String, Value)> = names
        .filter_map(|(from, to)| Some((to.clone(), map.remove(from)?)))
        .collect();
    map.extend(moved);
}

impl Step {
    /// What is undone to instances of a node, which loses it.
    fn of(node: &mut Node<'_>) -> Self {
        let mut step = Self {
            undo: node.undo.take(),
            reference: node.text("$ref").map(str::to_owned),
            ..Self::default()
        };
        let mut branches = Vec::new();
        // They stand in the order of the alphabet, so what is further comes before what is named.
        for (key, slot) in node.keys.iter_mut() {
            match (key, slot) {
                ("additionalProperties", Slot::One(node)) => step.further = Self::busy(node),
                ("items", Slot::One(node)) => step.items = Self::busy(node),
                ("prefixItems", Slot::List(nodes)) => {
                    step.prefix = nodes.iter_mut().map(Self::of).collect();
                }
                ("allOf", Slot::List(nodes)) => {
                    let steps = nodes.iter_mut().map(Self::of);
                    step.all = steps.filter(|it| !it.is_idle()).collect();
                }
                ("anyOf" | "oneOf", Slot::List(nodes)) => {
                    let steps: Vec<Self> = nodes.iter_mut().map(Self::of).collect();
                    branches.extend(nodes.iter().zip(steps));
                }
                ("properties", Slot::Map(nodes)) => {
                    for (name, node) in nodes.iter_mut() {
                        // One that does nothing still keeps further keys from being taken for it.
                        if step.further.is_some() || may_do(node) {
                            let inner = Self::of(node);
                            if step.further.is_some() || !inner.is_idle() {
                                step.properties.push((name.to_string(), inner));
                            }
                        }
                    }
                }
                _ => {}
            }
        }
        if step.prefix.iter().all(Self::is_idle) && step.items.is_none() {
            step.prefix.clear();
        }
        if !branches.iter().all(|(_, step)| step.is_idle()) {
            let told = branches.into_iter().map(|(node, it)| (emit(node), it));
            step.branches = told.collect();
        }
        step
    }

    fn busy(node: &mut Node<'_>) -> Option<Box<Self>> {
        let step = may_do(node).then(|| Self::of(node))?;
        (!step.is_idle()).then(|| Box::new(step))
    }

    fn property(&self, name: &str) -> Option<&Self> {
        let found = self.properties.binary_search_by(|(it, _)| (**it).cmp(name));
        self.properties.get(found.ok()?).map(|(_, step)| step)
    }

    fn is_idle(&self) -> bool {
        self.undo.is_none()
            && self.properties.iter().all(|(_, step)| step.is_idle())
            && self.further.as_deref().is_none_or(Self::is_idle)
            && self.items.as_deref().is_none_or(Self::is_idle)
            && self.prefix.iter().all(Self::is_idle)
            && self.branches.iter().all(|(_, branch)| branch.is_idle())
            && self.all.iter().all(Self::is_idle)
            && self.reference.is_none()
    }
}

/// Whether anything may be undone to instances of a node: it says so, or holds or names another.
fn may_do(node: &Node<'_>) -> bool {
    node.undo.is_some() || node.has("$ref") || node.children().next().is_some()
}
