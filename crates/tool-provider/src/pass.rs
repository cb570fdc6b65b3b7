//! The passes, each in a file of its own, and what they share.

mod closed;
mod expand;
mod fold;
mod keywords;
mod limits;
mod merge;
mod names;
mod nulls;
pub(crate) mod optional;
mod root;
mod split;
mod tuples;
mod unions;
mod untyped;
mod values;

use std::collections::{BTreeMap, BTreeSet};

#[cfg(feature = "lint")]
pub(crate) use keywords::{constrains, is_common, is_regular};
#[cfg(feature = "lint")]
pub(crate) use names::{anthropic as is_anthropic_key, moonshot as is_moonshot_key};
#[cfg(feature = "lint")]
pub(crate) use untyped::about;

pub(crate) use closed::first_open;
pub(crate) use limits::Counted;
pub(crate) use root::referred;

use crate::budget::Budget;
use crate::groups::groups;
use crate::loss::Report;
use crate::node::{Document, Named, Node};
use crate::rules::{Optional, Recursion, Refs, Rules};

/// How far references are followed and whether words are spent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    /// How often one reference is followed inside of itself.
    pub(crate) unroll: usize,
    /// How many references are followed inside of each other.
    pub(crate) follow: usize,
    /// What is given up is said in descriptions.
    pub(crate) words: bool,
}

/// A schema in the making.
pub(crate) struct Work<'a> {
    pub(crate) rules: &'a Rules,
    pub(crate) effort: Effort,
    /// What references name, as it was read.
    pub(crate) originals: &'a Document<'a>,
    pub(crate) recursive: BTreeSet<&'a str>,
    pub(crate) report: Report<'a>,
    /// What the root gives up, in words, for the description of the tool.
    pub(crate) words: Vec<String>,
    /// What was made, in numbers.
    pub(crate) counted: Counted,
}

impl<'a> Work<'a> {
    pub(crate) fn new(
        rules: &'a Rules,
        effort: Effort,
        originals: &'a Document<'a>,
        budget: Budget,
    ) -> Self {
        Self {
            rules,
            effort,
            originals,
            recursive: recursive(originals),
            report: Report::within(budget),
            words: Vec::new(),
            counted: Counted::default(),
        }
    }

    /// What a reference names.
    pub(crate) fn target(&self, name: &str) -> Option<&'a Node<'a>> {
        if name.is_empty() {
            return Some(&self.originals.root);
        }
        self.originals.defs.get(name)
    }

    /// Says in the description what a node gave up.
    pub(crate) fn say(&self, node: &mut Node<'a>, sentence: Option<String>) {
        if let Some(sentence) = sentence.filter(|_| self.effort.words) {
            node.describe(&sentence);
        }
    }

