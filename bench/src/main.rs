//! Measures what a call costs, in one run. See README.md.

mod add;
mod floor;
mod options;
mod pipeline;
mod report;
#[cfg(feature = "rig")]
mod rig;
mod rounds;

use std::error::Error;
use std::io::Write as _;
use std::process::ExitCode;

use futures_executor::block_on;

use add::{ARGUMENTS, NAME, TEXT};
use floor::Floor;
use options::{Options, Task};
use pipeline::Pipeline;
use report::{Compare, Report};
#[cfg(feature = "rig")]
use rig::Rig;
use rounds::Contender;

/// How many tools are registered where the cost is to be independent of it.
const FEW: usize = 10;
const MANY: usize = 1_000;
const VERY_MANY: usize = 10_000;

fn main() -> ExitCode {
    let done = Options::from_args(std::env::args().skip(1))
        .map_err(Into::into)
        .and_then(|options| run(&options));
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::from(2)
        }
    }
}

fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let floor = Floor::new()?;
    let pipeline = Pipeline::new(1)?;
    let stored = Pipeline::with_store(1)?;
    #[cfg(feature = "rig")]
    let rig = Rig::new();

    let call = [
        Contender::awaited("floor", async || floor.call(NAME, ARGUMENTS).await),
        Contender::awaited("pipeline", async || pipeline.settle(NAME, ARGUMENTS).await),
        Contender::awaited("pipeline+store", async || {
            stored.settle(NAME, ARGUMENTS).await
        }),
        #[cfg(feature = "rig")]
        Contender::awaited("rig", async || rig.call(NAME, ARGUMENTS).await),
        #[cfg(feature = "rig")]
        Contender::awaited("rig-bare", async || rig.call_bare(ARGUMENTS).await),
    ];
    if let Task::Profile { contender, calls } = &options.task {
        let found = call.iter().find(|one| one.name() == contender);
        found
            .ok_or_else(|| format!("there is no contender \"{contender}\""))?
            .run(*calls);
        return Ok(());
    }

    let texts = [
        block_on(floor.call(NAME, ARGUMENTS))
            .map_err(|_| "the floor refused the call")?
            .text,
        block_on(pipeline.settle(NAME, ARGUMENTS)).text(),
        block_on(stored.settle(NAME, ARGUMENTS)).text(),
        #[cfg(feature = "rig")]
        block_on(rig.call(NAME, ARGUMENTS)),
        #[cfg(feature = "rig")]
        block_on(rig.call_bare(ARGUMENTS)),
    ];
    if let Some(other) = texts.iter().find(|text| *text != TEXT) {
        return Err(format!("a contender answered {other} and not {TEXT}").into());
    }

    let mut report = Report::default();
    report.measure(
        "One call of a typed tool that adds two integers",
        &call,
        options.rounds,
        &[
            Compare("pipeline", "floor", Some(1.5)),
            Compare("pipeline+store", "floor", Some(1.5)),
            Compare("pipeline", "rig", Some(1.0)),
            Compare("pipeline", "rig-bare", None),
            Compare("rig", "floor", None),
        ],
    );
    many_tools(&mut report, options.rounds)?;

    let mut out = std::io::stdout().lock();
    match options.task {
        Task::Json => writeln!(out, "{:#}", report.json())?,
        _ => write!(out, "{report}")?,
    }
    Ok(())
}

/// Measures what must not grow with the number of registered tools, and what does.
fn many_tools(report: &mut Report, rounds: u32) -> Result<(), Box<dyn Error>> {
    let sizes = [FEW, MANY, VERY_MANY];
    let pipelines = sizes
        .into_iter()
        .map(|tools| Ok((tools, Pipeline::new(tools)?)))
        .collect::<Result<Vec<_>, Box<dyn Error>>>()?;

    let contenders: Vec<_> =
        pipelines
            .iter()
            .map(|(tools, one)| {
                Contender::awaited(format!("settle@{tools}"), async || {
                    one.settle(NAME, ARGUMENTS).await
                })
            })
            .chain(pipelines.iter().map(|(tools, one)| {
                Contender::direct(format!("snapshot@{tools}"), || one.snapshot())
            }))
            .collect();
    report.measure(
        "What does not grow with the number of registered tools",
        &contenders,
        rounds,
        &[
            Compare("settle@1000", "settle@10", Some(1.1)),
            Compare("settle@10000", "settle@10", Some(1.1)),
            Compare("snapshot@1000", "snapshot@10", Some(1.1)),
            Compare("snapshot@10000", "snapshot@10", Some(1.1)),
        ],
    );

    let contenders: Vec<_> = pipelines
        .iter()
        .map(|(tools, one)| {
            Contender::direct(format!("change@{tools}"), || one.change_and_snapshot())
        })
        .collect();
    report.measure(
        "Registering one tool more and the first snapshot after it",
        &contenders,
        rounds / 10,
        &[Compare("change@10000", "change@10", None)],
    );
    Ok(())
}
