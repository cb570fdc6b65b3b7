//! The command line.

/// What to do, and how thoroughly.
pub struct Options {
    pub task: Task,
    pub rounds: u32,
}

/// What to do.
pub enum Task {
    /// Measure, and print tables.
    Table,
    /// Measure, and print JSON.
    Json,
    /// Run one contender that often and measure nothing, for a profiler to look at.
    Profile { contender: String, calls: u32 },
}

const ROUNDS: u32 = 500;
const USAGE: &str = "usage: bench [--json] [--rounds N] [--profile CONTENDER CALLS]";

impl Options {
    pub fn from_args(mut args: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut options = Self {
            task: Task::Table,
            rounds: ROUNDS,
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
                other => return Err(format!("unknown argument \"{other}\"; {USAGE}")),
            }
        }
        Ok(options)
    }
}

fn number(arg: Option<String>) -> Result<u32, String> {
    arg.and_then(|arg| arg.parse().ok()).ok_or(USAGE.to_owned())
}
