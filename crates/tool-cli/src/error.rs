//! What can go wrong before and beside a call.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use thiserror::Error;
use tool_runtime::RuntimeError;

/// A command that could not do its work.
#[derive(Debug, Error)]
pub(crate) enum CliError {
    #[error("could not start")]
    Start {
        #[source]
        source: io::Error,
    },
    #[error("could not read {}", path.display())]
    Read {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("could not read standard input")]
    ReadInput {
        #[source]
        source: io::Error,
    },
    #[error("could not print")]
    Print {
        #[from]
        source: io::Error,
    },
    #[error("no folder for retained output is known; give one with --state")]
    NoState,
    #[error(
        "{variable} names settings by the relative path {}, which is another file in each folder; \
         write the whole path, or name it with --config",
        path.display()
    )]
    RelativeSettings {
        variable: &'static str,
        path: PathBuf,
    },
    #[error("settings have a limit that keeps nothing")]
    Limits {
        #[source]
        source: tool_runtime::storage::LimitsError,
    },
    #[error(
        "address {address} can be reached from other machines, and nothing is encrypted; \
         add --allow-remote if that is meant"
    )]
    Remote { address: SocketAddr },
    #[error("{from} holds no token for clients")]
    Token {
        from: String,
        #[source]
        source: tool_runtime::mcp::ServeError,
    },
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
    #[error("{}:{line}: the case could not be tried", path.display())]
    PolicyCase {
        path: PathBuf,
        line: usize,
        #[source]
        source: Box<tool_runtime::permission::CaseError>,
    },
    #[error("there can be no audit log in {}", folder.display())]
    Audit {
        folder: PathBuf,
        #[source]
        source: tool_runtime::core::StoreError,
    },
    #[error("the audit log could not be looked at")]
    AuditIndex {
        #[source]
        source: tool_runtime::core::StoreError,
    },
    #[error(
        "there is no audit log in {}; either no call was ever made with these settings or it was taken \
         away (`tool audit list` shows what there was)",
        folder.display()
    )]
    NoAudit {
        folder: PathBuf,
        #[source]
        source: tool_runtime::core::StoreError,
    },
    #[error("saved approvals could not be used")]
    Approvals {
        #[source]
        source: tool_runtime::permission::ApprovalsError,
    },
    #[error(
        "one call cannot be approved ahead, as its approval belongs to its caller and its exact arguments; \
         let it ask (tool serve --ask SECONDS) and answer its question (tool approvals answer ID once)"
    )]
    CallScope,
    #[error("there is no approval \"{}\"; `tool approvals list` shows what is saved", id.escape_debug())]
    NoApproval { id: String },
    #[error("no question \"{}\" waits; `tool approvals list` shows those that do", id.escape_debug())]
    NoQuestion { id: String },
    #[error(transparent)]
    Pins(#[from] tool_runtime::mcp::PinError),
    #[error("no server \"{}\" was ever started; `tool pin status` shows those that were", server.escape_debug())]
    NoServer { server: String },
    #[error(
        "nothing of server {server} that waits has the code \"{}\"; \
         it may have changed again, and `tool pin diff {server}` shows how it is now",
        code.escape_debug()
    )]
    NoChange { server: String, code: String },
    #[error("this build cannot log in to servers: it lacks the feature \"oauth\"")]
    #[cfg(not(feature = "oauth"))]
    NoLogins,
    #[error("say with --mcp-config where server \"{}\" is configured", server.escape_debug())]
    #[cfg(feature = "oauth")]
    NoServers { server: String },
    #[error(
        "server {server} waits for approval: how it is reached is not as it was trusted; \
         `tool pin diff {server}` shows it"
    )]
    #[cfg(feature = "oauth")]
    Held { server: String },
    #[error(transparent)]
    #[cfg(feature = "oauth")]
    Login(#[from] tool_runtime::mcp::LoginError),
    #[error(transparent)]
    Tokens(#[from] tool_runtime::mcp::TokensError),
    #[error("no client \"{}\" has a token; `tool token list` shows those that have", name.escape_debug())]
    NoToken { name: String },
    #[error("nothing is trusted of tool \"{}\" of server {server}; `tool pin status` shows what is", tool.escape_debug())]
    NoTool { server: String, tool: String },
    #[error("\"{}\" is no name of a tool or server", name.escape_debug())]
    Name { name: String },
    #[error("--arguments could not be read: {problem}")]
    Arguments { problem: String },
    #[error("could not encode the result")]
    Encode {
        #[from]
        source: serde_json::Error,
    },
    #[error("{} is not readable as JSON", path.display())]
    NoJson {
        path: PathBuf,
        #[source]
        source: serde_json::Error,
    },
    #[error(
        "{} {problem}; give the result of tools/list, the whole answer, or the list alone",
        path.display()
    )]
    NoToolList {
        path: PathBuf,
        problem: &'static str,
    },
    #[error("{} cannot be used", path.display())]
    Servers {
        path: PathBuf,
        #[source]
        source: tool_runtime::mcp::ConfigError,
    },
    #[error("{problem}")]
    Server { problem: String },
    #[error("there is no file and no server \"{}\" in {}; {known}", name.escape_debug(), path.display())]
    UnknownServer {
        name: String,
        path: PathBuf,
        known: String,
    },
    #[error("there is no file \"{}\"; for a server of that name, say with --mcp-config where it is configured", name.escape_debug())]
    NothingNamed { name: String },
    #[error("nothing is named to lint; give a file, or servers with --mcp-config")]
    NothingToLint,
    #[error("there is no case in {}", path.display())]
    NoCase { path: PathBuf },
    #[error("line {line} is no case")]
    Case {
        line: usize,
        #[source]
        source: serde_json::Error,
    },
    #[error("the case on line {line} {problem}")]
    Label { line: usize, problem: &'static str },
    #[error("there is no output \"{}\"{became}; `tool output list` shows what is kept", id.escape_debug())]
    NoOutput { id: String, became: String },
    #[error("output {id} is no JSON, or has nothing at \"{}\"", pointer.escape_debug())]
    NoValue { id: String, pointer: String },
    #[error("output {id} could not be read")]
    Output {
        id: String,
        #[source]
        source: tool_runtime::core::StoreError,
    },
    #[error("retained output could not be listed")]
    Outputs {
        #[source]
        source: tool_runtime::core::StoreError,
    },
}
