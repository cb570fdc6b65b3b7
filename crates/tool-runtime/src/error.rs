//! A runtime that could not be put together or used.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// A runtime that could not be put together or used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RuntimeError {
    /// A policy file cannot be used. Nothing of it is in force.
    #[cfg(feature = "permission")]
    #[error("policy could not be loaded")]
    Policy(#[from] tool_permission::LoadError),
    /// A policy file that a file of settings names cannot be used.
    #[cfg(feature = "permission")]
    #[error("settings {}:{line} name a policy that could not be loaded", path.display())]
    NamedPolicy {
        /// The file of settings.
        path: PathBuf,
        /// The line that names the policy, from 1.
        line: usize,
        /// What is wrong with the policy.
        #[source]
        source: tool_permission::LoadError,
    },
    /// A file of settings cannot be read.
    #[error("settings {} could not be read", path.display())]
    ReadSettings {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A file of settings holds something that it cannot hold.
    #[error("settings {}{} are wrong: {problem}", path.display(), line.map(|line| format!(":{line}")).unwrap_or_default())]
    Settings {
        /// The file.
        path: PathBuf,
        /// The line, from 1, where it is known.
        line: Option<usize>,
        /// What is wrong and how to put it right.
        problem: String,
    },
    /// The folder for retained output, or what is remembered in it, cannot be used.
    #[error("store for retained output cannot be used")]
    Store(#[source] tool_core::StoreError),
    /// What is remembered cannot be read or written.
    #[error("what is remembered cannot be used")]
    Kept(#[source] tool_core::StateError),
    /// State was to be kept in a place that is none, or that this build cannot reach.
    #[error("state cannot be kept there: {problem}")]
    Place {
        /// What is wrong and how to put it right.
        problem: String,
    },
    /// The folder for artifacts cannot be used.
    #[error("store for artifacts cannot be used")]
    Artifacts(#[source] tool_core::ArtifactError),
    /// The folder that the built-in tools work on cannot be used.
    #[cfg(feature = "builtin")]
    #[error("built-in tools have no folder to work on")]
    Workspace(#[from] tool_builtin::WorkspaceError),
    /// A file of MCP servers cannot be read.
    #[error("servers {} could not be read", path.display())]
    ReadServers {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A file of MCP servers is not of the `mcpServers` format.
    #[cfg(feature = "mcp-child")]
    #[error("servers {} are not of the mcpServers format", path.display())]
    Servers {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: tool_mcp::ConfigError,
    },
    /// Tools could not be registered.
    #[error("tools could not be registered")]
    Registration(#[from] tool_registry::RegistrationError),
    /// Clients cannot be served.
    #[cfg(feature = "mcp")]
    #[error("clients could not be served")]
    Serve(#[from] tool_mcp::ServeError),
}
