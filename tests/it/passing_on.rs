//! Data that one process keeps and another one is given.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use tool_runtime::core::{ArtifactDraft, ArtifactKind, Call, Facts, Wanted};
use tool_runtime::permission::{Layer, Rule};
use tool_runtime::{Context, Runtime, Tool};

#[derive(Deserialize, JsonSchema)]
struct Sum {
    rows: Wanted<Vec<i64>>,
}

fn rows() -> ArtifactKind {
    ArtifactKind::new("rows").unwrap()
}

fn query() -> Tool {
    Tool::dynamic(
        "Finds rows",
        json!({"type": "object"}),
        |_, cx: Context| async move {
            let kept = cx
                .artifacts()
                .put(ArtifactDraft::new(rows()), json!([1, 2, 39]))
                .await?;
            Ok(json!(kept.meta.reference.as_str()))
        },
    )
}

fn sum() -> Tool {
    Tool::new("Adds rows up", |input: Sum, _cx: Context| async move {
        Ok(input.rows.into_data()?.iter().sum::<i64>())
    })
    .wants("rows", rows())
    .into()
}

async fn runtime(state: &std::path::Path) -> Runtime {
    let layer = Layer::new("test", [Rule::allow("*", "*")]).unwrap();
    let runtime = Runtime::builder()
        .state(state)
        .rules(layer)
        .build()
        .await
        .unwrap();
    runtime
        .register([("query", query()), ("sum", sum())])
        .unwrap()
        .keep();
    runtime
}

#[tokio::test]
async fn an_artifact_of_one_process_is_redeemed_in_another_until_its_session_ends() {
    let dir = tempfile::tempdir().unwrap();
    let state = dir.path().join("state");
    let facts = Facts::new().session("s1");
    let (one, other) = (runtime(&state).await, runtime(&state).await);
    let found = one
        .snapshot()
        .settle(Call::new("query", "{}"), &facts)
        .await;
    let reference = found.output().cloned().unwrap();
    let call = || Call::new("sum", json!({"rows": reference}));

    let summed = other.snapshot().settle(call(), &facts).await;
    assert_eq!(summed.output(), Some(&json!(42)), "{}", summed.text());
    let stranger = Facts::new().session("s2");
    let refused = other.snapshot().settle(call(), &stranger).await;
    assert!(refused.text().contains("names nothing that is there"));

    assert_eq!(one.upkeep().end_session(&facts).await.unwrap().artifacts, 1);
    let refused = other.snapshot().settle(call(), &facts).await;
    assert!(refused.text().contains("names nothing that is there"));
    assert_eq!(
        one.upkeep().sweep().await.unwrap(),
        tool_runtime::Left::default()
    );
}
