use tool_core::{Context, Tool};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Input {}

fn main() {
    let tool = Tool::new("Bounds nothing", |_: Input, _: Context| async { Ok(()) });
    let _ = tool.ceiling(0);
}
