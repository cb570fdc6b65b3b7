//! Checks and automation of the workspace.
