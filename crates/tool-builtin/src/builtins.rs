//! All built-in tools at once.

use std::sync::Arc;

use tool_core::{OutputStore, Permission, Tool};

#[cfg(unix)]
use crate::ShellOptions;
use crate::{Workspace, edit, glob, grep, read, read_output, write};

/// What the built-in tools may be told. The defaults suit a workspace of a developer.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Options {
    #[cfg(unix)]
    shell: ShellOptions,
}

impl Options {
    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets what `shell` is told. Defaults to [`ShellOptions::default`].
    #[cfg(unix)]
    #[must_use]
    pub fn shell(mut self, shell: ShellOptions) -> Self {
        self.shell = shell;
        self
    }
}

/// Every built-in tool under its name, sorted by name: `edit`, `glob`, `grep`, `read`,
/// `read_output` (only with a store), `shell` (only on Unix) and `write`.
///
/// They run on a tokio runtime with time and I/O enabled.
#[must_use]
pub fn all(
    workspace: &Workspace,
    permission: Permission,
    store: Option<Arc<dyn OutputStore>>,
    options: Options,
) -> Vec<(&'static str, Tool)> {
    let mut tools = vec![
        ("edit", edit(workspace, permission.clone())),
        ("glob", glob(workspace, permission.clone())),
        ("grep", grep(workspace, permission.clone())),
        ("read", read(workspace, permission.clone())),
        ("write", write(workspace, permission.clone())),
    ];
    let Options {
        #[cfg(unix)]
        shell,
    } = options;
    #[cfg(unix)]
    tools.push(("shell", crate::shell(workspace, permission.clone(), shell)));
    if let Some(store) = store {
        tools.push(("read_output", read_output(store, permission)));
    }
    tools.sort_unstable_by_key(|(name, _)| *name);
    tools
}
