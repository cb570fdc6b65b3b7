//! Which schemas take null.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::node::{Name, Named, Node, TypeSet};

/// How often definitions are looked at for what the others tell of them.
const MOST_ROUNDS: usize = 16;

/// Which definitions take null and which do not. Those that lead back to themselves may say
/// neither, and are not listed.
#[derive(Debug, Default)]
pub(super) struct Nulls<'a>(BTreeMap<Name<'a>, bool>);

impl<'a> Nulls<'a> {
    pub(super) fn of(defs: &Named<'a>) -> Self {
        let mut nulls = Self::default();
        let mut open: Vec<(&Name<'a>, &Node<'a>)> = defs.iter().collect();
        for _ in 0..MOST_ROUNDS {
            let before = open.len();
            open.retain(|(name, node)| {
                let told = nulls.tell(node);
                told.map(|taken| nulls.0.insert((*name).clone(), taken))
                    .is_none()
            });
            if open.is_empty() || open.len() == before {
                break;
            }
            // A long chain is told from its end, whichever way its names run.
            open.reverse();
        }
        nulls
    }

    /// Whether null is sure to fit a node.
    pub(super) fn are_taken(&self, node: &Node<'_>) -> bool {
        self.tell(node) == Some(true)
    }

    /// Whether null fits; `None` where that cannot be told. Only these keywords can tell.
    fn tell(&self, node: &Node<'_>) -> Option<bool> {
        let listed = node.plain("enum").and_then(Value::as_array);
        if node.never
            || node.types().is_some_and(|types| !types.has(TypeSet::NULL))
            || listed.is_some_and(|values| !values.iter().any(Value::is_null))
            || node.plain("const").is_some_and(|value| !value.is_null())
        {
            return Some(false);
        }
        let told = |key: &str| {
            let branches = node.list(key)?;
            Some(branches.iter().map(|branch| self.tell(branch)))
        };
        let named = node.text("$ref").map(|name| self.named(name));
        let any = told("anyOf").map(|all| not(every(all.map(not))));
        let one = told("oneOf").map(exactly_one);
        let all = told("allOf").map(every);
        let none = node.one("not").map(|node| not(self.tell(node)));
        let branch = |key: &str| node.one(key).map_or(Some(true), |node| self.tell(node));
        let then = node.one("if").map(|condition| match self.tell(condition) {
            Some(true) => branch("then"),
            Some(false) => branch("else"),
            None => Some(branch("then")?).filter(|then| branch("else") == Some(*then)),
        });
        let demands = [named, any, one, all, none, then];
        every(demands.into_iter().flatten())
    }

    fn named(&self, name: &str) -> Option<bool> {
        // The root is the arguments, which are always an object.
        let root = name.is_empty().then_some(false);
        root.or_else(|| self.0.get(name).copied())
    }
}

fn not(told: Option<bool>) -> Option<bool> {
    told.map(|taken| !taken)
}

/// Whether all hold: one that does not settles it, whatever cannot be told.
fn every(all: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let mut told = Some(true);
    for one in all {
        match one {
            Some(true) => {}
            Some(false) => return Some(false),
            None => told = None,
        }
    }
    told
}

fn exactly_one(all: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let (mut taking, mut open) = (0_usize, false);
    for one in all {
        taking += usize::from(one == Some(true));
        open |= one.is_none();
    }
    match taking {
        0 | 1 => (!open).then_some(taking == 1),
        _ => Some(false),
    }
}
