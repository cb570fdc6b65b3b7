//! The chores, one function each.

use std::ffi::OsString;

use crate::{
    Error, FeatureSet, Finding, Invocation, Peers, Run, Totals, Verdict, Workspace, conformance,
    disk, listed, real_servers, rules, say,
};

/// What a rule set found, and what it only names.
type Checked = Result<(Vec<Finding>, Vec<String>), Error>;

/// Formats every member and the benchmarks, or only looks whether they are formatted.
///
/// # Errors
/// When cargo cannot be started.
pub fn format(workspace: &Workspace, only_look: bool) -> Result<Verdict, Error> {
    let mut passed = true;
    for args in ["fmt --all", "fmt --manifest-path bench/Cargo.toml"] {
        let mut cargo = Invocation::cargo(workspace.root(), args);
        if only_look {
            cargo = cargo.args(["--", "--check"]);
        }
        passed &= cargo.run()?;
    }
    Ok(Verdict::of(passed))
}

/// Compares the edges between the crates with the layer table.
///
/// # Errors
/// When the table, a manifest or the lock file cannot be read.
pub fn arch(workspace: &Workspace) -> Result<Verdict, Error> {
    report(rules::arch(workspace).map(|findings| (findings, Vec::new())))
}

/// Looks at manifests and files.
///
/// # Errors
/// When a manifest or a list cannot be read.
pub fn tidy(workspace: &Workspace) -> Result<Verdict, Error> {
    let checked = || Ok((rules::tidy(workspace)?, rules::tidy_notes(workspace)?));
    report(checked())
}

/// Compares the documents with the manifests and the tests.
///
/// # Errors
/// When a document or a manifest cannot be read.
pub fn docs_sync(workspace: &Workspace) -> Result<Verdict, Error> {
    let checked = || Ok((rules::docs(workspace)?, rules::docs_notes(workspace)?));
    report(checked())
}

/// Runs clippy over each package on its own and in each feature set, as building all at once
/// unifies features and so hides what is missing. Adds one step for each.
///
/// # Errors
/// When the manifests cannot be read.
pub fn lint(workspace: &Workspace, run: &mut Run) -> Result<(), Error> {
    for package in workspace.members()?.crates() {
        for set in FeatureSet::of(package) {
            let mut clippy =
                Invocation::cargo(workspace.root(), "clippy --quiet").args(["-p", &package.name]);
            if set.all_targets {
                clippy = clippy.args(["--all-targets"]);
            }
            let clippy = clippy.args(set.args).args(["--", "-D", "warnings"]);
            run.step(&format!("clippy {}, {}", package.name, set.name), || {
                clippy.run().map(Verdict::of)
            });
        }
    }
    // The peers under measurement would take longer than all the rest; `cargo xtask bench` has them.
    let bench = Invocation::cargo(
        workspace.root(),
        "clippy --quiet --manifest-path bench/Cargo.toml --no-default-features",
    )
    .args([OsString::from("--target-dir"), workspace.target()?.into()])
    .args(["--", "-D", "warnings"]);
    run.step("clippy bench, no features", || bench.run().map(Verdict::of));
    Ok(())
}

/// Installs the peers of the end-to-end tests, as far as this machine can.
///
/// # Errors
/// When the pins or the target folder cannot be used.
pub fn peers(workspace: &Workspace, must: bool) -> Result<Verdict, Error> {
    let tried = Peers::of(workspace)?.install()?;
    for one in &tried {
        say(one.to_string());
    }
    if must && tried.iter().any(|one| one.broke()) {
        return Ok(Verdict::Failed);
    }
    let missing: Vec<String> = tried
        .iter()
        .filter(|one| !one.is_ready())
        .map(ToString::to_string)
        .collect();
    Ok(if missing.is_empty() {
        Verdict::Passed
    } else {
        Verdict::Skipped(missing.join("; "))
    })
}

/// Runs every test, doc tests among them, and adds up what they say.
///
/// # Errors
/// When cargo cannot be started or the target folder cannot be found.
pub fn test(workspace: &Workspace, totals: &mut Totals) -> Result<Verdict, Error> {
    let mut cargo = Invocation::cargo(
        workspace.root(),
        "test --workspace --all-features --no-fail-fast",
    );
    if let Some(folder) = Peers::of(workspace)?.ready() {
        cargo = cargo.variable(Peers::VARIABLE, folder);
    }
    let passed = cargo.run_reading(|line| totals.read(line))?;
    if passed && totals.passed == 0 {
        return Err(Error::new("no test ran"));
    }
    Ok(Verdict::of(passed))
}

/// Builds the documentation of every member, with warnings denied.
///
/// # Errors
/// When cargo cannot be started.
pub fn docs(workspace: &Workspace) -> Result<Verdict, Error> {
    let passed = Invocation::cargo(workspace.root(), "doc --workspace --no-deps --all-features")
        .variable("RUSTDOCFLAGS", "-D warnings")
        .run()?;
    Ok(Verdict::of(passed))
}

/// Runs the tests of the benchmarks, which are a workspace of their own, without their peers.
///
/// # Errors
/// When cargo cannot be started or the target folder cannot be found.
pub fn test_bench(workspace: &Workspace, totals: &mut Totals) -> Result<Verdict, Error> {
    let tests = Invocation::cargo(
        workspace.root(),
        "test --manifest-path bench/Cargo.toml --no-default-features",
    )
    .args([OsString::from("--target-dir"), workspace.target()?.into()]);
    let passed = tests.run_reading(|line| totals.read(line))?;
    Ok(Verdict::of(passed))
}

/// Everything that has to hold before a change is taken. Every step is tried; a table and the sum
/// of the tests end the run.
#[must_use]
pub fn ci(workspace: &Workspace, must_have_peers: bool) -> Verdict {
    let mut run = Run::default();
    let mut totals = Totals::default();
    // A full disk shows as anything but that.
    if let Ok(Some(room)) = disk::room(workspace) {
        say(format!("note: {room}"));
    }
    run.step("fmt", || format(workspace, true));
    run.step("arch", || arch(workspace));
    run.step("tidy", || tidy(workspace));
    run.step("docs-sync", || docs_sync(workspace));
    if let Err(error) = lint(workspace, &mut run) {
        run.step("clippy", || Err(error));
    }
    run.step("peers", || peers(workspace, must_have_peers));
    run.step("tests", || test(workspace, &mut totals));
    run.step("conformance", || conformance(workspace, must_have_peers));
    run.step("real servers", || real_servers(workspace, must_have_peers));
    run.step("tests of bench", || test_bench(workspace, &mut totals));
    run.step("docs", || docs(workspace));
    say(format!("\n{run}\n\n{totals}"));
    Verdict::of(run.passed())
}

fn report(checked: Checked) -> Result<Verdict, Error> {
    let (findings, notes) = checked?;
    for note in notes {
        say(format!("note: {note}"));
    }
    if !findings.is_empty() {
        say(listed(&findings));
    }
    Ok(Verdict::of(findings.is_empty()))
}
