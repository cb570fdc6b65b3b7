//! The lists that are looked into: of a file, or of servers that are asked.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::Value;
use tool_runtime::core::Namespace;
use tool_runtime::mcp::{ServersConfig, UpstreamState, Upstreams};
use tool_runtime::registry::Registry;

use super::lines::Lines;
use crate::args::Common;
use crate::error::CliError;
use crate::tool_list_file::Document;
use crate::{input, setup, signals};

/// A list of tools and where it is from.
#[derive(Debug)]
pub(crate) struct Listed {
    /// The file or the server, for people.
    pub(crate) name: String,
    /// The file that somebody would change, or that names the server.
    pub(crate) artifact: PathBuf,
    /// The lines of that file.
    pub(crate) lines: Lines,
    /// The place of the list in the file; nothing where a server was asked.
    pub(crate) pointer: Option<&'static str>,
    /// The entries, or why there are none, as a clause.
    pub(crate) tools: Result<Vec<Value>, String>,
}

impl Listed {
    /// The line of a value of the list, or that on which the server is named.
    pub(crate) fn line_of(&self, place: &str) -> u32 {
        match self.pointer {
            Some(_) => self.lines.of_value(place),
            None => {
                let name = self.name.replace('~', "~0").replace('/', "~1");
                self.lines.of_value(&format!("/mcpServers/{name}"))
            }
        }
    }
}

/// Lists, or the status to end with where the program was told to.
type Lists = Result<Vec<Listed>, ExitCode>;

/// The list of a file, or those of the servers that it names.
pub(crate) async fn of_file(path: &Path, common: &Common) -> Result<Lists, CliError> {
    match Document::read(path)? {
        Document::Tools(list) => Ok(Ok(vec![Listed {
            name: match path.as_os_str() == "-" {
                true => "standard input".to_owned(),
                false => path.display().to_string(),
            },
            artifact: path.to_owned(),
            lines: Lines::of(&list.text),
            pointer: Some(list.pointer),
            tools: Ok(list.entries),
        }])),
        Document::Servers(text) => ask(path, &text, read(path, &text)?, common).await,
    }
}

/// The lists of all servers of a configuration.
pub(crate) async fn of_servers(config: &Path, common: &Common) -> Result<Lists, CliError> {
    let text = input::file(config)?;
    ask(config, &text, read(config, &text)?, common).await
}

/// The list of one server of a configuration.
pub(crate) async fn of_server(
    config: &Path,
    name: &str,
    common: &Common,
) -> Result<Lists, CliError> {
    let text = input::file(config)?;
    let servers = read(config, &text)?;
    let wanted = Namespace::new(name).ok();
    let found = servers
        .servers()
        .find(|it| Some(it.name()) == wanted.as_ref());
    if let Some(server) = found {
        return ask(
            config,
            &text,
            ServersConfig::default().with(server.clone()),
            common,
        )
        .await;
    }
    let problems = servers.problems().filter(|it| it.server() == name);
    let problems: Vec<_> = problems.map(ToString::to_string).collect();
    if !problems.is_empty() {
        let problem = problems.join("\n");
        return Err(CliError::Server { problem });
    }
    let known: Vec<String> = servers.servers().map(|it| it.name().to_string()).collect();
    Err(CliError::UnknownServer {
        name: name.to_owned(),
        path: config.to_owned(),
        known: match known.len() {
            0 => "it names no server that can be started".to_owned(),
            _ => format!("it names {}", known.join(", ")),
        },
    })
}

fn read(path: &Path, text: &str) -> Result<ServersConfig, CliError> {
    ServersConfig::from_json(text).map_err(|source| CliError::Servers {
        path: path.to_owned(),
        source,
    })
}

/// Starts servers, takes what they list, and ends them.
async fn ask(
    config: &Path,
    text: &str,
    servers: ServersConfig,
    common: &Common,
) -> Result<Lists, CliError> {
    let base = config.parent().filter(|base| !base.as_os_str().is_empty());
    let upstreams = Upstreams::builder(servers)
        .base_dir(base.unwrap_or(Path::new(".")))
        .client("tool", env!("CARGO_PKG_VERSION"))
        .keep_lists()
        .pins(setup::pins(common).await?);
    #[cfg(feature = "oauth")]
    let upstreams = upstreams.logins(setup::logins(common).await?);
    let upstreams = upstreams.connect(&Registry::default());
    tokio::select! {
        () = upstreams.settled() => {}
        status = signals::told_to_end() => {
            upstreams.shutdown().await;
            return Ok(Err(status));
        }
    }
    let lines = Lines::of(text);
    let mut lists = Vec::new();
    for status in upstreams.statuses() {
        let tools = match (status.state, upstreams.listed(&status.name)) {
            (UpstreamState::Disabled, _) => continue,
            (
                UpstreamState::Failed { reason }
                | UpstreamState::Away { reason, .. }
                | UpstreamState::Held { reason }
                | UpstreamState::Locked { reason },
                None,
            ) => Err(reason),
            (_, Some(listed)) => Ok(listed.to_vec()),
            (state, None) => Err(format!("is {}", state.as_str())),
        };
        lists.push(Listed {
            name: status.name,
            artifact: config.to_owned(),
            lines: lines.clone(),
            pointer: None,
            tools,
        });
    }
    upstreams.shutdown().await;
    Ok(Ok(lists))
}
