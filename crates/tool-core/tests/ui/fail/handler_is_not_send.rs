use std::rc::Rc;

use tool_core::{Context, Tool};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Input {}

fn main() {
    let _ = Tool::new("Keeps what cannot be sent", |_: Input, _: Context| async {
        let kept = Rc::new(1);
        std::future::ready(()).await;
        Ok(*kept)
    });
}
