//! Tools that a model provider defines: one that the provider runs itself, and one that is handled
//! here. One model response uses both.
//!
//! ```text
//! cargo run -p examples --example provider-defined
//! ```

#![expect(clippy::print_stdout, reason = "an example shows what comes of it")]

use std::error::Error;

use futures_util::StreamExt as _;
use serde_json::{Map, Value, json};
use tool_runtime::core::{Call, Facts};
use tool_runtime::permission::{Layer, Rule};
use tool_runtime::registry::{FinishReason, Part, TurnEvent};
use tool_runtime::{Runtime, Tool, ToolFailure};

/// Runs at the provider: there is no handler. The arguments are how it is to be set up.
fn web_search() -> Tool {
    let setup = Map::from_iter([("max_uses".to_owned(), json!(3))]);
    Tool::provider_defined("acme.web_search", "web_search_v1", setup)
}

/// Defined by the provider, run here: the model knows it from its training.
fn memory() -> Tool {
    let input = json!({
        "type": "object",
        "properties": {"command": {"enum": ["view", "clear"]}},
        "required": ["command"],
        "additionalProperties": false
    });
    Tool::dynamic("Keep notes", input, |input: Value, _cx| async move {
        match input.get("command").and_then(Value::as_str) {
            Some("view") => Ok(json!("notes: buy milk")),
            _ => Err(ToolFailure::new("notes cannot be cleared here").into()),
        }
    })
    .handles_provider_tool("acme.memory", "memory_v1", Map::new())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let rules = Layer::new("example", [Rule::allow("call", "*")])?;
    let runtime = Runtime::builder().rules(rules).build().await?;
    let _registered = runtime.register([("web_search", web_search()), ("memory", memory())])?;

    let request = runtime.snapshot();
    // What a request to the provider says in place of a definition.
    for entry in request.entries() {
        if let Some(defined) = entry.tool().kind().provider() {
            let setup = Value::Object(defined.arguments.clone());
            println!("{}: {} {setup}", entry.wire_name(), defined.provider_name);
        }
    }

    // The provider ran its own tool before the response came; the model then called ours.
    let parts = [
        Part::ProviderCall(Call::new("web_search", json!({"query": "milk"})).id("p1")),
        Part::ProviderResult {
            id: "p1".into(),
            result: json!({"hits": 2}),
            is_error: false,
        },
        Part::Call(Call::new("memory", json!({"command": "view"})).id("c1")),
        Part::Finish(FinishReason::ToolCalls),
    ];
    let mut turn = request.turn(&Facts::new()).run_whole(parts);
    while let Some(event) = turn.next().await {
        match event {
            TurnEvent::ProviderCall { call, .. } => println!("recorded: {}", call.name()),
            TurnEvent::Settled { settlement, .. } => {
                println!("{}: {}", settlement.tool, settlement.text());
            }
            TurnEvent::Finish(_) => println!("finished"),
            _ => {}
        }
    }
    let history = turn.into_history();
    let (said, answered) = (history.assistant().len(), history.results().len());
    println!("history: {said} parts of the assistant, {answered} result");

    // Whoever calls the provider's own tool here is told whose it is.
    let call = Call::new("web_search", json!({"query": "milk"}));
    let settled = request.settle(call, &Facts::new()).await;
    println!("{}: {}", settled.outcome.as_str(), settled.text());
    Ok(())
}
