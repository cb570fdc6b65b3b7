//! Tools whose schemas are known at run time only: one for each entry of a catalogue.
//!
//! ```text
//! cargo run -p examples --example dynamic
//! ```

#![expect(clippy::print_stdout, reason = "an example shows what comes of it")]

use std::error::Error;

use serde::Deserialize;
use serde_json::{Value, json};
use tool_runtime::core::{Call, Facts};
use tool_runtime::permission::{Layer, Rule};
use tool_runtime::{Runtime, Tool, ToolFailure};

/// What another system might hand over: a name, a text, a schema, and how to reckon.
const CATALOGUE: &str = r#"[
    {
        "name": "fahrenheit",
        "description": "Convert degrees Celsius to degrees Fahrenheit",
        "input": {
            "type": "object",
            "properties": {"celsius": {"type": "number", "minimum": -273.15}},
            "required": ["celsius"],
            "additionalProperties": false
        },
        "argument": "celsius", "factor": 1.8, "offset": 32
    },
    {
        "name": "miles",
        "description": "Convert kilometres to miles",
        "input": {
            "type": "object",
            "properties": {"kilometres": {"type": "number", "minimum": 0}},
            "required": ["kilometres"],
            "additionalProperties": false
        },
        "argument": "kilometres", "factor": 0.621371, "offset": 0
    }
]"#;

#[derive(Deserialize)]
struct Conversion {
    name: String,
    description: String,
    input: Value,
    argument: String,
    factor: f64,
    offset: f64,
}

impl From<Conversion> for Tool {
    fn from(conversion: Conversion) -> Self {
        let Conversion {
            description,
            input,
            argument,
            factor,
            offset,
            ..
        } = conversion;
        // Arguments that do not fit the schema never come here.
        Self::dynamic(description, input, move |input, _cx| {
            let number = input.get(&argument).and_then(Value::as_f64);
            async move {
                let number = number.ok_or_else(|| ToolFailure::new("there is no number"))?;
                Ok(json!({"result": number * factor + offset}))
            }
        })
        .output_schema(json!({
            "type": "object",
            "properties": {"result": {"type": "number"}},
            "required": ["result"]
        }))
        .read_only()
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let rules = Layer::new("example", [Rule::allow("call", "*")])?;
    let runtime = Runtime::builder().rules(rules).build().await?;

    let catalogue: Vec<Conversion> = serde_json::from_str(CATALOGUE)?;
    let tools = catalogue
        .into_iter()
        .map(|entry| (entry.name.clone(), entry));
    let _registered = runtime.register(tools)?;

    let request = runtime.snapshot();
    for definition in request.definitions() {
        println!("{}: {}", definition.name, definition.description);
    }
    for (name, arguments) in [
        ("fahrenheit", r#"{"celsius": 100}"#),
        ("miles", r#"{"kilometres": 42.195}"#),
        ("fahrenheit", r#"{"celsius": -300}"#),
        ("miles", r#"{"kilometers": 42.195}"#),
    ] {
        let settled = request
            .settle(Call::new(name, arguments), &Facts::new())
            .await;
        println!("{}: {}", settled.outcome.as_str(), settled.text());
    }
    Ok(())
}
