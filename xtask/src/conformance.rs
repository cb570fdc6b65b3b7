//! The official conformance suite, run against programs that are built on nothing but our crates.
//!
//! The suite checks loosely and speaks HTTP alone. The same scenarios over streams, their texts
//! compared exactly, are tests of `tool-mcp`.

mod left_out;
mod outcome;
mod suite;

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::{Error, Invocation, Verdict, Workspace, say};

pub use left_out::LeftOut;
pub use outcome::Outcomes;
pub use suite::Suite;

/// The revisions whose requirements are run.
const REVISIONS: [&str; 2] = ["2026-07-28", "2025-11-25"];
/// The program that serves, and the one that calls.
const SERVER: &str = "conformance";
const CLIENT: &str = "conformance-client";

/// Runs the suite against our server and against our client.
///
/// # Errors
/// When the pins cannot be read, or a program cannot be built or started.
pub fn conformance(workspace: &Workspace, must: bool) -> Result<Verdict, Error> {
    let suite = match Suite::install(workspace)? {
        Ok(suite) => suite,
        Err(missing) if must => return Err(Error::new(missing)),
        Err(missing) => return Ok(Verdict::Skipped(missing)),
    };
    let left_out = LeftOut::parse(&workspace.read(LeftOut::PATH)?)?;
    let mut complaints = Vec::new();
    let program = build(workspace, SERVER)?;
    for revision in REVISIONS {
        let server = Server::start(&program)?;
        let run = suite
            .node()
            .args(["server", "--url", &server.url, "--requirements", revision])
            .args([PathBuf::from("-o"), suite.results("server", revision)]);
        complaints.extend(judge(&run, "server", revision, &left_out)?);
    }
    let program = build(workspace, CLIENT)?.display().to_string();
    for revision in REVISIONS {
        let run = suite
            .node()
            .args(["client", "--command", &program, "--requirements", revision])
            .args([PathBuf::from("-o"), suite.results("client", revision)]);
        complaints.extend(judge(&run, "client", revision, &left_out)?);
    }
    for complaint in &complaints {
        say(format!("conformance: {complaint}"));
    }
    Ok(Verdict::of(complaints.is_empty()))
}

/// Runs one leg of the suite; what is wrong with how it ended.
fn judge(
    run: &Invocation,
    leg: &str,
    revision: &str,
    left_out: &LeftOut,
) -> Result<Vec<String>, Error> {
    let mut outcomes = Outcomes::default();
    let passed = run.run_reading(|line| outcomes.read(line))?;
    let mut complaints = left_out.judge(leg, revision, &outcomes);
    if !passed && outcomes.failed().next().is_none() {
        complaints.push(format!("{leg}, {revision}: the suite broke off"));
    }
    say(format!("{leg}, {revision}: {outcomes}"));
    Ok(complaints)
}

/// Builds an example of `tool-mcp`; where it lies.
fn build(workspace: &Workspace, example: &str) -> Result<PathBuf, Error> {
    let cargo = Invocation::cargo(
        workspace.root(),
        "build -p tool-mcp --all-features --example",
    );
    if !cargo.args([example]).run()? {
        return Err(Error::new(format!("{example} could not be built")));
    }
    let name = format!("{example}{}", std::env::consts::EXE_SUFFIX);
    Ok(workspace.target()?.join("debug/examples").join(name))
}

/// The server under test, for as long as it is held.
struct Server {
    child: Child,
    url: String,
}

impl Server {
    /// Starts it on a free port, which it tells in its first line.
    fn start(program: &Path) -> Result<Self, Error> {
        let failed =
            |error| Error::because(format!("{} could not be run", program.display()), error);
        let mut child = Command::new(program)
            .arg("127.0.0.1:0")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        let mut line = String::new();
        if let Some(output) = child.stdout.take() {
            BufReader::new(output)
                .read_line(&mut line)
                .map_err(failed)?;
        }
        let url = line.trim().to_owned();
        let server = Self { child, url };
        match server.url.is_empty() {
            true => Err(Error::new("the server under test did not say where it is")),
            false => Ok(server),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself, which the suite has noticed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
