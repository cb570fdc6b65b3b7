use serde_json::{Value, json};
use tool_core::Tool;

fn main() {
    let tool = Tool::external("Asks the crowd", json!({"type": "object"}));
    let _ = tool.structured(|output: Value| output);
}
