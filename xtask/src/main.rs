//! The command line of `cargo xtask`.

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use xtask::{
    BenchOptions, Error, Run, Totals, Verdict, Workspace, bench, chores, conformance, real_servers,
    say, whole,
};

/// The chores of this workspace. Each shows the commands that it runs.
#[derive(Parser)]
#[command(
    name = "cargo xtask",
    bin_name = "cargo xtask",
    arg_required_else_help = true
)]
struct Cli {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// Everything that has to hold before a change is taken; every step is tried.
    Ci,
    /// Format every crate.
    Fmt {
        /// Only look whether they are formatted.
        #[arg(long)]
        check: bool,
    },
    /// Compare the edges between crates with the layer table of ARCHITECTURE.md.
    Arch,
    /// Look at manifests, the grain of files, and what no file may hold.
    Tidy,
    /// Compare the documents with the manifests and the tests.
    DocsSync,
    /// Run clippy over each package, in each of its feature sets.
    Lint,
    /// Install the pinned peers of the end-to-end tests below the target folder.
    Peers,
    /// Run the official conformance suite of the Model Context Protocol.
    Conformance,
    /// Import servers that other people wrote, and compare each with itself.
    RealServers,
    /// Run every test, with the peers that are installed.
    Test,
    /// Run the tests that are smaller in an everyday run at their whole size.
    Whole,
    /// Build the documentation with warnings denied.
    Docs,
    /// Run the benchmarks; fails when a bound is missed.
    Bench {
        /// Only what has this in the name of its group or row.
        name: Option<String>,
        /// Print one JSON object a line.
        #[arg(long)]
        json: bool,
    },
}

fn main() -> ExitCode {
    let workspace = Workspace::here();
    match run(&workspace, &Cli::parse().chore) {
        Ok(Verdict::Passed | Verdict::Skipped(_)) => ExitCode::SUCCESS,
        Ok(Verdict::Failed) => ExitCode::FAILURE,
        Err(error) => {
            say(format!("error: {}", error.chain()));
            ExitCode::FAILURE
        }
    }
}

fn run(workspace: &Workspace, chore: &Chore) -> Result<Verdict, Error> {
    match chore {
        Chore::Ci => Ok(chores::ci(workspace, in_ci())),
        Chore::Fmt { check } => chores::format(workspace, *check),
        Chore::Arch => chores::arch(workspace),
        Chore::Tidy => chores::tidy(workspace),
        Chore::DocsSync => chores::docs_sync(workspace),
        Chore::Lint => {
            let mut run = Run::default();
            chores::lint(workspace, &mut run)?;
            say(format!("\n{run}"));
            Ok(Verdict::of(run.passed()))
        }
        Chore::Peers => chores::peers(workspace, in_ci()),
        Chore::Conformance => conformance(workspace, in_ci()),
        Chore::RealServers => real_servers(workspace, in_ci()),
        Chore::Test => {
            let mut totals = Totals::default();
            let verdict = chores::test(workspace, &mut totals)?;
            say(format!("\n{totals}"));
            Ok(verdict)
        }
        Chore::Whole => Ok(whole::whole(workspace)),
        Chore::Docs => chores::docs(workspace),
        Chore::Bench { name, json } => bench(workspace, &BenchOptions::new(name.clone(), *json)),
    }
}

/// Whether this is a build machine, on which a peer that cannot be installed is an error.
fn in_ci() -> bool {
    std::env::var("CI").is_ok_and(|value| value == "true" || value == "1")
}
