//! The program of the README: one tool, from its definition to the answer to a call.
//!
//! ```text
//! cargo run -p examples --example divide
//! ```

use tool_runtime::core::{Call, Facts};
use tool_runtime::permission::{Layer, Rule};
use tool_runtime::{Content, Context, JsonSchema, Runtime, Tool};

#[derive(serde::Deserialize, JsonSchema)]
struct Divide {
    /// The number that is divided.
    dividend: f64,
    /// The number to divide by.
    divisor: f64,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let divide = Tool::new(
        "Divide one number by another",
        |input: Divide, _cx: Context| async move { Ok(input.dividend / input.divisor) },
    )
    .read_only()
    .model(|input, quotient| {
        [Content::text(format!(
            "{} / {} = {quotient}",
            input.dividend, input.divisor
        ))]
    });

    let rules = Layer::new("example", [Rule::allow("call", "divide")])?;
    let runtime = Runtime::builder().rules(rules).build().await?;
    let _divide = runtime.register([("divide", divide)])?; // dropped: the one below is back

    let request = runtime.snapshot(); // what this model request sees
    let call = Call::new("divide", r#"{"dividend": 1, "divisor": 8}"#); // what the model answers
    let settled = request.settle(call, &Facts::new()).await; // always exactly one
    assert_eq!(settled.text(), "1 / 8 = 0.125");
    Ok(())
}
