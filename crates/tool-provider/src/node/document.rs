//! A schema and its parts.

use super::{Named, Node};
use crate::survey::Survey;

/// A schema with what it refers to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Document<'a> {
    pub(crate) root: Node<'a>,
    /// What references name. The root itself goes by the empty name.
    pub(crate) defs: Named<'a>,
    /// Whether anything refers to anything.
    pub(crate) refers: bool,
    pub(crate) survey: Survey,
}

impl<'a> Document<'a> {
    /// The root and everything that references name.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = &Node<'a>> {
        std::iter::once(&self.root).chain(self.defs.nodes())
    }

    /// The same, to be changed.
    pub(crate) fn nodes_mut(&mut self) -> impl Iterator<Item = &mut Node<'a>> {
        std::iter::once(&mut self.root).chain(self.defs.nodes_mut())
    }
}
