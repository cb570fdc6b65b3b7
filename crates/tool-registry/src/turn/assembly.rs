//! Calls that come in pieces.

use std::collections::{HashMap, HashSet};

use tool_core::{Call, CallId};

use super::TurnError;

/// Calls that come in pieces, and the ids that were given out.
#[derive(Debug, Default)]
pub(super) struct Assembly {
    open: HashMap<usize, Call>,
    begun: HashSet<usize>,
    ids: HashSet<CallId>,
    /// How often an id was given, for ids that were given more than once.
    repeats: HashMap<CallId, u64>,
    /// What became of the ids of calls that the provider runs, the newest of each.
    provider_ids: HashMap<CallId, CallId>,
}

impl Assembly {
    pub(super) fn begin(
        &mut self,
        index: usize,
        id: Option<CallId>,
        name: String,
    ) -> Result<(), TurnError> {
        if !self.begun.insert(index) {
            return Err(TurnError::BeganTwice { index });
        }
        let call = Call::new(name, String::new());
        self.open.insert(
            index,
            match id {
                Some(id) => call.id(id),
                None => call,
            },
        );
        Ok(())
    }

    pub(super) fn append(&mut self, index: usize, text: &str) -> Result<(), TurnError> {
        let call = self
            .open
            .get_mut(&index)
            .ok_or(TurnError::NotAssembling { index })?;
        call.push_arguments(text);
        Ok(())
    }

    pub(super) fn complete(&mut self, index: usize) -> Result<Call, TurnError> {
        self.open
            .remove(&index)
            .ok_or(TurnError::NotAssembling { index })
    }

    /// The calls that were never completed, in their order.
    pub(super) fn take_unfinished(&mut self) -> Vec<Call> {
        let mut open: Vec<_> = self.open.drain().collect();
        open.sort_unstable_by_key(|(index, _)| *index);
        open.into_iter().map(|(_, call)| call).collect()
    }

    /// Makes the id of a call unique in the turn: a provider may repeat one, and each call is
    /// answered on its own.
    pub(super) fn with_unique_id(&mut self, call: Call) -> Call {
        let Some(id) = call.call_id() else {
            return call;
        };
        if self.ids.insert(id.clone()) {
            return call;
        }
        let number = self.repeats.entry(id.clone()).or_insert(1);
        loop {
            *number += 1;
            let candidate = CallId::new(format!("{id}-{number}"));
            if self.ids.insert(candidate.clone()) {
                return call.id(candidate);
            }
        }
    }

    /// The same for a call that the provider runs, whose result will name it by the provider's id.
    pub(super) fn with_unique_provider_id(&mut self, call: Call) -> Call {
        let given = call.call_id().cloned();
        let call = self.with_unique_id(call);
        if let (Some(given), Some(unique)) = (given, call.call_id()) {
            self.provider_ids.insert(given, unique.clone());
        }
        call
    }

    /// The id of the call that a result of the provider is of.
    pub(super) fn provider_id(&self, given: CallId) -> CallId {
        self.provider_ids.get(&given).cloned().unwrap_or(given)
    }
}
