//! The keywords of a node.

use super::{ANNOTATIONS, Slot};

/// Keywords with their values, sorted by name. A schema has few, so they stand in one piece.
#[derive(Clone, Debug, Default)]
pub(crate) struct Keys<'a> {
    all: Vec<(&'a str, Slot<'a>)>,
    /// The marks of all that are there.
    marks: Marks,
}

/// A set of names that may hold others too. Passes ask for many keywords that are not there, and
/// this tells so at once.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Marks(u64);

impl Marks {
    /// The mark of a name, from what is at hand. The factors keep the names that schemas use most
    /// apart.
    const fn of(name: &str) -> Self {
        match name.as_bytes() {
            [first, .., last] => {
                Self(1 << ((name.len() + *first as usize * 6 + *last as usize * 27) % 64))
            }
            _ => Self(1),
        }
    }

    const fn of_all(mut names: &[&str]) -> Self {
        let mut marks = Self(0);
        while let [name, rest @ ..] = names {
            marks = marks.with(Self::of(name));
            names = rest;
        }
        marks
    }

    const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

impl<'a> Keys<'a> {
    /// From keywords that are sorted, and of which each is another.
    pub(super) fn of_sorted(all: Vec<(&'a str, Slot<'a>)>) -> Self {
        let mut keys = Self {
            all,
            marks: Marks::default(),
        };
        keys.mark();
        keys
    }

    fn mark(&mut self) {
        let marks = self.all.iter().map(|(key, _)| Marks::of(key));
        self.marks = marks.fold(Marks::default(), Marks::with);
    }

    #[inline]
    pub(crate) fn get(&self, key: &str) -> Option<&Slot<'a>> {
        if !self.marks.has(Marks::of(key)) {
            return None;
        }
        self.find(key)
    }

    fn find(&self, key: &str) -> Option<&Slot<'a>> {
        // Most differ in length, so that this is faster than to make use of the order.
        let found = self.all.iter().find(|(it, _)| *it == key);
        found.map(|(_, slot)| slot)
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, key: &str) -> Option<&mut Slot<'a>> {
        if !self.marks.has(Marks::of(key)) {
            return None;
        }
        self.find_mut(key)
    }

    fn find_mut(&mut self, key: &str) -> Option<&mut Slot<'a>> {
        let found = self.all.iter_mut().find(|(it, _)| *it == key);
        found.map(|(_, slot)| slot)
    }

    #[inline]
    pub(crate) fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// Sets a keyword, whatever it was before.
    pub(crate) fn insert(&mut self, key: &'a str, slot: Slot<'a>) {
        match self.get_mut(key) {
            Some(mine) => *mine = slot,
            None => {
                let at = self.all.partition_point(|(it, _)| *it < key);
                self.all.insert(at, (key, slot));
                self.marks = self.marks.with(Marks::of(key));
            }
        }
    }

    /// Sets a keyword that is not there.
    pub(crate) fn or_insert(&mut self, key: &'a str, slot: Slot<'a>) {
        if !self.has(key) {
            self.insert(key, slot);
        }
    }

    #[inline]
    pub(crate) fn remove(&mut self, key: &str) -> Option<Slot<'a>> {
        if !self.marks.has(Marks::of(key)) {
            return None;
        }
        self.extract(key)
    }

    fn extract(&mut self, key: &str) -> Option<Slot<'a>> {
        let at = self.all.iter().position(|(it, _)| *it == key)?;
        let (_, slot) = self.all.remove(at);
        self.mark();
        Some(slot)
    }

    pub(crate) fn retain(&mut self, mut keeps: impl FnMut(&'a str, &Slot<'a>) -> bool) {
        self.all.retain(|(key, slot)| keeps(key, slot));
        self.mark();
    }

    /// Whether none of them constrains anything.
    pub(crate) fn annotate(&self) -> bool {
        const MARKS: Marks = Marks::of_all(&ANNOTATIONS);
        MARKS.has(self.marks) && self.keys().all(|key| ANNOTATIONS.contains(&key))
    }

    pub(crate) fn clear(&mut self) {
        self.all.clear();
        self.marks = Marks::default();
    }

    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = &'a str> {
        self.all.iter().map(|(key, _)| *key)
    }

    pub(crate) fn values(&self) -> impl Iterator<Item = &Slot<'a>> {
        self.all.iter().map(|(_, slot)| slot)
    }

    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = &mut Slot<'a>> {
        self.all.iter_mut().map(|(_, slot)| slot)
    }

    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = (&'a str, &Slot<'a>)> {
        self.all.iter().map(|(key, slot)| (*key, slot))
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (&'a str, &mut Slot<'a>)> {
        self.all.iter_mut().map(|(key, slot)| (*key, slot))
    }
}

impl<'a> IntoIterator for Keys<'a> {
    type Item = (&'a str, Slot<'a>);
    type IntoIter = std::vec::IntoIter<Self::Item>;

    fn into_iter(self) -> Self::IntoIter {
        self.all.into_iter()
    }
}

#[cfg(test)]
mod tests;
