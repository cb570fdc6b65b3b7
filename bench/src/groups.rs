//! The groups of rows. Whoever stands in one group is measured in the same rounds.

use std::error::Error;

use futures_executor::block_on;

use crate::add::{ARGUMENTS, NAME, REFUSED, TEXT};
use crate::floor::Floor;
use crate::permission::{Rules, command_line, globs, match_globs, read_command};
use crate::pipeline::{Pipeline, Streaming};
use crate::report::Report;
#[cfg(feature = "rig")]
use crate::rig::Rig;
use crate::rounds::Contender;
use crate::rows::{Peer, Row, row};

type Done = Result<(), Box<dyn Error>>;

const CALL: &[Row] = &[
    row("pipeline/floor", "pipeline", "floor", Some(1.5)),
    row("pipeline+store/floor", "pipeline+store", "floor", Some(1.5)),
    row("pipeline/rig", "pipeline", "rig", Some(1.0)),
    row("pipeline/rig-bare", "pipeline", "rig-bare", None),
    row("rig/floor", "rig", "floor", None),
    row("refused/pipeline", "refused", "pipeline", Some(2.0)),
];

const STREAM: &[Row] = &[row("stream of 64 + 1", "stream@64", "stream@0", Some(20.0))];

const TOOLS: &[Row] = &[
    row("settle@10000", "settle@10000", "settle@1", Some(1.1)),
    row("settle@1000", "settle@1000", "settle@1", Some(1.1)),
    row("snapshot@10000", "snapshot@10000", "snapshot@10", Some(1.1)),
];

const REGISTRATIONS: &[Row] = &[
    row("live@10000", "live@10000", "live@1", Some(1.1)),
    row("change@10000", "change@10000", "change@1", Some(1.5)),
    row("change+snapshot@10000", "seen@10000", "seen@1", None),
];

const PERMISSION: &[Row] = &[
    row("decide@10000", "decide@10000", "decide@10", Some(10.0)),
    Row {
        name: "decide@10000 at most",
        ours: "decide@10000",
        peer: Peer::Limit(5_000.0),
        bound: Some(1.0),
    },
    row(
        "decide@10000/globset",
        "decide@10000",
        "globset@10000",
        None,
    ),
    Row {
        name: "command of 2 KB",
        ours: "command",
        peer: Peer::Limit(200_000.0),
        bound: Some(1.0),
    },
];

/// Measures every group that has something that is asked for.
pub fn measure(report: &mut Report, rounds: u32) -> Done {
    if report.asks_for("call", CALL) {
        call(report, rounds)?;
    }
    if report.asks_for("stream", STREAM) {
        stream(report, rounds)?;
    }
    if report.asks_for("tools", TOOLS) {
        tools(report, rounds)?;
    }
    if report.asks_for("registrations", REGISTRATIONS) {
        registrations(report, rounds)?;
    }
    if report.asks_for("permission", PERMISSION) {
        permission(report, rounds)?;
    }
    Ok(())
}

/// Whoever makes a call of the trivial tool.
struct Callers {
    floor: Floor,
    pipeline: Pipeline,
    stored: Pipeline,
    #[cfg(feature = "rig")]
    rig: Rig,
}

impl Callers {
    fn new() -> Result<Self, Box<dyn Error>> {
        let callers = Self {
            floor: Floor::new()?,
            pipeline: Pipeline::new(1)?,
            stored: Pipeline::with_store(1)?,
            #[cfg(feature = "rig")]
            rig: Rig::new(),
        };
        callers.answer_alike()?;
        Ok(callers)
    }

    /// All are asked for the same thing, so that nobody is fast by doing something else.
    fn answer_alike(&self) -> Done {
        let floor = block_on(self.floor.call(NAME, ARGUMENTS)).map_err(|_| "the floor refused")?;
        let texts = [
            floor.value.to_string(),
            floor.text,
            block_on(self.pipeline.settle(NAME, ARGUMENTS)).text(),
            block_on(self.stored.settle(NAME, ARGUMENTS)).text(),
            #[cfg(feature = "rig")]
            block_on(self.rig.call(NAME, ARGUMENTS)),
            #[cfg(feature = "rig")]
            block_on(self.rig.call_bare(ARGUMENTS)),
        ];
        match texts.iter().find(|text| *text != TEXT) {
            Some(other) => Err(format!("a contender answered {other} and not {TEXT}").into()),
            None => Ok(()),
        }
    }

