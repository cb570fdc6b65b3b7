//! What the file tools say of themselves.

use tool_core::Annotations;

/// A tool that looks at the workspace and nothing else.
pub(crate) fn reading(title: &str) -> Annotations {
    let mut hints = Annotations::default();
    hints.title = Some(title.to_owned());
    hints.read_only = true;
    hints.destructive = false;
    hints.idempotent = true;
    hints.open_world = false;
    hints
}

/// A tool that changes files of the workspace and nothing else.
pub(crate) fn writing(title: &str) -> Annotations {
    let mut hints = Annotations::default();
    hints.title = Some(title.to_owned());
    hints.open_world = false;
    hints
}
