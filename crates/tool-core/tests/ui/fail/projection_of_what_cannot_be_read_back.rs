use tool_core::{Content, Context, Tool};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Input {}

#[derive(serde::Serialize, schemars::JsonSchema)]
struct Output {}

fn main() {
    let _ = Tool::new("Gives it", |_: Input, _: Context| async { Ok(Output {}) })
        .model(|_, _| [Content::text("shown")]);
}
