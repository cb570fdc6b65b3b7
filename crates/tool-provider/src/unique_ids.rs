//! The ids of one response's calls, no two of which are the same.

use std::collections::BTreeSet;

/// The ids that a response gave its calls so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct UniqueIds(BTreeSet<String>);

impl UniqueIds {
    /// The id of the next call. One that was there before is given a number.
    pub(crate) fn next(&mut self, given: &str) -> String {
        let mut id = given.to_owned();
        let mut count = 2_usize;
        while !self.0.insert(id.clone()) {
            id = format!("{given}-{count}");
            count += 1;
        }
        id
    }
}
