//! What it costs to tell a provider of tools, beside what others take for it.
//!
//! The definitions are those of real servers, from `mcp-tools` of the folder that `TOOL_CORPUS`
//! names. A call is the whole of them, up to the text that a request carries.

mod corpus;
mod openai;
#[cfg(feature = "rig")]
mod rig;

use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

use tool_provider::Profile;
use tool_runtime::ToolLists;

use crate::pipeline::Pipeline;
use crate::report::Report;
use crate::rounds::{Contender, Spread};
use crate::rows::{Amount, Line, Measured, Row, row};

use corpus::Corpus;
use openai::OpenAi;

type Done = Result<(), Box<dyn Error>>;

const PROJECTION: &[Row] = &[
    row("projection/rig", "projection", "rig", Some(1.0)),
    row("projection, plain/rig", "plain", "rig", None),
];
const OPENAI: Row = row("projection/openai", "projection", "openai", None);
const LISTS: &[Row] = &[
    row("listed@10000", "listed@10000", "listed@10", Some(1.1)),
    row("listed/pointer", "listed@10000", "pointer", None),
];

/// Rounds over the whole set; one takes some tens of milliseconds.
const ROUNDS: u32 = 41;
/// Anthropic takes any number of tools, so a list of many is one that is sent.
const ANY_NUMBER: Profile = Profile::Anthropic;

/// Measures both groups, as far as they are asked for.
pub fn measure(report: &mut Report, rounds: u32) -> Done {
    if report.asks_for("provider", PROJECTION) || report.asks_for("provider", &[OPENAI]) {
        projection(report, rounds.min(ROUNDS))?;
    }
    if report.asks_for("provider lists", LISTS) {
        lists(report, rounds)?;
    }
    Ok(())
}

fn projection(report: &mut Report, rounds: u32) -> Done {
    let Some(corpus) = Corpus::of_environment()? else {
        eprintln!("skipped provider: TOOL_CORPUS names no folder with definitions");
        return Ok(());
    };
    let contenders = [
        Contender::direct("projection", || {
            corpus.projected(Profile::OpenAiResponsesStrict)
        }),
        Contender::direct("plain", || corpus.projected(Profile::OpenAiResponses)),
        #[cfg(feature = "rig")]
        Contender::direct("rig", || rig::sanitized(&corpus)),
    ];
    let what = format!(
        "{} definitions for OpenAI, strict",
        corpus.definitions.len()
    );
    report.measure("provider", &what, &contenders, rounds, PROJECTION);
    if !report.asks_for("provider", &[OPENAI]) {
        return Ok(());
    }
    match OpenAi::start(&corpus) {
        Ok(peer) => beside_openai(report, &corpus, peer, rounds),
        Err(reason) => {
            report.add(
                format!("provider: without npm's openai, {reason}"),
                vec![Line::skipped(&OPENAI)],
            );
            Ok(())
        }
    }
}

/// The helper of OpenAI's own package in turns with ours. It measures itself, so that neither its
/// start nor the pipe between counts.
fn beside_openai(report: &mut Report, corpus: &Corpus, mut peer: OpenAi, rounds: u32) -> Done {
    // The first rounds let its compiler see what is hot.
    for _ in 0..5 {
        peer.round()?;
    }
    let (mut ours, mut theirs, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    let mut taken = 0;
    for _ in 0..rounds {
        let start = Instant::now();
        std::hint::black_box(corpus.projected(Profile::OpenAiResponsesStrict));
        let our_nanos = start.elapsed().as_secs_f64() * 1e9;
        let round = peer.round()?;
        taken = round.taken;
        ours.push(our_nanos);
        theirs.push(round.nanos);
        ratios.push(our_nanos / round.nanos);
    }
    let line = Line {
        measured: Some(Measured {
            ours: Amount::Nanos(Spread::of(ours).median),
            peer: Amount::Nanos(Spread::of(theirs).median),
            ratio: Spread::of(ratios),
        }),
        ..Line::skipped(&OPENAI)
    };
    let title = format!(
        "provider: the same beside npm's openai, which takes {taken} of them, {rounds} rounds"
    );
    report.add(title, vec![line]);
    Ok(())
}

/// Asking for the list of a snapshot that was asked for before.
fn lists(report: &mut Report, rounds: u32) -> Done {
    let (few, many) = (Pipeline::new(10)?, Pipeline::new(10_000)?);
    let lists = ToolLists::default();
    let kept = [&few, &many].map(|it| lists.of(&it.snapshot(), ANY_NUMBER));
    if kept.iter().map(|it| it.tools().len()).ne([10, 10_000]) {
        return Err("a list lacks tools".into());
    }
    let [_, pointer] = &kept;
    let listing = [("listed@10", &few), ("listed@10000", &many)].map(|(name, pipeline)| {
        let (snapshot, lists) = (pipeline.snapshot(), &lists);
        Contender::direct(name, move || {
            lists.of(&snapshot, ANY_NUMBER).as_json().len()
        })
    });
    let alone = Contender::direct("pointer", || Arc::clone(pointer).as_json().len());
    let contenders: Vec<_> = listing.into_iter().chain([alone]).collect();
    let what = "the list of a snapshot, asked for again";
    report.measure("provider lists", what, &contenders, rounds, LISTS);
    Ok(())
}
