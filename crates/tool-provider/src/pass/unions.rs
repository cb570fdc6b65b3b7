//! Alternatives: `anyOf` that stands alone, and nothing else.

use super::Work;
use super::merge::merge;
use crate::loss::Effect;
use crate::node::{ANNOTATIONS, Named, Node, TypeSet};

impl<'a> Work<'a> {
    /// Makes `oneOf` an `anyOf`, and sees to it that nothing that constrains stands beside.
    pub(super) fn unions(&mut self, node: &mut Node<'a>) {
        self.drop_impossible(node);
        let exclusive = node.take_list("oneOf");
        if !exclusive.is_empty() {
            if node.has("anyOf") {
                self.report
                    .gave_up(node.place, "oneOf", "an anyOf stands beside it");
            } else {
                let effect = if apart(&exclusive) {
                    Effect::Rewritten
                } else {
                    Effect::GivenUp
                };
                let note = "several of its alternatives may hold at once";
                self.report.add(node.place, "oneOf", effect, note);
                node.set_list("anyOf", exclusive);
            }
        }
        let mut branches = Vec::new();
        for mut branch in node.take_list("anyOf") {
            if branch.never {
                continue;
            }
            if branch.keys.len() == 1 && branch.list("anyOf").is_some() {
                branches.append(&mut branch.take_list("anyOf"));
            } else {
                branches.push(branch);
            }
        }
        if branches.is_empty() {
            return;
        }
        // An alternative that takes anything makes the others say nothing.
        if branches.iter().any(Node::is_any) {
            return;
        }
        let constrained = !node.keys.annotate();
        if let [single] = branches.as_slice()
            && (!single.has("$ref") || node.keys.is_empty())
        {
            merge(node, single.clone(), &mut self.report);
            return;
        }
        if !constrained {
            node.set_list("anyOf", branches);
            return;
        }
        let of_objects = branches
            .iter()
            .all(|branch| !branch.has("$ref") && !branch.has("properties") && !branch.has("anyOf"));
        if node.is_object() && node.has("properties") && of_objects {
            node.set_list("anyOf", branches);
            self.fold(node, false);
            return;
        }
        self.distribute(node, branches);
    }

    /// Demands in every alternative what stands beside them.
    fn distribute(&mut self, node: &mut Node<'a>, branches: Vec<Node<'a>>) {
        let mut base = Node::at(node.place);
        let keys = std::mem::take(&mut node.keys);
        for (key, slot) in keys {
            let into = if ANNOTATIONS.contains(&key) {
                &mut node.keys
            } else {
                &mut base.keys
            };
            into.insert(key, slot);
        }
        let mut merged = Vec::new();
        // What is merged again, level by level, counts again.
        self.nodes += branches.len();
        for mut branch in branches {
            if let Some(name) = branch.take_text("$ref") {
                // A reference with something beside it is written out here, without going on.
                match self.target(&name) {
                    Some(target) if !self.recursive.contains(&*name) && !self.is_large() => {
                        let mut target = target.clone();
                        self.expand(&mut target, &mut Vec::new());
                        self.shape_again(&mut target);
                        merge(&mut branch, target, &mut self.report);
                    }
                    _ => {
                        branch.keys.clear();
                        branch.set_text("$ref", name);
                        self.report.gave_up(
                            node.place,
                            "anyOf",
                            "nothing stands beside a reference",
                        );
                        merged.push(branch);
                        continue;
                    }
                }
            }
            merge(&mut branch, base.clone(), &mut self.report);
            if !branch.never {
                merged.push(branch);
            }
        }
        // What the parts say together was not looked at yet.
        for branch in &mut merged {
            if !branch.has("$ref") {
                self.unions(branch);
                self.values(branch);
                self.untyped(branch);
                self.keywords(branch);
                self.closed(branch, false);
                self.split(branch);
            }
        }
        merged.retain(|branch| !branch.never);
        if merged.is_empty() {
            node.never = true;
            return;
        }
        node.set_list("anyOf", merged);
    }

    fn shape_again(&mut self, node: &mut Node<'a>) {
        node.each(&mut |node| {
            node.undo = None;
        });
        self.shape(node, false);
    }

    /// Drops what nothing can fill: a property that takes nothing is one that is not there.
    fn drop_impossible(&mut self, node: &mut Node<'a>) {
        let properties = node.map("properties");
        if !properties.is_some_and(|all| all.nodes().any(|child| child.never)) {
            return;
        }
        let required = node.required();
        let mut impossible = false;
        let closed = self.rules.closed
            || node
                .one("additionalProperties")
                .is_some_and(|rest| rest.never);
        if let Some(properties) = node.map_mut("properties") {
            for child in properties.nodes().filter(|child| child.never && !closed) {
                let note = "the key takes nothing, and is not offered";
                self.report.gave_up(child.place, "", note);
            }
            properties.retain(|name, child| {
                impossible |= child.never && required.contains(name);
                !child.never
            });
        }
        node.never |= impossible;
    }
}

/// Whether no value fits two of the alternatives.
fn apart(branches: &[Node<'_>]) -> bool {
    branches.iter().enumerate().all(|(index, one)| {
        branches.iter().skip(index + 1).all(|other| {
            let types = |node: &Node<'_>| {
                let types = node.types().unwrap_or(TypeSet::ALL);
                match node.has("nullable") {
                    true => types.with(TypeSet::NULL),
                    false => types,
                }
            };
            let both = types(one).and(types(other));
            if both.is_empty() {
                return true;
            }
            if both != TypeSet::OBJECT {
                return false;
            }
            let (mine, theirs) = (one.required(), other.required());
            one.map("properties")
                .into_iter()
                .flat_map(Named::iter)
                .any(|(name, child)| {
                    let value = |child: &Node<'_>| child.plain("const").cloned();
                    let twin = other.map("properties").and_then(|it| it.get(name));
                    mine.contains(name)
                        && theirs.contains(name)
                        && value(child).is_some()
                        && twin.and_then(value).is_some()
                        && twin.and_then(value) != value(child)
                })
        })
    })
}
