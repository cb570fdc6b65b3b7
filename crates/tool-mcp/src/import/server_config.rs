//! How one server is reached.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};

use tool_core::Namespace;

use super::Overlay;
use crate::{FirstSight, Launch};

/// How one server is started or reached. Printing it shows no argument, no header and no value of
/// the environment.
#[derive(Clone, PartialEq, Eq)]
pub struct ServerConfig {
    pub(crate) name: Namespace,
    /// Empty for a server over HTTP.
    pub(crate) command: String,
    pub(crate) args: Vec<String>,
    pub(crate) prefix: Vec<String>,
    pub(crate) env: BTreeMap<String, String>,
    pub(crate) cwd: Option<PathBuf>,
    pub(crate) http: Option<HttpTarget>,
    pub(crate) overlay: Overlay,
}

/// Where a server is reached over HTTP.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct HttpTarget {
    pub(crate) url: String,
    /// In lower case.
    pub(crate) headers: BTreeMap<String, String>,
    /// The variable of the environment that holds the bearer token.
    pub(crate) bearer_env: Option<String>,
    /// Who we are where somebody has to log in; nothing where nobody is to.
    #[cfg(feature = "oauth")]
    pub(crate) oauth: Option<Box<crate::oauth::OAuthClient>>,
}

impl ServerConfig {
    /// A server that is a command without arguments.
    pub fn new(name: Namespace, command: impl Into<String>) -> Self {
        Self {
            name,
            command: command.into(),
            args: Vec::new(),
            prefix: Vec::new(),
            env: BTreeMap::new(),
            cwd: None,
            http: None,
            overlay: Overlay::default(),
        }
    }

    /// A server that is reached over streamable HTTP.
    #[cfg(feature = "http-client")]
    pub fn http(name: Namespace, url: impl Into<String>) -> Self {
        Self {
            http: Some(HttpTarget::new(url.into())),
            ..Self::new(name, "")
        }
    }

