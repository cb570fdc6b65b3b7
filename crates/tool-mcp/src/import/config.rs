//! Which servers there are and how they are started.

use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::config_entry::{read_entry, slips};
use super::{ConfigError, EntryError, ServerConfig, UnknownKey};

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
    unknown: Vec<UnknownKey>,
}

#[derive(Clone, Debug)]
pub(crate) enum Entry {
    Server(Box<ServerConfig>),
    Disabled,
    /// Everything that is wrong with it: something at least.
    Broken(Vec<EntryError>),
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
                Entry::Broken(vec![problem])
            } else {
                read_entry(&name, &value).unwrap_or_else(Entry::Broken)
            };
            if let (Entry::Server(_), Some(members)) = (&entry, value.as_object()) {
                let unknown = slips(members).map(|(key, nearest)| UnknownKey {
                    server: name.clone(),
                    key: key.to_owned(),
                    nearest,
                });
                config.unknown.extend(unknown);
            }
            config.entries.push((name, entry));
        }
        config.entries.sort_by(|(a, _), (b, _)| a.cmp(b));
        Ok(config)
    }

    /// Adds a server, in place of one of the same name.
    #[must_use]
    pub fn with(mut self, server: ServerConfig) -> Self {
        let name = server.name().as_str().to_owned();
        self.entries.retain(|(other, _)| *other != name);
        self.entries.push((name, Entry::Server(Box::new(server))));
        self.entries.sort_by(|(a, _), (b, _)| a.cmp(b));
        self
    }

    /// The servers that can be started, by name.
    pub fn servers(&self) -> impl Iterator<Item = &ServerConfig> {
        self.entries.iter().filter_map(|(_, entry)| match entry {
            Entry::Server(server) => Some(&**server),
            Entry::Disabled | Entry::Broken(_) => None,
        })
    }

    /// Everything that is wrong with the entries that cannot be used, by name.
    pub fn problems(&self) -> impl Iterator<Item = &EntryError> {
        let entries = self.entries.iter();
        entries.flat_map(|(_, entry)| match entry {
            Entry::Broken(problems) => problems.as_slice(),
            Entry::Disabled | Entry::Server(_) => &[],
        })
    }

    /// Keys that mean nothing here and read like one that does, in the order of the file. Those of an
    /// entry that cannot be used are among its [`problems`](Self::problems).
    pub fn unknown_keys(&self) -> impl Iterator<Item = &UnknownKey> {
        self.unknown.iter()
    }

    pub(crate) fn into_entries(self) -> Vec<(String, Entry)> {
        self.entries
    }
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
