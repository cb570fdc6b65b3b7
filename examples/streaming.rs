//! A call that shows what it is at: progress, preliminary results, and one final result. And what
//! becomes of a model response that streams in.
//!
//! ```text
//! cargo run -p examples --example streaming
//! ```

#![expect(clippy::print_stdout, reason = "an example shows what comes of it")]

use std::convert::Infallible;
use std::error::Error;
use std::num::NonZeroUsize;

use futures_util::{StreamExt as _, stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tool_runtime::core::{Call, Facts, Progress};
use tool_runtime::permission::{Layer, Rule};
use tool_runtime::registry::{FinishReason, Part, SettlementEvent, TurnEvent};
use tool_runtime::{Context, HandlerError, Runtime, Tool};

#[derive(Deserialize, JsonSchema)]
struct Count {
    /// The texts to count in.
    texts: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
struct Words {
    words: usize,
}

fn count() -> Tool {
    Tool::new("Count words", |input: Count, cx: Context| async move {
        // Dropped with the call, wherever it is.
        let _leaving = Leaving;
        let (mut words, texts) = (0, input.texts.len());
        for (number, text) in (1_u32..).zip(&input.texts) {
            words += text.split_whitespace().count();
            // For people and programs. Never fails and never waits.
            cx.progress(Progress::new().of(f64::from(number), texts as f64));
            // A result so far, of the tool's own output type. Waits for a consumer that is behind.
            cx.preliminary(&Words { words }).await?;
        }
        Ok::<_, HandlerError>(Words { words })
    })
    .read_only()
    .into()
}

struct Leaving;

impl Drop for Leaving {
    fn drop(&mut self) {
        println!("  (the handler is gone)");
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let rules = Layer::new("example", [Rule::allow("call", "*")])?;
    let runtime = Runtime::builder().rules(rules).build().await?;
    let _registered = runtime.register([("count", count())])?;
    let request = runtime.snapshot();
    let facts = Facts::new();
    let call = Call::new("count", r#"{"texts": ["one two", "three", "four five"]}"#);

    println!("one call:");
    let mut events = request.settle(call.clone(), &facts).stream();
    while let Some(event) = events.next().await {
        show(&event);
    }

    println!("a consumer that has seen enough, one result behind at most:");
    let mut events = request.settle(call, &facts).stream_ahead(NonZeroUsize::MIN);
    if let Some(event) = events.next().await {
        show(&event);
    }
    drop(events);

    println!("a model response:");
    let started = Part::CallStarted {
        index: 0,
        id: Some("c1".into()),
        name: "count".to_owned(),
    };
    let piece = |text: &str| Part::Arguments {
        index: 0,
        text: text.to_owned(),
    };
    let begun = [started, piece(r#"{"texts": ["#), piece(r#""six seven"]}"#)];
    let whole = [
        Part::CallComplete { index: 0 },
        Part::Finish(FinishReason::ToolCalls),
    ];
    let response = begun.iter().chain(&whole).cloned();
    turn(&runtime, response.collect()).await;

    println!("a response that was cut off:");
    let cut_off = [Part::Finish(FinishReason::Length)];
    let response = begun.iter().chain(&cut_off).cloned();
    turn(&runtime, response.collect()).await;
    Ok(())
}

async fn turn(runtime: &Runtime, parts: Vec<Part>) {
    let response = stream::iter(parts.into_iter().map(Ok::<_, Infallible>));
    let mut turn = runtime.snapshot().turn(&Facts::new()).run(response);
    while let Some(event) = turn.next().await {
        match event {
            TurnEvent::Call { call, .. } => println!("  call {}", call.name()),
            TurnEvent::Preliminary { value, .. } => println!("  so far {value}"),
            TurnEvent::Settled { settlement, .. } => {
                println!("  {}: {}", settlement.outcome.as_str(), settlement.text());
            }
            TurnEvent::Finish(reason) => println!("  finish: {reason:?}"),
            _ => {}
        }
    }
}

fn show(event: &SettlementEvent) {
    match event {
        SettlementEvent::Progress(report) => {
            let (done, total) = (report.done.unwrap_or(0.0), report.total.unwrap_or(0.0));
            println!("  {done} of {total}");
        }
        SettlementEvent::Preliminary(value) => println!("  so far {value}"),
        SettlementEvent::Settled(settlement) => {
            println!("  {}: {}", settlement.outcome.as_str(), settlement.text());
        }
        _ => {}
    }
}
