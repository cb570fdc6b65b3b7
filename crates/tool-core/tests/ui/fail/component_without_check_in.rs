use tool_core::{Component, Context, Tool};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Input {}

fn main() {
    let tool = Tool::new("Asks", |_: Input, _: Context| async { Ok(()) });
    let _ = tool.check_in(Component::new("slider"));
}
