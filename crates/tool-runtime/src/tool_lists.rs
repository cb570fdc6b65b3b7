//! Tool lists that are made once.

use std::sync::{Arc, Mutex, PoisonError};

use tool_provider::{Profile, ToolList};
use tool_registry::{Snapshot, SnapshotId};

/// The tools of snapshots as providers take them, each projected once.
///
/// A request whose snapshot shows what an earlier one showed gets the list of that one: nothing is
/// projected and nothing is written out. Anything that is registered, replaced or dropped makes
/// another snapshot, whose list is made anew. Snapshots that hooks on requests change are never the
/// same, and are projected each time.
///
/// It keeps the 16 lists that were asked for last, and no tool alive.
///
/// ```
/// use std::sync::Arc;
/// use tool_runtime::ToolLists;
/// use tool_runtime::provider::Profile;
/// use tool_runtime::registry::Registry;
///
/// let (lists, registry) = (ToolLists::default(), Registry::default());
/// let list = lists.of(&registry.snapshot(), Profile::Anthropic);
/// assert!(Arc::ptr_eq(&list, &lists.of(&registry.snapshot(), Profile::Anthropic)));
/// assert_eq!(list.as_json(), "[]");
/// ```
#[derive(Debug, Default)]
pub struct ToolLists {
    /// The newest last.
    kept: Mutex<Vec<Kept>>,
}

#[derive(Debug)]
struct Kept {
    of: SnapshotId,
    profile: Profile,
    list: Arc<ToolList>,
}

/// Enough for a handful of agents with a provider each; a list is some hundred kilobytes at most.
const MOST: usize = 16;

impl ToolLists {
    /// The tools of a snapshot as a provider takes them.
    pub fn of(&self, snapshot: &Snapshot, profile: Profile) -> Arc<ToolList> {
        let id = snapshot.id();
        let is_it = |kept: &Kept| kept.profile == profile && kept.of == id;
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = kept.iter().position(is_it) {
            let found = kept.remove(at);
            let list = Arc::clone(&found.list);
            kept.push(found);
            return list;
        }
        drop(kept);
        // Others are not held up meanwhile; two that project the same get the same bytes.
        let list = Arc::new(profile.tools(snapshot.definitions()));
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|it| it.of.is_live() && !is_it(it));
        if kept.len() >= MOST {
            kept.remove(0);
        }
        kept.push(Kept {
            of: id,
            profile,
            list: Arc::clone(&list),
        });
        list
    }
}
