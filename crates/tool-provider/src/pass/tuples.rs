//! Tuples, and arrays that say nothing of their items.

use super::Work;
use super::fold::any_of;
use crate::loss::Report;
use crate::node::{Node, TypeSet};

impl<'a> Work<'a> {
    pub(super) fn tuples(&mut self, node: &mut Node<'a>) {
        if node.one("items").is_some_and(|items| items.never) {
            node.take("items");
            let length = node.list("prefixItems").map_or(0, <[Node<'_>]>::len);
            if !node.has("maxItems") {
                node.set("maxItems", length);
            }
        }
        let kept = self.rules.keywords.unwrap_or_default();
        if node.has("prefixItems") && !kept.contains(&"prefixItems") {
            flatten(node, &mut self.report);
        }
        let takes_arrays = node.types().is_some_and(|types| types.has(TypeSet::ARRAY));
        let needs = self.rules.items || self.rules.strict;
        if takes_arrays && needs && !node.has("prefixItems") {
            say_items(node);
        }
        // Items that were made here were not looked at yet.
        if let Some(items) = node.one_mut("items").filter(|items| items.is_any()) {
            self.untyped(items);
        }
    }
}

/// Says of an array that its items may be anything, where it says nothing of them.
pub(super) fn say_items(node: &mut Node<'_>) {
    let takes_arrays = node.types().is_some_and(|types| types.has(TypeSet::ARRAY));
    if takes_arrays && !node.has("items") {
        let items = Node::at(node.place);
        node.set_one("items", items);
    }
}

/// Makes a list of items by position one of items that take what any position does.
pub(super) fn flatten<'a>(node: &mut Node<'a>, report: &mut Report<'a>) {
    let mut branches = node.take_list("prefixItems");
    if branches.is_empty() {
        return;
    }
    // Before 2020-12 the list stood under the other keyword.
    let keyword = match branches.first() {
        Some(first) if node.place.lists("items", first.place) => "items",
        _ => "prefixItems",
    };
    let note = "items are no longer told apart by their position";
    report.gave_up(node.place, keyword, note);
    if node.has("items") {
        report.gave_up(node.place, "items", note);
    }
    let length = branches.len();
    let rest = node.take_one("items");
    let ends = node
        .plain("maxItems")
        .and_then(serde_json::Value::as_u64)
        .is_some_and(|most| usize::try_from(most).is_ok_and(|most| most <= length));
    match rest {
        Some(rest) if rest.never => {
            if !ends {
                node.set("maxItems", length);
            }
        }
        Some(rest) => branches.push(rest),
        None if ends => {}
        None => branches.push(Node::at(node.place)),
    }
    branches.retain(|branch| !branch.never);
    if branches.iter().any(Node::is_any) || branches.is_empty() {
        node.set_one("items", Node::at(node.place));
        return;
    }
    let items = any_of(node.place, branches.into_iter());
    node.set_one("items", items);
}
