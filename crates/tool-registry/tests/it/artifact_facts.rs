//! What is told of what a handler asks of the artifact store.

use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use serde_json::{Value, json};
use tool_core::{
    Artifact, ArtifactDraft, ArtifactError, ArtifactErrorKind, ArtifactKind, ArtifactMeta,
    ArtifactOrigin, ArtifactRef, ArtifactStore, BoxFuture, CallId, Context, Facts, Kept, Payload,
    SweepReason, SweptArtifact, Tool,
};
use tool_registry::{Registry, RegistryBuilder};

use crate::ports::open;
use crate::recorder::Recorder;

fn rows() -> ArtifactKind {
    ArtifactKind::new("rows").unwrap()
}

fn reference(text: &str) -> ArtifactRef {
    text.into()
}

/// A store with room for one artifact, whose first is damaged.
#[derive(Clone, Default)]
struct Small(Arc<Mutex<Vec<ArtifactMeta>>>);

impl Small {
    fn metas(&self) -> Vec<ArtifactMeta> {
        self.0.lock().unwrap().clone()
    }
}

impl ArtifactStore for Small {
    fn get<'a>(
        &'a self,
        _facts: &'a Facts,
        asked: &'a str,
    ) -> BoxFuture<'a, Result<Option<Artifact>, ArtifactError>> {
        let damaged = ArtifactError::integrity(&reference("art_0"), "sha-256:00", "sha-256:11");
        let got = match asked {
            "art_0" => Err(damaged),
            _ => Ok(None),
        };
        Box::pin(async { got })
    }

    fn put<'a>(
        &'a self,
        _facts: &'a Facts,
        draft: ArtifactDraft,
        payload: Payload,
    ) -> BoxFuture<'a, Result<Kept, ArtifactError>> {
        Box::pin(async move {
            if !draft.parents.is_empty() {
                return Err(ArtifactError::unknown_parents(draft.parents));
            }
            let mut metas = self.0.lock().unwrap();
            let (bytes, at) = (payload.to_bytes().len() as u64, SystemTime::UNIX_EPOCH);
            let minted = reference(&format!("art_{}", metas.len()));
            let meta = ArtifactMeta::of_draft(draft, minted, payload.media_type(), bytes, at);
            let swept = metas.last().map(|older| {
                let (kind, reason) = (older.kind.clone(), SweepReason::Expired);
                SweptArtifact::new(older.reference.clone(), kind, older.bytes, reason)
            });
            metas.push(meta.clone());
            Ok(Kept::new(meta, swept.into_iter().collect()))
        })
    }
}

/// Runs a handler once, and gives what was told of artifacts.
async fn told<F>(
    builder: RegistryBuilder,
    handler: impl Fn(Context) -> F + Send + Sync + 'static,
) -> Vec<String>
where
    F: Future<Output = Value> + Send + 'static,
{
    let told = Recorder::default();
    let registry = builder.events(told.sink()).build();
    settle(&registry, handler).await;
    let printed = told.told().into_iter().map(|told| told.printed);
    printed.filter(|told| told.contains("Artifact")).collect()
}

