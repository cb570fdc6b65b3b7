//! What can be said on the command line.

use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroUsize;
use std::ops::RangeInclusive;
use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use tool_runtime::provider::{Level, Profile};

/// Serve, list and call tools for language models.
///
/// The built-in tools work on the folder given by --root. Further tools come from MCP servers
/// that a file of the mcpServers format names. Every call is validated, judged by the policy,
/// bounded, and retained whole where it is long.
#[derive(Debug, Parser)]
#[command(name = "tool", version, max_term_width = 100, propagate_version = true)]
#[command(after_help = "\
Exit status: 0 success, 1 a call, decision, test or lint that did not succeed, 2 a mistake on the command line or in a file.

Examples:
  tool list
  tool call grep '{\"pattern\":\"fn main\"}'
  tool serve --http 127.0.0.1:8808 --mcp-config mcp.json
  tool output list")]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Options that every command takes.
#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "Options of every command")]
pub(crate) struct Common {
    /// Settings for policy, bounds and state [default: what TOOL_CONFIG names, else tool/tool.toml
    /// in the user's configuration folder]
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Rules to add to those of the settings; may be given more than once
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) policy: Vec<PathBuf>,
    /// MCP servers to import, in the mcpServers format
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) mcp_config: Option<PathBuf>,
    /// Folder that the built-in tools work on [default: the current folder]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,
    /// Folder or bucket URL for long output [default: the user's state folder]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) state: Option<PathBuf>,
    /// Print JSON, one document per command
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Log more to standard error: once for notices, twice for details
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Serve all tools over MCP, on standard input and output unless --http is given
    Serve(Serve),
    /// List all tools, and the state of every server, or what a provider is sent
    List(List),
    /// Call one tool
    Call(Call),
    /// Report what model providers refuse of tool definitions as they stand, with the fix
    Lint(Lint),
    /// Look at output that was too long to show
    Output {
        #[command(subcommand)]
        command: Output,
    },
    /// Look at how arguments of models are read
    Args {
        #[command(subcommand)]
        command: Arguments,
    },
    /// Decide, explain, test and lint what tools may do
    Policy {
        #[command(subcommand)]
        command: crate::policy_args::Policy,
    },
    /// List, grant, revoke and answer what a person decides
    Approvals {
        #[command(subcommand)]
        command: crate::policy_args::Approvals,
    },
    /// Show what is trusted of MCP servers, and approve what has changed
    Pin {
        #[command(subcommand)]
        command: Pin,
    },
    /// Log in to an MCP server of --mcp-config over HTTP: shows the page to open, and waits
    Login {
        /// The server, as it is configured
        server: String,
    },
    /// Forget the login to an MCP server, and have its tokens revoked
    Logout {
        /// The server, as it was configured
        server: String,
    },
    /// List the files of the record of calls, and see whether any was changed or is gone
    Audit {
        #[command(subcommand)]
        command: Audit,
    },
    /// Add, list and revoke tokens by which clients are served over HTTP
    Token {
        #[command(subcommand)]
        command: Token,
    },
    /// Look at the whole setup and say what is wrong and how to put it right
    ///
    /// Starts the servers of --mcp-config for a look and ends them; nothing is trusted by it, and
    /// what waits for approval is not started.
    #[command(
        after_help = "Exit status: 0 nothing is wrong, 1 something is, 2 the command line is wrong."
    )]
    Doctor,
    /// Print completions for a shell
    Completions {
        /// The shell to complete in
        shell: Shell,
    },
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Serve {
    /// Serve over streamable HTTP on this address, at the path /mcp; a port alone is one of this
    /// machine, and port 0 takes any that is free
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    pub(crate) http: Option<SocketAddr>,
    /// Let questions wait so many seconds for `tool approvals answer`; without it they are denied
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) ask: Option<u64>,
    /// Read the token that clients of --http have to show from a file; without one it is taken from
    /// TOOL_TOKEN, and else made up and shown, unless `tool token add` has made one
    #[arg(long, value_name = "FILE", requires = "http")]
    pub(crate) token_file: Option<PathBuf>,
    /// Serve whoever reaches the address, without a token
    #[arg(long, requires = "http", conflicts_with = "token_file")]
    pub(crate) no_token: bool,
    /// Allow an address that other machines can reach; the token passes unencrypted
    #[arg(long, requires = "http")]
    pub(crate) allow_remote: bool,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  tool list
  tool list --profile gemini --mcp-config mcp.json
  tool list --profile openai-chat-strict --from tools.json")]
