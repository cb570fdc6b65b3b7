//! Which servers there are and how they are started.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};
use tool_core::Namespace;

use super::{ConfigError, EntryError};

/// The servers of a configuration, in the `mcpServers` format that MCP clients use.
///
/// An entry that cannot be used fails for itself and leaves the others. Keys that are not known
/// are left alone, as other clients write their own.
///
/// ```
/// use tool_mcp::ServersConfig;
///
/// let config = ServersConfig::from_json(r#"{"mcpServers": {
///     "git": {"command": "uvx", "args": ["mcp-server-git"]},
///     "odd": {"args": []}
/// }}"#)?;
/// assert_eq!(config.servers().count(), 1);
/// let problem = config.problems().next().map(ToString::to_string);
/// assert_eq!(problem.as_deref(), Some("server \"odd\", key \"command\": is missing"));
/// # Ok::<_, tool_mcp::ConfigError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct ServersConfig {
    entries: Vec<(String, Entry)>,
}

/// How one server is started. Printing it shows no argument and no value of the environment.
#[derive(Clone, PartialEq, Eq)]
pub struct ServerConfig {
    pub(crate) name: Namespace,
    pub(crate) command: String,
    pub(crate) args: Vec<String>,
    pub(crate) env: BTreeMap<String, String>,
    pub(crate) cwd: Option<PathBuf>,
}

#[derive(Clone, Debug)]
pub(crate) enum Entry {
    Process(ServerConfig),
    Disabled,
    Broken(EntryError),
}

impl ServersConfig {
    /// Reads a configuration.
    ///
    /// # Errors
    /// [`ConfigError`] when the text is no JSON or has no object `mcpServers`. What is wrong with
    /// a single entry stands in [`problems`](Self::problems).
    pub fn from_json(text: &str) -> Result<Self, ConfigError> {
        #[derive(Deserialize)]
        struct File {
            #[serde(rename = "mcpServers")]
            servers: Option<Value>,
        }
        // Read twice: a value would keep only the last of two servers of one name.
        let file: File = serde_json::from_str(text).map_err(ConfigError::not_json)?;
        if !file.servers.is_some_and(|servers| servers.is_object()) {
            return Err(ConfigError::no_servers());
        }
        #[derive(Deserialize)]
        struct Named {
            #[serde(rename = "mcpServers")]
            servers: Pairs,
        }
        let named: Named = serde_json::from_str(text).map_err(ConfigError::not_json)?;

        let mut config = Self::default();
        for (name, value) in named.servers.0 {
            let entry = if config.entries.iter().any(|(other, _)| *other == name) {
                let problem = EntryError::new(&name, "", "stands twice");
                config.entries.retain(|(other, _)| *other != name);
                Entry::Broken(problem)
            } else {
                read_entry(&name, &value).unwrap_or_else(Entry::Broken)
            };
            config.entries.push((name, entry));
        }
        config.entries.sort_by(|(a, _), (b, _)| a.cmp(b));
        Ok(config)
    }

    /// Adds a server, in place of one of the same name.
    #[must_use]
    pub fn with(mut self, server: ServerConfig) -> Self {
        let name = server.name.as_str().to_owned();
        self.entries.retain(|(other, _)| *other != name);
        self.entries.push((name, Entry::Process(server)));
        self.entries.sort_by(|(a, _), (b, _)| a.cmp(b));
        self
    }

    /// The servers that can be started, by name.
    pub fn servers(&self) -> impl Iterator<Item = &ServerConfig> {
        self.entries.iter().filter_map(|(_, entry)| match entry {
            Entry::Process(server) => Some(server),
            Entry::Disabled | Entry::Broken(_) => None,
        })
    }

    /// What is wrong with the entries that cannot be used, by name.
    pub fn problems(&self) -> impl Iterator<Item = &EntryError> {
        self.entries.iter().filter_map(|(_, entry)| match entry {
            Entry::Broken(problem) => Some(problem),
            Entry::Disabled | Entry::Process(_) => None,
        })
    }

    pub(crate) fn into_entries(self) -> Vec<(String, Entry)> {
        self.entries
    }
}

