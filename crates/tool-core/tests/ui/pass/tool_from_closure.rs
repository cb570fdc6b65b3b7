//! The types of a tool are inferred from its closure, and `?` takes any error.

use tool_core::{Content, Context, Tool, ToolFailure};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Grep {
    pattern: String,
    path: Option<String>,
}

#[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
struct Found {
    lines: Vec<String>,
}

fn main() {
    let service = std::sync::Arc::new(String::from("captured"));
    let grep = Tool::new("Search file contents", move |input: Grep, cx: Context| {
        let service = service.clone();
        async move {
            let number: u32 = input.pattern.parse()?;
            if number == 0 {
                return Err(ToolFailure::new("nothing to look for").into());
            }
            let text = std::fs::read_to_string(input.path.unwrap_or_default())?;
            cx.progress(format!("{service} {number}"));
            Ok(Found { lines: vec![text] })
        }
    })
    .read_only()
    .model(|input, found| [Content::text(format!("{}: {}", input.pattern, found.lines.len()))])
    .structured(|found| found.lines.len());
    let _tool = Tool::from(grep);
}
