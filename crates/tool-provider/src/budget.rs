//! How much one projection may make of a schema.

use crate::node::{Node, Slot};

/// Nodes that references may bring in before they are cut.
const MOST_NODES: usize = 20_000;

/// What is left to later efforts at the least.
const LEAST_NODES: usize = MOST_NODES / 8;

/// How much may be copied, for each node that references may bring in.
const COPIES: usize = 4;

/// What all passes of one effort may bring in and copy together: each of them would end by itself,
/// but what one makes is multiplied by the next.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    /// Nodes that may be brought in.
    most: usize,
    nodes: usize,
    copied: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Self::of(MOST_NODES)
    }
}

impl Budget {
    fn of(most: usize) -> Self {
        Self {
            most,
            nodes: 0,
            copied: 0,
        }
    }

    /// What the next effort may make: half as much where this one made too much, so that all of
    /// them together take about twice what the first may.
    pub(crate) fn next(self) -> Self {
        match self.is_large() || self.is_copied_out() {
            true => Self::of((self.most / 2).max(LEAST_NODES)),
            false => Self::of(self.most),
        }
    }

    /// Counts nodes that are written out.
    pub(crate) fn brings_in(&mut self, nodes: usize) {
        self.nodes += nodes;
    }

    /// Whether so much was brought in that no reference is followed any more.
    pub(crate) fn is_large(self) -> bool {
        self.nodes > self.most
    }

    /// Whether a node may be copied so many times; it is counted if it is.
    pub(crate) fn copies(&mut self, times: usize, node: &Node<'_>) -> bool {
        if !self.is_copied_out() {
            self.copied = self
                .copied
                .saturating_add(times.saturating_mul(weight(node)));
        }
        !self.is_copied_out()
    }

    fn is_copied_out(self) -> bool {
        self.copied > COPIES * self.most
    }
}

/// About how much it takes to copy a node: those in it, and the entries of their lists.
fn weight(node: &Node<'_>) -> usize {
    let mut weight = 0;
    node.look(&mut |node| {
        let lists = node.keys.values().map(|slot| match slot {
            Slot::Names(names) => names.len(),
            Slot::Plain(value) => value.as_array().map_or(0, Vec::len),
            Slot::Text(_) | Slot::Types(_) | Slot::One(_) | Slot::List(_) | Slot::Map(_) => 0,
        });
        weight += 1 + lists.sum::<usize>();
    });
    weight
}

#[cfg(test)]
mod tests;