impl ServerConfig {
    /// A server that is a command without arguments.
    pub fn new(name: Namespace, command: impl Into<String>) -> Self {
        Self {
            name,
            command: command.into(),
            args: Vec::new(),
            env: BTreeMap::new(),
            cwd: None,
        }
    }

    /// Sets the arguments. They are passed as they are; no shell sees them.
    #[must_use]
    pub fn args<A: Into<String>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args = args.into_iter().map(Into::into).collect();
        self
    }

    /// Sets one variable of the environment, beside the few that every server is given.
    #[must_use]
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.env.insert(name.into(), value.into());
        self
    }

    /// Sets the working directory. A relative one is looked up in the base directory.
    #[must_use]
    pub fn cwd(mut self, cwd: impl Into<PathBuf>) -> Self {
        self.cwd = Some(cwd.into());
        self
    }

    /// The name, which is the namespace of the server's tools.
    #[must_use]
    pub fn name(&self) -> &Namespace {
        &self.name
    }

    /// The command that is run.
    #[must_use]
    pub fn command(&self) -> &str {
        &self.command
    }

    /// The working directory, where one is configured.
    #[must_use]
    pub fn working_directory(&self) -> Option<&Path> {
        self.cwd.as_deref()
    }
}

impl fmt::Debug for ServerConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerConfig")
            .field("name", &self.name)
            .field("command", &self.command)
            .field("args", &self.args.len())
            .field("env", &self.env.keys())
            .field("cwd", &self.cwd)
            .finish()
    }
}

fn read_entry(name: &str, value: &Value) -> Result<Entry, EntryError> {
    let wrong = |key: &str, problem: &str| EntryError::new(name, key, problem);
    let namespace =
        Namespace::new(name).map_err(|problem| EntryError::new(name, "", problem.to_string()))?;
    let entry = value.as_object().ok_or_else(|| wrong("", "is no object"))?;
    if entry.get("disabled") == Some(&Value::Bool(true)) {
        return Ok(Entry::Disabled);
    }
    let command = match (entry.get("command"), entry.get("url")) {
        (Some(_), Some(_)) => return Err(wrong("url", "stands beside \"command\"")),
        (None, Some(_)) => {
            return Err(wrong("url", "servers over HTTP are not supported yet"));
        }
        (None, None) => return Err(wrong("command", "is missing")),
        (Some(command), None) => string(name, "command", command)?,
    };
    if command.trim().is_empty() {
        return Err(wrong("command", "is blank"));
    }
    let mut server = ServerConfig::new(namespace, command);
    if let Some(args) = present(entry, "args") {
        let args = args
            .as_array()
            .ok_or_else(|| wrong("args", "is no array"))?;
        for (index, arg) in args.iter().enumerate() {
            server
                .args
                .push(string(name, &format!("args.{index}"), arg)?);
        }
    }
    if let Some(env) = present(entry, "env") {
        let env = env
            .as_object()
            .ok_or_else(|| wrong("env", "is no object"))?;
        for (variable, value) in env {
            let key = format!("env.{variable}");
            if variable.is_empty() || variable.contains(['=', '\0']) {
                return Err(wrong(&key, "is no name of a variable"));
            }
            let value = string(name, &key, value)?;
            server.env.insert(variable.clone(), value);
        }
    }
    if let Some(cwd) = present(entry, "cwd") {
        server.cwd = Some(string(name, "cwd", cwd)?.into());
    }
    Ok(Entry::Process(server))
}

fn present<'a>(entry: &'a Map<String, Value>, key: &str) -> Option<&'a Value> {
    entry.get(key).filter(|value| !value.is_null())
}

fn string(server: &str, key: &str, value: &Value) -> Result<String, EntryError> {
    let text = value
        .as_str()
        .ok_or_else(|| EntryError::new(server, key, "is no string"))?;
    if text.contains('\0') {
        return Err(EntryError::new(server, key, "holds a NUL character"));
    }
    Ok(text.to_owned())
}

/// The members of an object, doubles included.
struct Pairs(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Pairs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;

        impl<'de> Visitor<'de> for Members {
            type Value = Pairs;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Pairs(pairs))
            }
        }

        deserializer.deserialize_map(Members)
    }
}