pub(crate) struct List {
    /// Print the definitions as this provider is sent them, byte for byte; what they give up goes
    /// to standard error
    #[arg(long, value_name = "PROFILE", value_parser = profile())]
    pub(crate) profile: Option<Profile>,
    /// Take the tools from a saved tools/list result instead; `-` reads standard input
    #[arg(long, value_name = "FILE", requires = "profile")]
    pub(crate) from: Option<PathBuf>,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
A file holds the result of tools/list, the whole answer, or the list alone; or it names servers in
the mcpServers format, which are started and asked.

Exit status: 0 nothing is refused, 1 a provider refuses something, 2 something could not be read.

Examples:
  tool lint tools.json
  tool lint mcp.json --profile gemini --profile openai-chat
  tool lint github --mcp-config mcp.json --level refused
  tool lint tools.json --sarif > lint.sarif")]
pub(crate) struct Lint {
    /// Tools that somebody saved (`-` reads standard input), servers, or one server of
    /// --mcp-config [default: every server of --mcp-config]
    #[arg(value_name = "FILE|SERVER")]
    pub(crate) what: Option<String>,
    /// A provider whose rules have to hold; may be given more than once [default: all of them]
    #[arg(long, value_name = "PROFILE", value_parser = profile())]
    pub(crate) profile: Vec<Profile>,
    /// The least that is told of
    #[arg(long, value_enum, default_value_t = Severity::Note)]
    pub(crate) level: Severity,
    /// Print a SARIF 2.1.0 log
    #[arg(long, conflicts_with = "json")]
    pub(crate) sarif: bool,
}

/// What a finding has to be, at the least.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum Severity {
    /// What a provider answers with an error
    Refused,
    /// And constraints that are without effect
    GivenUp,
    /// And what is worth knowing
    Note,
}

impl Severity {
    /// Whether a finding of this level is told of.
    pub(crate) fn includes(self, level: Level) -> bool {
        match level {
            Level::Refused => true,
            Level::GivenUp => self >= Self::GivenUp,
            _ => self >= Self::Note,
        }
    }
}

