//! Two gateways that are told of one bucket by its URL and the environment.

use std::process::{Command, Output};

use serde_json::json;
use tool_runtime::core::{Call, Facts};
use tool_runtime::permission::{Approval, Layer, Rule, Scope};
use tool_runtime::{Context, Runtime, Tool, approvals_in};

use super::server::{BUCKET, KEY, REGION, SECRET, Server};

const DOES: &str = "GATEWAY_DOES";
const STATE: &str = "GATEWAY_STATE";
const WORKSPACE: &str = "GATEWAY_WORKSPACE";

/// What each gateway does. It is a test by name only: without a task it has nothing to do.
#[tokio::test]
async fn gateway() {
    let Ok(task) = std::env::var(DOES) else {
        return;
    };
    let (state, workspace) = (
        std::env::var(STATE).unwrap(),
        std::env::var(WORKSPACE).unwrap(),
    );
    match &*task {
        "grant" => {
            let (approvals, _) = approvals_in(&state, &workspace).await.unwrap();
            let approval = Approval::new("fetch", "a", Scope::Project);
            approvals.grant([approval], None).await.unwrap();
        }
        "use" => {
            let layer = Layer::new("test", [Rule::allow("call", "probe")]).unwrap();
            let builder = Runtime::builder().state(&state).workspace(&workspace);
            let runtime = builder.rules(layer).build().await.unwrap();
            let registered = runtime.register([("probe", probe(&runtime))]).unwrap();
            let snapshot = runtime.snapshot();
            let settle = async |name: &str| {
                let call = Call::new("probe", json!({"name": name}));
                snapshot.settle(call, &Facts::new()).await
            };
            let granted = settle("a").await;
            assert_eq!(
                granted.output(),
                Some(&json!("fetched")),
                "{}",
                granted.text()
            );
            assert_eq!(settle("b").await.output(), None);
            drop(registered);
        }
        other => panic!("{other}"),
    }
}

/// A tool that may do something only where policy or an approval allows it.
fn probe(runtime: &Runtime) -> Tool {
    let permission = runtime.permission().clone();
    let schema = json!({"type": "object"});
    Tool::dynamic("Probes", schema, move |input, cx: Context| {
        let permission = permission.clone();
        async move {
            let name = input["name"].as_str().unwrap_or_default().to_owned();
            permission.assert(&cx, "fetch", [name]).await?;
            Ok(json!("fetched"))
        }
    })
}

/// Lets a gateway of its own process do something.
fn run(server: &Server, workspace: &std::path::Path, task: &str) -> Output {
    Command::new(std::env::current_exe().unwrap())
        .args(["buckets::approvals::gateway", "--exact", "--nocapture"])
        .env(DOES, task)
        .env(STATE, format!("s3://{BUCKET}/team/gateways"))
        .env(WORKSPACE, workspace)
        .env("AWS_ACCESS_KEY_ID", KEY)
        .env("AWS_SECRET_ACCESS_KEY", SECRET)
        .env("AWS_REGION", REGION)
        .env("AWS_ENDPOINT", &server.endpoint)
        .env("AWS_ALLOW_HTTP", "true")
        .output()
        .unwrap()
}

#[test]
fn what_one_gateway_is_granted_holds_at_another_on_the_same_bucket() {
    let server = Server::start();
    let workspace = tempfile::tempdir().unwrap();
    for task in ["grant", "use"] {
        let output = run(&server, workspace.path(), task);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{task}: {said}");
        for secret in [SECRET, KEY] {
            assert!(!said.contains(secret), "{task}: {said}");
        }
    }
    // Without the approval it would have been asked.
    let other = tempfile::tempdir().unwrap();
    let output = run(&server, other.path(), "use");
    assert!(!output.status.success());
}
