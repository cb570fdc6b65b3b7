use tool_core::{Context, Tool};

#[derive(schemars::JsonSchema)]
struct Input {}

fn main() {
    let _ = Tool::new("Takes it", |_: Input, _: Context| async { Ok(1) });
}
