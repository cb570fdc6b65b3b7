//! What is remembered of a project beyond one process.

use std::path::Path;
use std::sync::Arc;

use tool_core::State;
use tool_permission::{Approvals, Mailbox};

use crate::{Place, RuntimeError};

/// The saved approvals of a workspace, and the questions that gateways posted for it: those of
/// every [`Runtime`](crate::Runtime) with the same state and workspace.
///
/// # Errors
/// [`RuntimeError`] when the folder or the bucket cannot be used.
///
/// # Cancel safety
/// Dropping the future changes nothing.
pub async fn approvals_in(
    state: impl Into<Place>,
    workspace: impl AsRef<Path>,
) -> Result<(Approvals, Mailbox), RuntimeError> {
    let kept = state.into().open()?.kept().await?;
    let root = Some(workspace.as_ref());
    let mailbox = Mailbox::kept_in(Arc::clone(&kept), &project(root));
    Ok((approvals(kept, root), mailbox))
}

pub(crate) fn approvals(kept: Arc<dyn State>, workspace: Option<&Path>) -> Approvals {
    Approvals::kept_in(kept, &project(workspace))
}

/// The name under which they are kept: the folder, with all links resolved.
fn project(workspace: Option<&Path>) -> String {
    let Some(root) = workspace else {
        return "no workspace".to_owned();
    };
    let real = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    real.display().to_string()
}
