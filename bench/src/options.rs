//! The command line.

/// What to do, and how thoroughly.
#[derive(Debug, PartialEq, Eq)]
pub struct Options {
    pub task: Task,
    pub rounds: u32,
    /// Part of the name of a group or of a row; everything without one.
    pub only: Option<String>,
}

/// What to do.
#[derive(Debug, PartialEq, Eq)]
pub enum Task {
    /// Measure, and print tables.
    Table,
    /// Measure, and print one JSON object a line.
    Json,
    /// Run one contender that often and measure nothing, for a profiler to look at.
    Profile { contender: String, calls: u32 },
    /// Be one of the processes that are measured.
    Play(Role),
}

/// What a process of the group `gateway` is.
#[derive(Debug, PartialEq, Eq)]
pub enum Role {
    /// The server behind all, over standard streams.
    Upstream,
    /// The server over HTTP.
    UpstreamHttp,
    /// A relay before whatever this command line starts.
    Relay(Vec<String>),
}

const ROUNDS: u32 = 500;
const USAGE: &str = "usage: bench [NAME] [--json] [--rounds N] [--profile CONTENDER CALLS]";

impl Options {
    pub fn from_args(mut args: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut options = Self {
            task: Task::Table,
            rounds: ROUNDS,
            only: None,
        };
        while let Some(arg) = args.next() {
            match arg.as_str() {
                "--json" => options.task = Task::Json,
                "--rounds" => options.rounds = number(args.next())?.max(10),
                "--profile" => {
                    options.task = Task::Profile {
                        contender: args.next().ok_or(USAGE)?,
                        calls: number(args.next())?,
                    };
                }
                "--upstream" => options.task = Task::Play(Role::Upstream),
                "--upstream-http" => options.task = Task::Play(Role::UpstreamHttp),
                "--relay" => options.task = Task::Play(Role::Relay(args.by_ref().collect())),
                name if !name.starts_with('-') && options.only.is_none() => {
                    options.only = Some(name.to_owned());
                }
                other => return Err(format!("unknown argument \"{other}\"; {USAGE}")),
            }
        }
        Ok(options)
    }
}

fn number(arg: Option<String>) -> Result<u32, String> {
    arg.and_then(|arg| arg.parse().ok()).ok_or(USAGE.to_owned())
}

#[cfg(test)]
mod tests;
