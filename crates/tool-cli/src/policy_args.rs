//! What can be said of policy and approvals on the command line.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand, ValueEnum};

#[derive(Debug, Subcommand)]
pub(crate) enum Policy {
    /// Decide a request by the rules and saved approvals; status 0 if it is allowed, else 1
    Check {
        #[command(flatten)]
        asked: Asked,
    },
    /// Say which rule decides each part of a request, where it stands, and what would change it
    Explain {
        #[command(flatten)]
        asked: Asked,
    },
    /// Try the examples in policy files (.toml), and labelled cases (.jsonl)
    Test {
        /// Files to try [default: the policy that is in force]
        files: Vec<PathBuf>,
    },
    /// Report rules that can never match, never decide, or say what another says
    Lint {
        /// Policy files to look at together [default: the policy that is in force]
        files: Vec<PathBuf>,
    },
}

/// A request.
#[derive(Debug, ClapArgs)]
pub(crate) struct Asked {
    /// What is to be done: shell, read, write, external, call, a capability, a tool's own word
    pub(crate) action: String,
    /// What it is done to: a command line, a path, a tool as server/tool, a name
    #[arg(allow_hyphen_values = true)]
    pub(crate) resource: String,
    /// How the resource is read [default: by the action]
    #[arg(long = "as", value_enum, value_name = "KIND")]
    pub(crate) read_as: Option<As>,
    /// Folder that a command line runs in [default: the root]
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// Agent that asks
    #[arg(long, value_name = "ID")]
    pub(crate) agent: Option<String>,
    /// Session that it belongs to
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// MCP server that provides the tool
    #[arg(long, value_name = "NAME")]
    pub(crate) server: Option<String>,
    /// Tool that asks, without its server
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: Option<String>,
    /// Arguments of the call, for rules with conditions on them
    #[arg(long, value_name = "JSON")]
    pub(crate) arguments: Option<String>,
}

/// How a resource is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum As {
    /// A plain name
    Name,
    /// A file or folder
    Path,
    /// A line for a shell
    Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Approvals {
    /// List saved approvals, and the questions that wait in gateways
    List,
    /// Save an approval: exactly what the pattern matches, within what rules deny
    ///
    /// It holds for a session, an agent or the project. An approval of one call belongs to its
    /// caller and its exact arguments: let the call ask (`tool serve --ask SECONDS`), and answer
    /// its question with `tool approvals answer ID once`.
    Grant {
        /// The action: shell, read, write, external, call, a capability, a tool's own word
        action: String,
        /// The pattern, as in a rule
        pattern: String,
        /// Hold for this tool alone, written as server/tool or tool
        #[arg(long, value_name = "TOOL")]
        tool: Option<String>,
        /// Hold for this session alone
        #[arg(long, value_name = "ID", conflicts_with = "agent")]
        session: Option<String>,
        /// Hold for this agent alone
        #[arg(long, value_name = "ID")]
        agent: Option<String>,
        /// Refused, with the way out
        #[arg(long, value_name = "ID", hide = true)]
        call: Option<String>,
        /// End after so many seconds
        #[arg(long = "for", value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
        lasts: Option<u64>,
    },
    /// Take a saved approval back
    Revoke {
        /// The id, as `tool approvals list` shows it
        id: String,
    },
    /// Answer a question that waits in a gateway (tool serve --ask)
    Answer {
        /// The id, as `tool approvals list` shows it
        id: String,
        /// The answer
        #[arg(value_enum)]
        reply: Said,
        /// What the model reads, with a no
        #[arg(long)]
        note: Option<String>,
        /// For whom "always" holds
        #[arg(long, value_enum, default_value_t = For::Session)]
        scope: For,
        /// Let "always" end after so many seconds
        #[arg(long = "for", value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
        lasts: Option<u64>,
    },
}

/// An answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Said {
    /// Yes, this time
    Once,
    /// Yes, and from now on what the question offers to save
    Always,
    /// No
    Reject,
    /// No to all of its session
    RejectAll,
    /// No to all of its session, and the turn ends
    Stop,
}

/// For whom an answer is saved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum For {
    /// The session that asks
    Session,
    /// The agent that asks
    Agent,
    /// Everybody in the project
    Project,
}