async fn settle<F>(registry: &Registry, handler: impl Fn(Context) -> F + Send + Sync + 'static)
where
    F: Future<Output = Value> + Send + 'static,
{
    let tool = Tool::dynamic("Asks", json!({"type": "object"}), move |_, cx| {
        let asked = handler(cx);
        async move { Ok(asked.await) }
    });
    registry.register([("asks", tool)]).unwrap().keep();
    let call = tool_core::Call::new("asks", json!({})).id("c1");
    let facts = Facts::new().session("s1").run("r1");
    let settled = registry.snapshot().settle(call, &facts).await;
    assert!(!settled.is_error(), "{settled:?}");
}

/// Whether the events are these, in this order.
#[track_caller]
fn assert_told(told: &[String], expected: &[&str]) {
    assert_eq!(told.len(), expected.len(), "{told:?}");
    for (told, expected) in told.iter().zip(expected) {
        assert!(told.contains(expected), "{told} is not {expected}");
    }
}

#[tokio::test]
async fn an_origin_of_the_handlers_own_is_discarded_for_that_of_its_call() {
    let store = Small::default();
    let told = told(open().artifacts(store.clone()), |cx| async move {
        let mut forged = ArtifactOrigin::default();
        forged.tool = Some("trusted".to_owned());
        forged.call = Some(CallId::new("c9"));
        let draft = ArtifactDraft::new(rows()).origin(forged);
        cx.artifacts().put(draft, json!([1])).await.unwrap();
        json!(null)
    })
    .await;
    assert_told(&told, &["ArtifactKept(rows)"]);
    let origin = &store.metas()[0].origin;
    assert_eq!(origin.tool.as_deref(), Some("asks"));
    assert_eq!(origin.call.as_ref().map(|id| id.as_str()), Some("c1"));
    assert_eq!(origin.run.as_ref().map(|id| id.as_str()), Some("r1"));
}

#[tokio::test]
async fn what_left_for_an_artifact_is_told_before_it() {
    let told = told(open().artifacts(Small::default()), |cx| async move {
        for _ in 0..2 {
            let draft = ArtifactDraft::new(rows());
            cx.artifacts().put(draft, json!([1])).await.unwrap();
        }
        json!(null)
    })
    .await;
    let expected = [
        "ArtifactKept(rows)",
        "ArtifactSwept(rows: Expired)",
        "ArtifactKept(rows)",
    ];
    assert_told(&told, &expected);
}

#[tokio::test]
async fn a_miss_is_nothing_and_told_as_refused() {
    let told = told(open().artifacts(Small::default()), |cx| async move {
        assert!(cx.artifacts().get("art_9").await.unwrap().is_none());
        json!(null)
    })
    .await;
    assert_told(&told, &["ArtifactRefused(get: absent)"]);
}

#[tokio::test]
async fn a_parent_that_is_not_there_is_an_error_that_is_told_and_nothing_is_kept() {
    let store = Small::default();
    let told = told(open().artifacts(store.clone()), |cx| async move {
        let draft = ArtifactDraft::new(rows()).parents([reference("art_7")]);
        let error = cx.artifacts().put(draft, json!([1])).await.unwrap_err();
        assert_eq!(error.kind(), ArtifactErrorKind::UnknownParent);
        assert_eq!(error.unresolved(), [reference("art_7")]);
        json!(null)
    })
    .await;
    assert_told(&told, &["ArtifactRefused(put: unknown_parent)"]);
    assert!(store.metas().is_empty());
}

#[tokio::test]
async fn bytes_that_are_not_those_of_their_digest_are_an_error_that_is_told() {
    let told = told(open().artifacts(Small::default()), |cx| async move {
        let error = cx.artifacts().get("art_0").await.unwrap_err();
        assert_eq!(error.kind(), ArtifactErrorKind::Integrity);
        json!(null)
    })
    .await;
    assert_told(&told, &["ArtifactRefused(get: integrity)"]);
}

#[tokio::test]
async fn without_a_store_the_answer_is_the_same_where_nobody_is_told() {
    let registry = open().build();
    settle(&registry, |cx| async move {
        let artifacts = cx.artifacts();
        let put = artifacts.put(ArtifactDraft::new(rows()), json!(1)).await;
        let got = artifacts.get("art_0").await;
        for kind in [put.unwrap_err().kind(), got.unwrap_err().kind()] {
            assert_eq!(kind, ArtifactErrorKind::NoStore);
        }
        json!(null)
    })
    .await;
}

#[tokio::test]
async fn a_store_that_nobody_asks_anything_of_is_not_told_of() {
    let told = told(open().artifacts(Small::default()), |cx| async move {
        json!(cx.artifacts().is_available())
    })
    .await;
    assert_told(&told, &[]);
}
