use tool_core::{Context, Tool};

#[derive(serde::Deserialize)]
struct Input {}

fn main() {
    let _ = Tool::new("Takes it", |_: Input, _: Context| async { Ok(1) });
}