/// Profiles by their names, which completions know.
fn profile() -> impl TypedValueParser<Value = Profile> {
    PossibleValuesParser::new(Profile::ALL.map(Profile::as_str))
        .try_map(|name| name.parse::<Profile>())
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Call {
    /// The tool, as `tool list` names it
    pub(crate) name: String,
    /// The arguments as JSON; `-` reads them from standard input, `@FILE` from a file
    #[arg(default_value = "{}", value_name = "JSON")]
    pub(crate) arguments: String,
    /// Give up after this many seconds, questions included
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) timeout: Option<u64>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Output {
    /// List retained output, newest first
    List,
    /// Read retained output, the first page unless said otherwise
    Read {
        /// The id, as the marker in a shortened result names it
        id: String,
        /// Read everything from the offset on
        #[arg(long)]
        all: bool,
        /// The first byte to read, from 0
        #[arg(long, default_value_t = 0, value_name = "BYTES")]
        offset: u64,
        /// The most bytes of the page
        #[arg(long, value_name = "BYTES", conflicts_with = "all")]
        bytes: Option<NonZeroUsize>,
        /// Read lines instead, from 1, both ends included, as in 4000..4020
        #[arg(long, value_name = "FIRST..LAST", value_parser = lines, conflicts_with_all = ["all", "offset", "pointer"])]
        lines: Option<RangeInclusive<u64>>,
        /// Read the JSON value under this pointer instead, as in /rows/0
        #[arg(long, value_name = "POINTER", conflicts_with_all = ["all", "offset"])]
        pointer: Option<String>,
    },
    /// Find the lines of a retained output that hold a text
    Search {
        /// The id, as the marker in a shortened result names it
        id: String,
        /// The text, matched byte for byte
        text: String,
        /// The most lines to find
        #[arg(long, value_name = "LINES", default_value = "50")]
        most: NonZeroUsize,
    },
    /// Remove what has expired and what is over the quota, or the outputs that are named
    Prune {
        /// Outputs to remove whether or not they have expired
        ids: Vec<String>,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Pin {
    /// Show every server that was started, how, and how much of it waits for approval
    Status,
    /// Show what has changed since it was trusted, with what cannot be seen escaped; status 1 if anything has
    Diff {
        /// The server, as it is configured
        server: String,
        /// The tool, by its server's own name [default: all, and how the server is started]
        tool: Option<String>,
    },
    /// Trust exactly what `tool pin diff` showed
    Approve {
        /// The server, as it is configured
        server: String,
        /// The code that stands beside the change
        code: String,
    },
    /// Forget what was trusted: a server is then one that was never seen, a tool waits for approval
    Forget {
        /// The server, as it is configured, or one of its tools, by the server's own name
        #[arg(value_name = "SERVER[/TOOL]")]
        what: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Audit {
    /// List the files of every gateway with this state, in the order in which they were begun
    List,
    /// Hold the files of this gateway against what the state says they were, and what it says
    /// against itself
    #[command(after_help = "\
Findings:
  whole       as it was when it was closed
  open        written yet
  unfinished  its gateway was killed; the next start closes it with what is there
  untold      there, and the state was not told yet
  removed     removed to make room, as the state or a note beside it says
  elsewhere   a file of another gateway, which that one verifies
  changed     not as it was when it was closed
  missing     gone, and not to make room
  unlinked    its entry was changed, or one before it is gone
  cut         the latest entries of that folder are gone

This shows accidents, and changes by who can write the files or the state and does not know how
they are kept. It is no proof against who does: seals have no key.

Exit status: 0 nothing was changed or is gone, 1 something was or is, 2 something could not be read.")]
    Verify,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Token {
    /// Make up a token for a client and show it, once
    Add {
        /// The client: 1 to 64 letters, digits, dots, underscores and hyphens
        name: String,
    },
    /// List the clients that have a token
    List,
    /// Take the token of a client back; what it has going on ends
    Revoke {
        /// The client, as `tool token list` shows it
        name: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Arguments {
    /// Read labelled arguments, and tell whether they are run or refused as their labels say
    Test {
        /// One case on each line, as JSON; `-` reads them from standard input
        file: PathBuf,
    },
}

/// An address to listen on, as people write it.
fn address(text: &str) -> Result<SocketAddr, &'static str> {
    if let Ok(address) = text.parse() {
        return Ok(address);
    }
    let port = text.strip_prefix("localhost:").unwrap_or(text);
    match port.parse() {
        Ok(port) => Ok(SocketAddr::from((Ipv4Addr::LOCALHOST, port))),
        Err(_) => Err("write an address with a port, such as 127.0.0.1:8808, or a port alone"),
    }
}

/// Lines from 1, as `4000..4020`, `4000..` or `4000`.
fn lines(text: &str) -> Result<RangeInclusive<u64>, String> {
    let number = |text: &str| match text.parse() {
        Ok(0) | Err(_) => Err("lines are numbers from 1 on, as in 4000..4020".to_owned()),
        Ok(line) => Ok(line),
    };
    let (first, last) = match text.split_once("..") {
        None => (number(text)?, number(text)?),
        Some((first, "")) => (number(first)?, u64::MAX),
        Some((first, last)) => (number(first)?, number(last)?),
    };
    if first > last {
        return Err(format!(
            "lines {first}..{last} end before they begin; write {last}..{first}"
        ));
    }
    Ok(first..=last)
}
