//! What is remembered of a project beyond one process.

use std::path::Path;
use std::sync::Arc;

use tool_core::State;
use tool_permission::{Approvals, Mailbox};
use tool_storage::DirState;

use crate::RuntimeError;
use crate::builder::KEPT;

/// The saved approvals of a workspace, and the questions that gateways posted for it: those of
/// every [`Runtime`](crate::Runtime) with the same state folder and workspace. It blocks.
///
/// # Errors
/// [`RuntimeError`] when the folder cannot be opened.
pub fn approvals_in(
    state: impl AsRef<Path>,
    workspace: impl AsRef<Path>,
) -> Result<(Approvals, Mailbox), RuntimeError> {
    let kept = DirState::open(state.as_ref().join(KEPT)).map_err(RuntimeError::Store)?;
    let root = Some(workspace.as_ref());
    let state: Arc<dyn State> = Arc::new(kept.clone());
    let mailbox = Mailbox::kept_in(state, &project(root));
    Ok((approvals(kept, root), mailbox))
}

pub(crate) fn approvals(kept: DirState, workspace: Option<&Path>) -> Approvals {
    Approvals::kept_in(Arc::new(kept), &project(workspace))
}

/// The name under which they are kept: the folder, with all links resolved.
fn project(workspace: Option<&Path>) -> String {
    let Some(root) = workspace else {
        return "no workspace".to_owned();
    };
    let real = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    real.display().to_string()
}
