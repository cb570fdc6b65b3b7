//! What is wrong with a configuration of servers.

use std::fmt;

/// A configuration of which nothing can be used.
#[derive(Debug, thiserror::Error)]
#[error("{problem}")]
pub struct ConfigError {
    problem: &'static str,
    #[source]
    source: Option<serde_json::Error>,
}

/// One server of a configuration that cannot be used. The others can.
///
/// The text names the server and the key, and never a value: values hold secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryError {
    server: String,
    key: String,
    problem: String,
}

impl ConfigError {
    pub(crate) fn not_json(source: serde_json::Error) -> Self {
        Self {
            problem: "server configuration is not readable as JSON",
            source: Some(source),
        }
    }

    pub(crate) fn no_servers() -> Self {
        Self {
            problem: "server configuration has no object \"mcpServers\"",
            source: None,
        }
    }
}

impl EntryError {
    pub(crate) fn new(server: &str, key: impl Into<String>, problem: impl Into<String>) -> Self {
        Self {
            server: server.to_owned(),
            key: key.into(),
            problem: problem.into(),
        }
    }

    /// The name of the server, as configured.
    #[must_use]
    pub fn server(&self) -> &str {
        &self.server
    }

    /// What is wrong, without the name of the server.
    pub(crate) fn reason(&self) -> String {
        if self.key.is_empty() {
            self.problem.clone()
        } else {
            format!("key \"{}\": {}", self.key.escape_debug(), self.problem)
        }
    }

    /// The key that is wrong, as a path such as `env.PORT`; empty where it is the entry itself.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }
}

impl fmt::Display for EntryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let separator = if self.key.is_empty() { ":" } else { "," };
        write!(
            f,
            "server \"{}\"{separator} {}",
            self.server.escape_debug(),
            self.reason()
        )
    }
}

impl std::error::Error for EntryError {}

/// A key of a server's entry that means nothing here, and reads like one that does.
///
/// Other clients write keys of their own beside ours, so that it is no error: whoever looks after
/// a configuration has to know that a sandbox or a switch is not in force.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnknownKey {
    /// The name of the server, as configured.
    pub server: String,
    /// The key as it is written.
    pub key: String,
    /// The key that it reads like.
    pub nearest: &'static str,
}
