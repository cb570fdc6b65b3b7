//! Names for what references lead to.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::Name;

/// The names that were given, each of them once.
#[derive(Debug, Default)]
pub(super) struct GivenNames<'a> {
    taken: BTreeSet<Name<'a>>,
    /// The last number that made a name another one.
    counts: BTreeMap<String, usize>,
}

impl<'a> GivenNames<'a> {
    /// A name for what a reference leads to, by the last token of its pointer.
    pub(super) fn give(&mut self, token: &str, reference: &'a str) -> Name<'a> {
        let name = self.new_name(token, reference);
        self.taken.insert(name.clone());
        name
    }

    fn new_name(&mut self, token: &str, reference: &'a str) -> Name<'a> {
        let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        let written = reference.rsplit('/').next().unwrap_or_default();
        let stays = written == token && !token.is_empty() && token.chars().all(legal);
        if stays && !self.taken.contains(token) {
            return Cow::Borrowed(written);
        }
        let plain: String = token
            .chars()
            .map(|c| if legal(c) { c } else { '_' })
            .collect();
        let plain = if plain.is_empty() {
            "part".to_owned()
        } else {
            plain
        };
        if !self.taken.contains(&*plain) {
            return Cow::Owned(plain);
        }
        // No name is ever free again, so it is enough to go on where the last search ended.
        let count = self.counts.entry(plain.clone()).or_insert(1);
        loop {
            *count += 1;
            let name = format!("{plain}_{count}");
            if !self.taken.contains(&*name) {
                return Cow::Owned(name);
            }
        }
    }
}