    /// Runs every pass over what was read.
    ///
    /// It is given what the originals are: they are another copy only where something looks them
    /// up. Whoever sees an obstacle gets a document that was not worked on to its end.
    pub(crate) fn run(&mut self, mut document: Document<'a>) -> Document<'a> {
        if document.survey.enumerates {
            let nodes = document.nodes();
            nodes.for_each(|node| values::contradictions(node, &mut self.report));
        }
        let Document {
            root, defs, refers, ..
        } = &mut document;
        let refers = *refers;
        self.root(root);
        if !self.rules.combinators {
            self.expand(root, &mut Vec::new());
            if self.rules.refs == Refs::Inline {
                defs.clear();
            }
            for (name, node) in defs.iter_mut() {
                self.expand(node, &mut vec![name.to_string()]);
            }
        }
        prune(root, defs);
        if self.rules.recursion == Recursion::Optional {
            self.cut_required_cycles(root, defs);
            prune(root, defs);
        }
        if self.rules.recursion == Recursion::Never && self.rules.strict && refers {
            for name in defs
                .names()
                .filter(|name| self.recursive.contains(&***name))
            {
                let place = self.target(name).map(|node| node.place).unwrap_or_default();
                self.report
                    .blocked(place, "$ref", "the schema refers to itself");
            }
            if root.any(&|node| node.text("$ref") == Some("")) {
                self.report
                    .blocked(root.place, "$ref", "the schema refers to itself");
            }
        }
        self.shape(root, true);
        for node in defs.nodes_mut() {
            self.shape(node, false);
        }
        if self.is_hopeless() {
            return document;
        }
        if self.rules.optional != Optional::Free {
            self.optional(root, defs, refers);
        }
        prune(root, defs);
        self.limits(&document);
        document
    }

    /// Whether nothing that is made of it will be sent.
    fn is_hopeless(&self) -> bool {
        self.rules.strict && self.report.obstacle.is_some()
    }

    /// The passes that look at one node after the other, from the inside out.
    fn shape(&mut self, node: &mut Node<'a>, root: bool) {
        if self.is_hopeless() {
            return;
        }
        if self.rules.combinators {
            let items = self.rules.items;
            let tuples = self.rules.envelope == crate::rules::Envelope::Chat && !items;
            let report = &mut self.report;
            node.each(&mut |node| {
                if items {
                    tuples::say_items(node);
                }
                if tuples {
                    tuples::flatten(node, report);
                }
            });
        } else {
            node.each_child(&mut |child| self.shape(child, false));
            self.unions(node);
            self.tuples(node);
            self.values(node);
            self.untyped(node);
            self.keywords(node);
            self.closed(node, root);
            self.split(node);
        }
        self.names(node, root);
    }
}

/// What each name refers to; the root goes by the empty name.
type Edges<'n> = BTreeMap<&'n str, BTreeSet<&'n str>>;

fn edges<'n>(root: &'n Node<'_>, defs: &'n Named<'_>) -> Edges<'n> {
    let named = defs.iter().map(|(name, node)| (&**name, node));
    let all = std::iter::once(("", root)).chain(named);
    all.map(|(name, node)| (name, references(node))).collect()
}

/// The names that some lead to, themselves only if one leads back.
fn reachable<'n>(edges: &Edges<'n>, from: impl Iterator<Item = &'n str>) -> BTreeSet<&'n str> {
    let mut reached = BTreeSet::new();
    let mut pending: Vec<&str> = from.collect();
    while let Some(next) = pending.pop() {
        for name in edges.get(next).into_iter().flatten() {
            if reached.insert(*name) {
                pending.push(name);
            }
        }
    }
    reached
}

/// The names that can be reached from themselves.
fn recursive<'n>(document: &'n Document<'_>) -> BTreeSet<&'n str> {
    if !document.refers {
        return BTreeSet::new();
    }
    let edges = edges(&document.root, &document.defs);
    turning(&edges).into_iter().map(|(name, _)| name).collect()
}

/// The edges that lead back to where they begin.
fn turning<'n>(edges: &Edges<'n>) -> BTreeSet<(&'n str, &'n str)> {
    let at: BTreeMap<&str, usize> = edges.keys().copied().zip(0..).collect();
    let to = |names: &BTreeSet<&str>| {
        let known = names.iter().filter_map(|name| at.get(name));
        known.copied().collect()
    };
    let ahead: Vec<Vec<usize>> = edges.values().map(to).collect();
    let groups = groups(&ahead);
    let group = |name: &str| groups.get(*at.get(name)?);
    let all = edges
        .iter()
        .flat_map(|(from, names)| names.iter().map(|to| (*from, *to)));
    all.filter(|(from, to)| group(from) == group(to)).collect()
}

/// The names that a node refers to, at any depth.
fn references<'n>(node: &'n Node<'_>) -> BTreeSet<&'n str> {
    let mut names = BTreeSet::new();
    node.look(&mut |node| names.extend(node.text("$ref")));
    names
}

/// Drops what nothing refers to.
fn prune(root: &Node<'_>, defs: &mut Named<'_>) {
    if defs.is_empty() {
        return;
    }
    let mut used = BTreeSet::new();
    let mut pending = vec![root];
    while let Some(node) = pending.pop() {
        node.look(&mut |node| {
            if let Some(name) = node.text("$ref")
                && let Some(target) = defs.get(name)
                && used.insert(name)
            {
                pending.push(target);
            }
        });
    }
    if used.len() < defs.len() {
        let used: BTreeSet<String> = used.into_iter().map(str::to_owned).collect();
        defs.retain(|name, _| used.contains(name));
    }
}
