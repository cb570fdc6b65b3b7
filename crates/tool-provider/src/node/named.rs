//! Schemas by name.

use std::borrow::Cow;

use super::Node;

/// A name that the schema gives, or one that a pass made.
pub(crate) type Name<'a> = Cow<'a, str>;

/// Schemas by name, sorted. Most are few and never change, so they stand in one piece.
#[derive(Clone, Debug, Default)]
pub(crate) struct Named<'a>(Vec<(Name<'a>, Node<'a>)>);

impl<'a> Named<'a> {
    /// From names that are sorted, and of which each is another.
    pub(super) fn of_sorted(all: Vec<(Name<'a>, Node<'a>)>) -> Self {
        Self(all)
    }

    fn at(&self, name: &str) -> Option<usize> {
        let found = self.0.binary_search_by(|(it, _)| (**it).cmp(name));
        found.ok()
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Node<'a>> {
        let at = self.at(name)?;
        self.0.get(at).map(|(_, node)| node)
    }

    pub(crate) fn get_mut(&mut self, name: &str) -> Option<&mut Node<'a>> {
        let at = self.at(name)?;
        self.0.get_mut(at).map(|(_, node)| node)
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.at(name).is_some()
    }

    pub(crate) fn retain(&mut self, mut keeps: impl FnMut(&str, &Node<'a>) -> bool) {
        self.0.retain(|(name, node)| keeps(name, node));
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn names(&self) -> impl ExactSizeIterator<Item = &Name<'a>> {
        self.0.iter().map(|(name, _)| name)
    }

    pub(crate) fn nodes(&self) -> impl Iterator<Item = &Node<'a>> {
        self.0.iter().map(|(_, node)| node)
    }

    pub(crate) fn nodes_mut(&mut self) -> impl Iterator<Item = &mut Node<'a>> {
        self.0.iter_mut().map(|(_, node)| node)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Name<'a>, &Node<'a>)> {
        self.0.iter().map(|(name, node)| (name, node))
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (&Name<'a>, &mut Node<'a>)> {
        self.0.iter_mut().map(|(name, node)| (&*name, node))
    }

    /// Adds schemas; `both` is given those of which there is one already.
    pub(crate) fn join(
        &mut self,
        others: impl IntoIterator<Item = (Name<'a>, Node<'a>)>,
        mut both: impl FnMut(&mut Node<'a>, Node<'a>),
    ) {
        let mut new = Vec::new();
        for (name, node) in others {
            match self.get_mut(&name) {
                Some(own) => both(own, node),
                None => new.push((name, node)),
            }
        }
        if !new.is_empty() {
            self.0.append(&mut new);
            self.0.sort_by(|(one, _), (other, _)| one.cmp(other));
        }
    }
}

/// From names of which each is another.
impl<'a> FromIterator<(Name<'a>, Node<'a>)> for Named<'a> {
    fn from_iter<T: IntoIterator<Item = (Name<'a>, Node<'a>)>>(all: T) -> Self {
        let mut all: Vec<_> = all.into_iter().collect();
        all.sort_by(|(one, _), (other, _)| one.cmp(other));
        Self(all)
    }
}

impl<'a> IntoIterator for Named<'a> {
    type Item = (Name<'a>, Node<'a>);
    type IntoIter = std::vec::IntoIter<Self::Item>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}
