//! Data that tools pass to each other by reference, so that no model has to copy it.
//!
//! ```text
//! cargo run -p examples --example artifacts
//! ```

#![expect(clippy::print_stdout, reason = "an example shows what comes of it")]

use std::error::Error;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tool_runtime::core::{
    ArtifactDraft, ArtifactKind, ArtifactStore, Call, Event, EventKind, Facts, Wanted,
};
use tool_runtime::permission::{Layer, Rule};
use tool_runtime::storage::MemoryArtifacts;
use tool_runtime::{Context, Runtime, Tool};

#[derive(Deserialize, JsonSchema)]
struct Query {
    /// The table to read.
    table: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Found {
    /// Hand this to a tool that takes rows.
    rows: String,
    count: usize,
}

#[derive(Deserialize, JsonSchema)]
struct Sum {
    /// Rows, as a tool that finds some names them.
    rows: Wanted<Vec<[i64; 1]>>,
}

/// Makes an artifact: it keeps the rows and answers with the reference.
fn query(kind: ArtifactKind) -> Tool {
    Tool::new("Read a table", move |input: Query, cx: Context| {
        let draft = ArtifactDraft::new(kind.clone()).label(input.table);
        async move {
            let rows = json!([[1], [2], [39]]);
            let kept = cx.artifacts().put(draft, rows).await?;
            Ok(Found {
                rows: kept.meta.reference.to_string(),
                count: 3,
            })
        }
    })
    .read_only()
    .into()
}

/// Takes an artifact: the model writes a reference, the handler gets the rows.
fn sum(kind: ArtifactKind) -> Tool {
    Tool::new("Add rows up", |input: Sum, _cx: Context| async move {
        let rows = input.rows.into_data()?;
        Ok(rows.iter().map(|[number]| number).sum::<i64>())
    })
    .read_only()
    .wants("rows", kind)
    .into()
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let kind = |word| ArtifactKind::new(word).ok_or("a kind is not blank");
    let store = MemoryArtifacts::new();
    // A host puts artifacts by the same store, for the caller whose they are to be.
    let (mine, yours) = (Facts::new().session("s1"), Facts::new().session("s2"));
    let image = ArtifactDraft::new(kind("image")?);
    let image = store.put(&mine, image, "a picture".into()).await?;
    let image = image.meta.reference.as_str();

    let rules = Layer::new("example", [Rule::allow("call", "*")])?;
    let runtime = Runtime::builder()
        .rules(rules)
        .artifacts(Arc::new(store))
        .registry(|registry| registry.events(tell))
        .build()
        .await?;
    let _registered = runtime.register([
        ("query", query(kind("table")?)),
        ("sum", sum(kind("table")?)),
    ])?;

    let request = runtime.snapshot();
    let found = request
        .settle(Call::new("query", r#"{"table": "sales"}"#), &mine)
        .await;
    let found: Found = serde_json::from_str(&found.text())?;
    println!("found {} rows", found.count);

    for (whose, reference, facts) in [
        ("mine", &*found.rows, &mine),
        ("another caller's", &found.rows, &yours),
        ("an image", image, &mine),
        ("nobody's", "art_9", &mine),
    ] {
        let call = Call::new("sum", json!({"rows": reference}));
        let settled = request.settle(call, facts).await;
        // Nobody can guess a reference, so that it is another one each time.
        let text = settled.text().replace(&found.rows, "art_...");
        println!("{whose}: {}: {text}", settled.outcome.as_str());
    }
    Ok(())
}

/// A host is told which arguments were redeemed, and never the data.
fn tell(event: &Event<'_>) {
    if let EventKind::Artifact {
        argument, redeemed, ..
    } = &event.kind
    {
        println!("({argument} of {} redeemed: {redeemed})", event.tool);
    }
}
