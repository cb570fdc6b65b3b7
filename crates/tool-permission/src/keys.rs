//! Literals sorted so that those that start a text are found at once.

use std::cmp::Ordering;

use crate::subject::Symbol;

/// Groups of places under a literal each.
///
/// The literals are sorted, and each knows the longest other that starts it. Those that start a
/// text are the greatest that is not above the text, or what starts that one, and so on: whatever
/// lies between a start of the text and the text itself has that start too.
#[derive(Debug, Default)]
pub(crate) struct Keys(Vec<Slot>);

#[derive(Debug)]
struct Slot {
    key: Vec<char>,
    parent: Option<usize>,
    group: Vec<usize>,
}

impl Keys {
    pub(crate) fn new(mut entries: Vec<(Vec<char>, usize)>) -> Self {
        entries.sort();
        let mut slots: Vec<Slot> = Vec::new();
        for (key, at) in entries {
            match slots.last_mut() {
                Some(slot) if slot.key == key => slot.group.push(at),
                last => {
                    let mut parent = last.is_some().then(|| slots.len() - 1);
                    while let Some(slot) = parent.and_then(|at| slots.get(at))
                        && !key.starts_with(&slot.key)
                    {
                        parent = slot.parent;
                    }
                    slots.push(Slot {
                        key,
                        parent,
                        group: vec![at],
                    });
                }
            }
        }
        Self(slots)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Shows the groups whose key starts the text, and with `longer` also those whose key the
    /// text starts.
    pub(crate) fn visit(&self, text: &[Symbol], longer: bool, show: &mut impl FnMut(&[usize])) {
        let above = self
            .0
            .partition_point(|slot| compare(&slot.key, text) != Ordering::Greater);

        let mut slot = above.checked_sub(1).and_then(|at| self.0.get(at));
        while let Some(Slot { key, parent, group }) = slot {
            if starts(key, text) {
                show(group);
            }
            slot = parent.and_then(|at| self.0.get(at));
        }

        if longer {
            let rest = self.0.get(above..).unwrap_or_default();
            for slot in rest.iter().take_while(|slot| started_by(&slot.key, text)) {
                show(&slot.group);
            }
        }
    }
}

/// The order of a literal and a text. A symbol that is no character stands after all characters.
fn compare(key: &[char], text: &[Symbol]) -> Ordering {
    key.iter()
        .map(|char| Symbol::Char(*char))
        .cmp(text.iter().copied())
}

fn starts(key: &[char], text: &[Symbol]) -> bool {
    key.len() <= text.len()
        && key
            .iter()
            .zip(text)
            .all(|(char, symbol)| *symbol == Symbol::Char(*char))
}

fn started_by(key: &[char], text: &[Symbol]) -> bool {
    text.len() <= key.len()
        && key
            .iter()
            .zip(text)
            .all(|(char, symbol)| *symbol == Symbol::Char(*char))
}

#[cfg(test)]
mod tests;
