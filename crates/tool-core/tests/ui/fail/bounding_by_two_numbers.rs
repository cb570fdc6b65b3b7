use tool_core::{Bounding, Context, Tool};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Input {}

fn main() {
    let tool = Tool::new("Bounds itself", |_: Input, _: Context| async { Ok(()) });
    let _ = tool.bounding(Bounding::Within(0, 0));
}
