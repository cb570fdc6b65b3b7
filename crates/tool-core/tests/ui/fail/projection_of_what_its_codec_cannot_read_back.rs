use std::error::Error;

use serde_json::{Value, json};
use tool_core::{Content, Context, Encoder, Serde, Tool};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Input {}

struct Length;

impl Encoder<usize> for Length {
    fn schema(&self) -> Option<Value> {
        None
    }

    fn encode(&self, output: &usize) -> Result<Value, Box<dyn Error + Send + Sync>> {
        Ok(json!("x".repeat(*output)))
    }
}

fn main() {
    let _ = Tool::with_codecs(
        "Gives it",
        Serde::new(),
        Length,
        |_: Input, _: Context| async { Ok(3) },
    )
    .model(|_, _| [Content::text("shown")]);
}
