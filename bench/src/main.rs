//! Measures what a call costs, in one run. See README.md.

mod add;
mod bucket;
mod floor;
mod gateway;
mod groups;
mod options;
mod permission;
mod pipeline;
mod provider;
mod report;
#[cfg(feature = "rig")]
mod rig;
mod rounds;
mod rows;
mod storage;

use std::error::Error;
use std::io::Write as _;
use std::process::ExitCode;

use options::{Options, Role, Task};
use report::Report;

fn main() -> ExitCode {
    let done = Options::from_args(std::env::args().skip(1))
        .map_err(Into::into)
        .and_then(|options| run(&options));
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::from(2)
        }
    }
}

/// Measures and reports. Whether every bound holds.
fn run(options: &Options) -> Result<bool, Box<dyn Error>> {
    if let Task::Profile { contender, calls } = &options.task {
        groups::profile(contender, *calls)?;
        return Ok(true);
    }
    if let Task::Play(role) = &options.task {
        match role {
            Role::Upstream => gateway::serve_streams()?,
            Role::UpstreamHttp => gateway::serve_http()?,
            Role::Relay(command) => gateway::relay(command)?,
        }
        return Ok(true);
    }
    let mut report = Report::of(options.only.clone());
    groups::measure(&mut report, options.rounds)?;
    storage::measure(&mut report, options.rounds)?;
    bucket::measure(&mut report, options.rounds)?;
    provider::measure(&mut report, options.rounds)?;
    gateway::measure(&mut report, options.rounds)?;
    if report.lines().next().is_none() {
        let only = options.only.as_deref().unwrap_or_default();
        return Err(format!("there is no group and no row with \"{only}\" in its name").into());
    }

    let mut out = std::io::stdout().lock();
    match options.task {
        Task::Json => {
            for line in report.lines() {
                writeln!(out, "{}", line.json())?;
            }
        }
        _ => write!(out, "{report}")?,
    }
    Ok(report.holds())
}
