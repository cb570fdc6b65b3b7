use tool_core::{Context, Tool};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Input {}

#[derive(serde::Serialize)]
struct Output {}

fn main() {
    let _ = Tool::new("Gives it", |_: Input, _: Context| async { Ok(Output {}) });
}
