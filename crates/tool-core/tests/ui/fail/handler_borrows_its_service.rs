use tool_core::{Context, Tool};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Input {}

fn main() {
    let service = String::from("not shared");
    let _ = Tool::new("Borrows", |_: Input, _: Context| async { Ok(service.len()) });
}
