//! Calls that a person has to approve: asked at a desk while the call waits, and carried as JSON
//! to another process that goes on with it.
//!
//! ```text
//! cargo run -p examples --example approval
//! ```
//!
//! Started with the argument `resume`, the same program is the other process.

#![expect(clippy::print_stdout, reason = "an example shows what comes of it")]

use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use tool_runtime::core::{Call, Facts, NeedsApproval, Outcome, Permission, Suspension, Verdict};
use tool_runtime::permission::{Desk, Layer, Notice, Reply, Rule, RulePolicy};
use tool_runtime::registry::{Approvals, SealKey};
use tool_runtime::{Context, Runtime, Tool};

#[derive(Deserialize, JsonSchema)]
struct Refund {
    /// The order to pay back.
    order: u64,
    /// How much, in cents.
    cents: u64,
}

fn refund() -> Tool {
    Tool::new(
        "Pay an order back",
        |refund: Refund, _cx: Context| async move {
            Ok(format!(
                "paid {} cents back for order {}",
                refund.cents, refund.order
            ))
        },
    )
    // Small ones go through. A predicate that fails says yes.
    .needs_approval(NeedsApproval::when(|refund: Refund, _call| async move {
        Ok(refund.cents > 10_000)
    }))
    .into()
}

/// A runtime whose suspensions are good in every process that has the same key and folder.
async fn shared_runtime(folder: &Path) -> Result<Runtime, Box<dyn Error>> {
    // A host reads the key from where it keeps its secrets.
    let key = SealKey::new([7; 32]);
    let rules = Layer::new("example", [Rule::allow("call", "refund")])?;
    let runtime = Runtime::builder()
        .rules(rules)
        .state(folder)
        .registry(|registry| registry.seal_key(key))
        .build()
        .await?;
    runtime.register([("refund", refund())])?.keep();
    Ok(runtime)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    match std::env::args().nth(1).as_deref() {
        Some("resume") => resume(Path::new(&std::env::args().nth(2).ok_or("no folder")?)).await,
        _ => {
            at_the_desk().await?;
            carried().await
        }
    }
}

/// The call waits while somebody is asked.
async fn at_the_desk() -> Result<(), Box<dyn Error>> {
    let rules = Layer::new("example", [Rule::allow("call", "refund")])?;
    let policy = Arc::new(RulePolicy::new([rules]));
    let desk = Desk::new(Arc::clone(&policy));
    let runtime = Runtime::builder()
        .permission(Permission::new(policy, desk.clone()))
        .build()
        .await?;
    let _registered = runtime.register([("refund", refund())])?;

    // A person, or whatever shows the questions to one.
    let mut notices = desk.notices();
    tokio::spawn(async move {
        while let Some(notice) = notices.next().await {
            if let Notice::Asked(question) = notice {
                println!("asked: {}, as {}", question.action, question.because);
                let note = Some("ask for a receipt first".to_owned());
                let _ = desk.answer(question.id, Reply::Reject { note }).await;
            }
        }
    });
    for cents in [500, 20_000] {
        let call = Call::new("refund", format!(r#"{{"order": 1, "cents": {cents}}}"#));
        let settled = runtime.snapshot().settle(call, &Facts::new()).await;
        println!("{}: {}", settled.outcome.as_str(), settled.text());
    }
    Ok(())
}

/// The call ends as a suspension, and another process goes on with it.
async fn carried() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let runtime = shared_runtime(folder.path()).await?;
    let call = Call::new("refund", r#"{"order": 2, "cents": 20000}"#).id("c1");
    let facts = Facts::new().session("s1");
    let settled = runtime
        .snapshot()
        .settle(call, &facts)
        .approvals(Approvals::Suspend)
        .await;
    println!("{}: {}", settled.outcome.as_str(), settled.text());
    let Outcome::Suspended(suspension) = settled.outcome else {
        return Err("the call did not wait".into());
    };
    let json = serde_json::to_string(&suspension)?;
    fs::write(folder.path().join("suspension.json"), json)?;
    drop(runtime);

    let other = Command::new(std::env::current_exe()?)
        .arg("resume")
        .arg(folder.path())
        .output()?;
    print!("{}", String::from_utf8(other.stdout)?);
    Ok(())
}

/// The other process.
async fn resume(folder: &Path) -> Result<(), Box<dyn Error>> {
    let runtime = shared_runtime(folder).await?;
    let request = runtime.snapshot();
    let json = fs::read_to_string(folder.join("suspension.json"))?;
    let suspension: Suspension = serde_json::from_str(&json)?;
    let facts = Facts::new().session("s1");

    let mut altered = suspension.clone();
    altered.arguments = json!({"order": 2, "cents": 1_000_000});
    let stranger = Facts::new().session("s2");
    for (who, suspension, facts) in [
        ("altered", altered, &facts),
        ("a stranger's", suspension.clone(), &stranger),
        ("approved", suspension.clone(), &facts),
        ("once more", suspension, &facts),
    ] {
        let settled = request.resume(suspension, Verdict::Approve, facts).await;
        println!("{who}: {}", settled.text());
    }
    Ok(())
}
