//! Data that tools pass to each other by reference, so that no model has to copy it.
//!
//! ```text
//! cargo run -p examples --example artifacts
//! ```

#![expect(clippy::print_stdout, reason = "an example shows what comes of it")]

use std::collections::HashMap;
use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tool_runtime::core::{
    Artifact, ArtifactDraft, ArtifactError, ArtifactKind, ArtifactMeta, ArtifactScope,
    ArtifactStore, BoxFuture, Call, Event, EventKind, Facts, Kept, Payload, Wanted,
};
use tool_runtime::permission::{Layer, Rule};
use tool_runtime::{Context, Runtime, Tool};

/// Keeps artifacts in memory, each for the scope of the caller that put it. A store that lasts
/// mints references that nobody can guess.
#[derive(Clone, Default)]
struct Shelf(Arc<Mutex<HashMap<(ArtifactScope, String), Artifact>>>);

impl ArtifactStore for Shelf {
    fn get<'a>(
        &'a self,
        facts: &'a Facts,
        reference: &'a str,
    ) -> BoxFuture<'a, Result<Option<Artifact>, ArtifactError>> {
        let shelf = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (ArtifactScope::of(facts), reference.to_owned());
        let found = shelf.get(&key).cloned();
        Box::pin(async move { Ok(found) })
    }

    fn put<'a>(
        &'a self,
        facts: &'a Facts,
        draft: ArtifactDraft,
        payload: Payload,
    ) -> BoxFuture<'a, Result<Kept, ArtifactError>> {
        let mut shelf = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let reference = format!("art_{}", shelf.len() + 1);
        let artifact = Artifact::new(draft.kind.clone(), payload);
        let (media, bytes) = (artifact.payload.media_type(), artifact.payload.to_bytes());
        let meta = ArtifactMeta::of_draft(
            draft,
            reference.as_str().into(),
            media,
            bytes.len() as u64,
            SystemTime::now(),
        );
        shelf.insert((ArtifactScope::of(facts), reference), artifact);
        Box::pin(async move { Ok(Kept::new(meta, Vec::new())) })
    }
}

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
    let shelf = Shelf::default();
    // A host puts artifacts by the same store, for the caller whose they are to be.
    let (mine, yours) = (Facts::new().session("s1"), Facts::new().session("s2"));
    let image = ArtifactDraft::new(kind("image")?);
    let image = shelf.put(&mine, image, "a picture".into()).await?;
    let image = image.meta.reference.as_str();

    let rules = Layer::new("example", [Rule::allow("call", "*")])?;
    let runtime = Runtime::builder()
        .rules(rules)
        .registry(|registry| registry.artifacts(shelf).events(tell))
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
    println!("{}", found.text());

    for (facts, reference) in [
        (&mine, "art_2"),
        (&yours, "art_2"),
        (&mine, image),
        (&mine, "art_9"),
    ] {
        let call = Call::new("sum", json!({"rows": reference}));
        let settled = request.settle(call, facts).await;
        println!("{}: {}", settled.outcome.as_str(), settled.text());
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
