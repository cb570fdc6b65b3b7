//! Tests at their whole size, which an everyday run makes smaller.

use crate::{Error, Invocation, Run, Totals, Verdict, Workspace, say};

/// A test whose size a variable sets.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Sized {
    /// What it shows.
    pub name: &'static str,
    /// The variable.
    pub variable: &'static str,
    /// The whole size.
    pub size: &'static str,
    /// The package whose test it is.
    pub package: &'static str,
    /// The module and the name of the test.
    pub test: &'static str,
}

/// Every test that an everyday run makes smaller by much.
pub const SIZED: [Sized; 3] = [
    Sized {
        name: "a line of 1 GiB",
        variable: "MCP_ENDLESS_LINE_MIB",
        size: "1024",
        package: "tool-mcp",
        test: "import_floods::a_line_without_an_end_fails_its_call_in_bounded_memory",
    },
    Sized {
        name: "a line of 1 GiB at the program",
        variable: "MCP_ENDLESS_LINE_MIB",
        size: "1024",
        package: "tool-cli",
        test: "hostile::a_hostile_server_costs_bounded_memory_and_the_other_one_is_served",
    },
    Sized {
        name: "50 clients, 10 servers, 10,000 calls",
        variable: "TOOL_TEST_CROWD",
        size: "50x10x10000",
        package: "tool-cli",
        test: "crowd::every_call_of_a_crowd_has_one_outcome_that_is_its_own_and_nothing_stays_behind",
    },
];

/// Runs the tests that an everyday run makes smaller at their whole size, one after the other. Every
/// one is tried.
#[must_use]
pub fn whole(workspace: &Workspace) -> Verdict {
    let mut run = Run::default();
    for sized in SIZED {
        run.step(sized.name, || at_whole_size(workspace, sized));
    }
    say(format!("\n{run}"));
    Verdict::of(run.passed())
}

fn at_whole_size(workspace: &Workspace, sized: Sized) -> Result<Verdict, Error> {
    let mut totals = Totals::default();
    let cargo = Invocation::cargo(workspace.root(), "test --all-features --test it")
        .args(["--package", sized.package, "--", "--exact", sized.test])
        .variable(sized.variable, sized.size);
    let passed = cargo.run_reading(|line| totals.read(line))?;
    if passed && totals.passed != 1 {
        // On a system that the test is not for.
        return Ok(Verdict::Skipped(format!("{} did not run here", sized.test)));
    }
    Ok(Verdict::of(passed))
}
