//! The ids of one response's calls, no two of which are the same.

use std::collections::BTreeSet;

use tool_core::CallId;

use crate::Api;

/// The ids that a response gave its calls so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct UniqueIds(BTreeSet<String>);

impl UniqueIds {
    /// The id of a call. One that was there before is given a number. Where none is given, one is
    /// made for an API whose results name their calls by it.
    pub(crate) fn of(&mut self, api: Api, given: Option<&str>, position: usize) -> Option<CallId> {
        let made;
        let given = match given.filter(|id| !id.is_empty()) {
            Some(given) => given,
            None if matches!(api, Api::Gemini | Api::Mcp) => return None,
            None => {
                made = format!("call_{position}");
                &made
            }
        };
        Some(CallId::from(self.next(given)))
    }

    fn next(&mut self, given: &str) -> String {
        let mut id = given.to_owned();
        let mut count = 2_usize;
        while !self.0.insert(id.clone()) {
            id = format!("{given}-{count}");
            count += 1;
        }
        id
    }
}
