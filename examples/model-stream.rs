//! A model's streamed response, for any provider: the request's tools, the calls that run while it
//! streams in, and what the next request carries.
//!
//! ```text
//! cargo run -p examples --example model-stream
//! ```

#![expect(clippy::print_stdout, reason = "an example shows what comes of it")]

use std::error::Error;

use futures_util::{StreamExt as _, stream};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use tool_runtime::core::Facts;
use tool_runtime::permission::{Layer, Rule};
use tool_runtime::provider::{Api, Profile, ResponseStream};
use tool_runtime::registry::TurnEvent;
use tool_runtime::{Context, HandlerError, Runtime, Tool, TurnParts};

#[derive(Deserialize, JsonSchema)]
struct Weather {
    /// The name of the city.
    city: String,
    /// How many days ahead, today if it is left out.
    days: Option<u8>,
}

/// What an HTTP client would receive, as the server sent it.
const BODY: &str = r#"data: {"choices":[{"delta":{"role":"assistant","content":"Let me see."},"finish_reason":null}]}

data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c1","function":{"name":"weather","arguments":"{\"city\":\"Oslo\","}}]},"finish_reason":null}]}

data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\"days\":null}"}}]},"finish_reason":null}]}

data: {"choices":[{"delta":{},"finish_reason":"tool_calls"}]}

data: [DONE]
"#;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let weather = Tool::new(
        "Tell the weather of a city",
        |input: Weather, _: Context| async move {
            let days = input.days.unwrap_or(0);
            Ok::<_, HandlerError>(format!("{} in {days} days: rain", input.city))
        },
    );
    let rules = Layer::new("example", [Rule::allow("call", "weather")])?;
    let runtime = Runtime::builder().rules(rules).build().await?;
    let _weather = runtime.register([("weather", weather.read_only())])?;

    // The request carries these tools. The list is made once for as long as nothing changes.
    let request = runtime.snapshot();
    let tools = runtime.tool_list(&request, Profile::OpenAiChatStrict);
    println!("tools: {}", tools.as_json());

    // Each event is one JSON value; whatever reads server-sent events gives them.
    let events = BODY.lines().filter_map(|line| line.strip_prefix("data: "));
    let events = events.filter(|data| *data != "[DONE]");
    let events = stream::iter(events.map(serde_json::from_str::<Value>));

    let mut parts = TurnParts::new(ResponseStream::openai_chat(), &tools);
    let mut settled = Vec::new();
    let mut turn = request.turn(&Facts::new()).run(parts.follow(events));
    while let Some(event) = turn.next().await {
        match event {
            TurnEvent::Text(text) => println!("text: {text}"),
            TurnEvent::Settled { settlement, .. } => {
                println!("settled: {}", settlement.text());
                settled.push(*settlement);
            }
            TurnEvent::Finish(reason) => println!("finish: {reason:?}"),
            // Nothing that was open has run; the response below still answers every call.
            TurnEvent::Failed(failure) => println!("failed: {failure}"),
            _ => {}
        }
    }
    drop(turn);

    let response = parts.response();
    println!("next: {}", response.message);
    for result in Api::OpenAiChat.results(&response.calls, &settled) {
        println!("next: {result}");
    }
    Ok(())
}
