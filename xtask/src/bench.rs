//! Running the benchmarks, which are a workspace of their own.

use std::ffi::OsString;

use crate::{Error, Invocation, Peers, Verdict, Workspace, say};

/// What to measure, and how to say it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BenchOptions {
    /// Part of the name of a group or of a row; everything without one.
    pub only: Option<String>,
    /// One JSON object a line in place of tables, and nothing else on standard output.
    pub json: bool,
}

impl BenchOptions {
    /// Options of a command line.
    #[must_use]
    pub fn new(only: Option<String>, json: bool) -> Self {
        Self { only, json }
    }

    /// The arguments that the benchmarks understand.
    #[must_use]
    pub fn args(&self) -> Vec<OsString> {
        let json = self.json.then(|| OsString::from("--json"));
        let only = self.only.iter().map(OsString::from);
        only.chain(json).collect()
    }
}

/// Measures. It fails when a bound is missed. Without the peers that a build has to download, the
/// rest is measured and what is left out is named.
///
/// # Errors
/// When cargo cannot be started.
pub fn bench(workspace: &Workspace, options: &BenchOptions) -> Result<Verdict, Error> {
    let tell = |text: String| {
        if !options.json {
            say(text);
        }
    };
    let cargo = |chore: &str, peers: bool| {
        let cargo = Invocation::cargo(workspace.root(), chore).args([
            "--release",
            "--quiet",
            "--manifest-path",
            "bench/Cargo.toml",
        ]);
        let without = (!peers).then_some("--no-default-features");
        if options.json { cargo.unshown() } else { cargo }.args(without)
    };
    let peers = cargo("build", true).run()?;
    if !peers {
        tell("skipped rig: it could not be built here, so the rest is measured without it".into());
    }
    let mut run = cargo("run", peers).args(["--"]).args(options.args());
    // What others wrote for Node is measured too where it is installed.
    if let Some(folder) = Peers::of(workspace)?.ready()
        && std::env::var_os(Peers::VARIABLE).is_none()
    {
        run = run.variable(Peers::VARIABLE, folder);
    }
    Ok(Verdict::of(run.run()?))
}