    fn contenders(&self) -> Vec<Contender<'_>> {
        vec![
            Contender::awaited("floor", async || self.floor.call(NAME, ARGUMENTS).await),
            Contender::awaited("pipeline", async || {
                self.pipeline.settle(NAME, ARGUMENTS).await
            }),
            Contender::awaited("pipeline+store", async || {
                self.stored.settle(NAME, ARGUMENTS).await
            }),
            Contender::awaited("refused", async || {
                self.pipeline.settle(NAME, REFUSED).await
            }),
            #[cfg(feature = "rig")]
            Contender::awaited("rig", async || self.rig.call(NAME, ARGUMENTS).await),
            #[cfg(feature = "rig")]
            Contender::awaited("rig-bare", async || self.rig.call_bare(ARGUMENTS).await),
        ]
    }
}

fn call(report: &mut Report, rounds: u32) -> Done {
    let callers = Callers::new()?;
    let what = "one call of a typed tool that adds two integers";
    report.measure("call", what, &callers.contenders(), rounds, CALL);
    Ok(())
}

fn stream(report: &mut Report, rounds: u32) -> Done {
    let streaming = Streaming::new()?;
    let contenders = [0, 64].map(|results| {
        let streaming = &streaming;
        Contender::awaited(format!("stream@{results}"), async move || {
            streaming.take(results).await
        })
    });
    let what = "a call with 64 preliminary results beside one without";
    report.measure("stream", what, &contenders, rounds, STREAM);
    Ok(())
}

fn tools(report: &mut Report, rounds: u32) -> Done {
    let sized = sized([1, 10, 1_000, 10_000], Pipeline::new)?;
    let settling = sized.iter().map(|(size, one)| {
        Contender::awaited(format!("settle@{size}"), async || {
            one.settle(NAME, ARGUMENTS).await
        })
    });
    let looking = sized
        .iter()
        .map(|(size, one)| Contender::direct(format!("snapshot@{size}"), || one.snapshot()));
    let contenders: Vec<_> = settling.chain(looking).collect();
    let what = "a call and a snapshot among many tools";
    report.measure("tools", what, &contenders, rounds, TOOLS);
    Ok(())
}

fn registrations(report: &mut Report, rounds: u32) -> Done {
    let sized = sized([1, 10_000], Pipeline::registered_apart)?;
    let mut contenders = Vec::new();
    for (size, one) in &sized {
        contenders.push(Contender::awaited(format!("live@{size}"), async || {
            one.settle(NAME, ARGUMENTS).await
        }));
        let change = move || one.change();
        contenders.push(Contender::direct(format!("change@{size}"), change));
        let seen = move || one.change_and_snapshot();
        contenders.push(Contender::direct(format!("seen@{size}"), seen));
    }
    let what = "a call, one more registration and its end, and the snapshot of it";
    report.measure(
        "registrations",
        what,
        &contenders,
        rounds / 10,
        REGISTRATIONS,
    );
    Ok(())
}

fn permission(report: &mut Report, rounds: u32) -> Done {
    let sized = sized([10, 10_000], Rules::new)?;
    let (globs, line) = (globs(10_000)?, command_line());
    let deciding = sized
        .iter()
        .map(|(size, one)| Contender::direct(format!("decide@{size}"), || one.decide()));
    let others = [
        Contender::direct("globset@10000", || match_globs(&globs)),
        Contender::direct("command", || read_command(&line)),
    ];
    let contenders: Vec<_> = deciding.chain(others).collect();
    let what = "a decision over many rules, and reading a command line";
    report.measure("permission", what, &contenders, rounds, PERMISSION);
    Ok(())
}

fn sized<T, const N: usize>(
    sizes: [usize; N],
    make: impl Fn(usize) -> Result<T, Box<dyn Error>>,
) -> Result<Vec<(usize, T)>, Box<dyn Error>> {
    let sized = sizes.into_iter().map(|size| Ok((size, make(size)?)));
    sized.collect()
}

/// Runs one caller of the trivial tool alone.
pub fn profile(contender: &str, calls: u32) -> Done {
    let callers = Callers::new()?;
    let contenders = callers.contenders();
    let found = contenders.iter().find(|one| one.name() == contender);
    found
        .ok_or_else(|| format!("there is no contender \"{contender}\""))?
        .run(calls);
    Ok(())
}
