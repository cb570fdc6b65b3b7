//! What a permission request is about.

use std::fmt;
use std::path::{Path, PathBuf};

/// One thing that an action touches, as a type that policy can judge in all its spellings.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Resource {
    /// A plain name: a tool, a search pattern, an address.
    Name(String),
    /// A file or folder.
    Path {
        /// The folder that relative paths start from and that counts as inside.
        root: PathBuf,
        /// The path as the caller spelled it, relative to the root or absolute.
        path: PathBuf,
    },
    /// A line for a shell.
    Command {
        /// The folder that counts as inside.
        root: PathBuf,
        /// The folder that the line runs in, absolute.
        cwd: PathBuf,
        /// The line, exactly as it would run.
        line: String,
    },
}

impl Resource {
    /// A file or folder below or outside a root.
    pub fn path(root: impl AsRef<Path>, path: impl AsRef<Path>) -> Self {
        Self::Path {
            root: root.as_ref().to_owned(),
            path: path.as_ref().to_owned(),
        }
    }

    /// A line for a shell, run in `cwd`.
    pub fn command(root: impl AsRef<Path>, cwd: impl AsRef<Path>, line: impl Into<String>) -> Self {
        Self::Command {
            root: root.as_ref().to_owned(),
            cwd: cwd.as_ref().to_owned(),
            line: line.into(),
        }
    }
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Path { path, .. } => path.display().fmt(f),
            Self::Command { line, .. } => f.write_str(line),
        }
    }
}

impl From<&str> for Resource {
    fn from(name: &str) -> Self {
        Self::Name(name.to_owned())
    }
}

impl From<String> for Resource {
    fn from(name: String) -> Self {
        Self::Name(name)
    }
}

impl From<&String> for Resource {
    fn from(name: &String) -> Self {
        Self::Name(name.clone())
    }
}
