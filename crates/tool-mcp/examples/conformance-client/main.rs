//! The client that the official conformance suite is run against, built on nothing but this crate.
//!
//! ```text
//! conformance-client http://127.0.0.1:8011/mcp
//! ```
//!
//! The suite names the scenario in `MCP_CONFORMANCE_SCENARIO`. Each compares what came exactly, which
//! the suite does not: what is not as it should be fails the program, and with it the scenario.

#![expect(
    clippy::print_stderr,
    reason = "whoever started it reads why it failed"
)]

mod auth;
mod questions;
mod repeated;
mod scenario;
mod schemas;
mod session;
mod setting;
mod tools;

use std::process::ExitCode;

use scenario::Scenario;
use setting::Setting;

/// Every scenario, by what it is about.
const FAMILIES: [&[Scenario]; 5] = [
    tools::SCENARIOS,
    questions::SCENARIOS,
    repeated::SCENARIOS,
    schemas::SCENARIOS,
    auth::SCENARIOS,
];

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<(), scenario::Failure> {
    let name = std::env::var("MCP_CONFORMANCE_SCENARIO")?;
    let scenario = FAMILIES
        .iter()
        .copied()
        .flatten()
        .find(|scenario| scenario.name == name)
        .ok_or_else(|| format!("there is no scenario {name} here"))?;
    (scenario.run)(Setting::from_env()?).await
}
