//! A typed tool that asks for permission itself, and the calls of one model response.
//!
//! ```text
//! cargo run -p examples --example grep
//! ```

#![expect(clippy::print_stdout, reason = "an example shows what comes of it")]

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tool_runtime::core::{Call, Facts, Permission};
use tool_runtime::permission::{Layer, Rule};
use tool_runtime::{Content, Runtime, Tool, ToolFailure};

#[derive(Deserialize, JsonSchema)]
struct Grep {
    /// Text to look for.
    text: String,
    /// File to search.
    file: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Found {
    lines: Vec<Line>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Line {
    number: usize,
    text: String,
}

/// The tool captures what it works with: the folder and whoever decides.
fn grep(folder: PathBuf, permission: Permission) -> Tool {
    let folder = Arc::new(folder);
    Tool::new("Search a file for a text", move |input: Grep, cx| {
        let (folder, permission) = (Arc::clone(&folder), permission.clone());
        async move {
            // `?`: the call is refused, and nothing that comes after can change that.
            permission
                .assert(&cx, "grep", [&input.file])
                .save(&input.file)
                .await?;
            search(&folder.join(&input.file), &input.text)
        }
    })
    .read_only()
    .asserts_permission()
    // Programs get the lines as data, the model reads them as it reads any search.
    .model(|input, found| {
        let lines = found.lines.iter();
        let lines = lines.map(|line| format!("{}:{}: {}\n", input.file, line.number, line.text));
        [Content::text(lines.collect::<String>())]
    })
    .into()
}

fn search(file: &Path, text: &str) -> Result<Found, tool_runtime::HandlerError> {
    let Ok(content) = fs::read_to_string(file) else {
        // A failure that the model reads and can do something about.
        return Err(ToolFailure::new("there is no such file; look for another").into());
    };
    let numbered = (1..).zip(content.lines());
    let found = numbered.filter(|(_, line)| line.contains(text));
    Ok(Found {
        lines: found
            .map(|(number, line)| Line {
                number,
                text: line.to_owned(),
            })
            .collect(),
    })
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    fs::write(
        folder.path().join("plan.txt"),
        "buy milk\nbuy bread\nsleep\n",
    )?;
    fs::write(folder.path().join("diary.txt"), "did not buy bread\n")?;

    let rules = [
        Rule::allow("grep", "*"),
        Rule::deny("grep", "diary*").reason("the diary is nobody's business"),
    ];
    let runtime = Runtime::builder()
        .rules(Layer::new("example", rules)?)
        .state(folder.path().join("state"))
        .build()
        .await?;
    let tool = grep(folder.path().to_owned(), runtime.permission().clone());
    let _registered = runtime.register([("grep", tool)])?;

    // What a model request sees, and the calls that the model answers with.
    let request = runtime.snapshot();
    let calls = [
        Call::new("grep", r#"{"text": "buy", "file": "plan.txt"}"#).id("1"),
        Call::new("grep", r#"{"text": "buy", "file": "diary.txt"}"#).id("2"),
        Call::new("grep", r#"{"text": "buy", "file": "list.txt"}"#).id("3"),
        Call::new("grep", r#"{"txt": "buy", "file": "plan.txt"}"#).id("4"),
        Call::new("grab", r#"{"text": "buy", "file": "plan.txt"}"#).id("5"),
    ];
    for settled in request.settle_all(calls, &Facts::new()).await {
        println!(
            "{}: {}",
            settled.outcome.as_str(),
            settled.text().trim_end()
        );
    }
    Ok(())
}