    /// Sets one header of every request to a server over HTTP; of no effect on a process.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        if let Some(http) = &mut self.http {
            let name = name.into().to_ascii_lowercase();
            http.headers.insert(name, value.into());
        }
        self
    }

    /// Names the variable of this process's environment that holds the bearer token for a server
    /// over HTTP. It is read at each connection, and a missing one fails the server.
    #[must_use]
    pub fn bearer_env(mut self, variable: impl Into<String>) -> Self {
        if let Some(http) = &mut self.http {
            http.bearer_env = Some(variable.into());
        }
        self
    }

    /// Sets who we are to the authorization server of a server over HTTP, for which
    /// [`Logins`](crate::Logins) are used once it asks who calls. By default we are nobody yet, and
    /// register ourselves.
    #[cfg(feature = "oauth")]
    #[must_use]
    pub fn oauth(mut self, client: crate::oauth::OAuthClient) -> Self {
        if let Some(http) = &mut self.http {
            http.oauth = Some(Box::new(client));
        }
        self
    }

    /// Has nobody log in to a server over HTTP: one that asks who calls fails.
    #[cfg(feature = "oauth")]
    #[must_use]
    pub fn no_oauth(mut self) -> Self {
        if let Some(http) = &mut self.http {
            http.oauth = None;
        }
        self
    }

    /// Sets the arguments. They are passed as they are; no shell sees them.
    #[must_use]
    pub fn args<A: Into<String>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args = args.into_iter().map(Into::into).collect();
        self
    }

    /// Sets what stands before the command, such as a sandbox with its own arguments:
    /// `["bwrap", "--unshare-net", "--"]`. The prefix is what runs, and gets the command and its
    /// arguments as its last ones.
    #[must_use]
    pub fn prefix<P: Into<String>>(mut self, prefix: impl IntoIterator<Item = P>) -> Self {
        self.prefix = prefix.into_iter().map(Into::into).collect();
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

    /// Sets what the operator wants of the server and its tools, whatever they say.
    #[must_use]
    pub fn overlay(mut self, overlay: Overlay) -> Self {
        self.overlay = overlay;
        self
    }

    /// What becomes of it where it was never seen, where its overlay says so. Else what
    /// [`Pins::first_sight`](crate::Pins::first_sight) says.
    #[must_use]
    pub fn first_sight(&self) -> Option<FirstSight> {
        self.overlay.all().trust
    }

    /// The same server for a look at what it lists, where no pins are kept: nothing of it waits for
    /// an approval that its overlay wants. Whoever looks asks before whether it may be started.
    #[must_use]
    pub fn for_a_look(mut self) -> Self {
        self.overlay = self.overlay.without_trust();
        self
    }

    /// The name, which is the namespace of the server's tools.
    #[must_use]
    pub fn name(&self) -> &Namespace {
        &self.name
    }

    /// The command, without what stands before it; empty for a server over HTTP.
    #[must_use]
    pub fn command(&self) -> &str {
        &self.command
    }

    /// What stands before the command.
    #[must_use]
    pub fn prefix_words(&self) -> impl ExactSizeIterator<Item = &str> {
        self.prefix.iter().map(String::as_str)
    }

    /// The variables that are set for it, with their values, which may be secrets.
    #[must_use]
    pub fn variables(&self) -> impl ExactSizeIterator<Item = (&str, &str)> {
        let variables = self.env.iter();
        variables.map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// The variable of this process's environment that holds the bearer token, where one is named.
    #[must_use]
    pub fn bearer_variable(&self) -> Option<&str> {
        self.http.as_ref()?.bearer_env.as_deref()
    }

    /// The address of a server over HTTP.
    #[must_use]
    pub fn url(&self) -> Option<&str> {
        self.http.as_ref().map(|http| http.url.as_str())
    }

    /// Everything that is run, from its first word to its last.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        let command = [self.command.as_str()].into_iter();
        let command = command.filter(|_| self.http.is_none());
        let prefix = self.prefix.iter().map(String::as_str);
        prefix
            .chain(command)
            .chain(self.args.iter().map(String::as_str))
    }

    /// How it is reached, as somebody has to read it who is to trust it. Folders are looked up in a
    /// base directory, as when it is started: the same command elsewhere is another one.
    #[must_use]
    pub fn launch(&self, base: &Path) -> Launch {
        if let Some(http) = &self.http {
            let mut headers: BTreeSet<String> = http.headers.keys().cloned().collect();
            if let Some(variable) = &http.bearer_env {
                headers.insert(format!("authorization from {variable}"));
            }
            return Launch::Http {
                url: http.url.clone(),
                headers,
            };
        }
        let folder = match &self.cwd {
            Some(cwd) => base.join(cwd),
            None => base.to_owned(),
        };
        // Where there is no such folder, nothing is started.
        let folder = folder.canonicalize().unwrap_or(folder);
        let mut words = self.words().map(str::to_owned);
        Launch::Process {
            command: words.next().unwrap_or_default(),
            args: words.collect(),
            env: self.env.keys().cloned().collect(),
            cwd: Some(folder.display().to_string()),
        }
    }

    /// The program that is run.
    pub(crate) fn program(&self) -> &str {
        self.words().next().unwrap_or_default()
    }

    pub(crate) fn is_remote(&self) -> bool {
        self.http.is_some()
    }

    /// The working directory, where one is configured.
    #[must_use]
    pub fn working_directory(&self) -> Option<&Path> {
        self.cwd.as_deref()
    }
}

impl HttpTarget {
    pub(crate) fn new(url: String) -> Self {
        Self {
            url,
            headers: BTreeMap::new(),
            bearer_env: None,
            #[cfg(feature = "oauth")]
            oauth: Some(Box::default()),
        }
    }
}

impl fmt::Debug for ServerConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("ServerConfig");
        debug.field("name", &self.name);
        if let Some(http) = &self.http {
            let headers: Vec<_> = http.headers.keys().collect();
            return debug
                .field("headers", &headers)
                .field("bearer_env", &http.bearer_env)
                .finish_non_exhaustive();
        }
        debug
            .field("command", &self.command)
            .field("prefix", &self.prefix.len())
            .field("args", &self.args.len())
            .field("env", &self.env.keys())
            .field("cwd", &self.cwd)
            .finish()
    }
}
