//! What a context can do when its call has settled or was dropped.

use std::sync::{Arc, Mutex};

use serde_json::json;
use tokio::sync::Notify;
use tool_core::{
    Artifact, ArtifactDraft, ArtifactError, ArtifactErrorKind, ArtifactKind, ArtifactQuery,
    ArtifactStore, BoxFuture, Call, Context, Credential, CredentialError, CredentialNeed,
    Credentials, Event, EventKind, Facts, Kept, Payload, SweepReason, SweptArtifact, Tool,
};
use tool_registry::{Registry, RegistryBuilder};

use crate::passing::Pantry;
use crate::ports::{Log, open};
use crate::tools::run;

/// A store and a provider that answer when they are told to. An artifact that is put makes another
/// leave.
#[derive(Clone, Default)]
struct Gated {
    pantry: Pantry,
    open: Arc<Notify>,
}

impl ArtifactStore for Gated {
    fn get<'a>(
        &'a self,
        facts: &'a Facts,
        reference: &'a str,
    ) -> BoxFuture<'a, Result<Option<Artifact>, ArtifactError>> {
        Box::pin(async move {
            self.open.notified().await;
            self.pantry.get(facts, reference).await
        })
    }

    fn put<'a>(
        &'a self,
        facts: &'a Facts,
        draft: ArtifactDraft,
        payload: Payload,
    ) -> BoxFuture<'a, Result<Kept, ArtifactError>> {
        Box::pin(async move {
            self.open.notified().await;
            let mut kept = self.pantry.put(facts, draft, payload).await?;
            let left = SweptArtifact::new("art_before".into(), kind(), 4, SweepReason::Count);
            kept.swept.push(left);
            Ok(kept)
        })
    }

    fn forget(&self, facts: &Facts, reference: &str) {
        self.pantry.forget(facts, reference);
    }
}

impl Credentials for Gated {
    fn acquire<'a>(
        &'a self,
        _: &'a Facts,
        _: &'a CredentialNeed,
    ) -> BoxFuture<'a, Result<Credential, CredentialError>> {
        Box::pin(async move {
            self.open.notified().await;
            Ok(Credential::new("canary"))
        })
    }
}

type Slot<T> = Arc<Mutex<Option<T>>>;

fn take<T>(slot: &Slot<T>) -> T {
    slot.lock().unwrap().take().unwrap()
}

/// What is told that is about artifacts and credentials, and the ends of calls.
fn listening(builder: RegistryBuilder, tool: Tool) -> (Registry, Log) {
    let log = Log::default();
    let seen = log.clone();
    let registry = builder
        .events(move |event: &Event<'_>| {
            seen.write(match &event.kind {
                EventKind::Credential { step, .. } => format!("credential {step:?}"),
                EventKind::ArtifactKept(_) => "kept".to_owned(),
                EventKind::ArtifactSwept(swept) => {
                    let (tool, call) = (event.tool, event.call.is_some() || event.number.is_some());
                    format!("{} swept for \"{tool}\" {call}", swept.reference)
                }
                EventKind::ArtifactRead { verb, .. } => format!("{verb} read"),
                EventKind::ArtifactRefused { verb, .. } => format!("{verb} refused"),
                EventKind::Settled(settled) => format!("settled {}", settled.outcome.as_str()),
                EventKind::Dropped => "dropped".to_owned(),
                _ => return,
            });
        })
        .build();
    registry.register([("tool", tool)]).unwrap().keep();
    (registry, log)
}

fn draft() -> ArtifactDraft {
    ArtifactDraft::new(kind())
}

fn kind() -> ArtifactKind {
    ArtifactKind::new("note").unwrap()
}

fn facts() -> Facts {
    Facts::new().session("s1")
}

#[tokio::test]
async fn a_context_of_a_settled_call_reaches_no_artifact_and_nothing_is_told() {
    let slot: Slot<Context> = Slot::default();
    let kept = Arc::clone(&slot);
    let tool = run(move |cx: Context| {
        let kept = Arc::clone(&kept);
        async move {
            cx.artifacts().put(draft(), "in time").await?;
            *kept.lock().unwrap() = Some(cx);
            Ok(json!(null))
        }
    });
    let store = Pantry::default();
    let (registry, log) = listening(open().artifacts(store.clone()), tool);
    let settled = registry
        .snapshot()
        .settle(Call::new("tool", "{}"), &facts())
        .await;
    assert!(!settled.is_error());
    let cx = take(&slot);
    let late = cx.artifacts();
    let kinds = [
        late.put(draft(), "late").await.unwrap_err().kind(),
        late.get("art_0").await.unwrap_err().kind(),
        late.head("art_0").await.unwrap_err().kind(),
        late.delete("art_0").await.unwrap_err().kind(),
        late.list(ArtifactQuery::new()).await.unwrap_err().kind(),
    ];
    assert_eq!(kinds, [ArtifactErrorKind::Settled; 5]);
    let said = late.delete("art_0").await.unwrap_err().to_string();
    assert_eq!(said, "the call has settled already");
    assert_eq!(store.count(), 1);
    assert_eq!(log.lines(), ["kept", "settled completed"]);
}

type Getting = BoxFuture<'static, Result<Option<Artifact>, ArtifactError>>;
type Putting = BoxFuture<'static, Result<Kept, ArtifactError>>;
type Acquiring = BoxFuture<'static, Result<Credential, CredentialError>>;

/// What is handed on by a call.
#[derive(Clone, Default)]
struct Handed {
    getting: Slot<Getting>,
    putting: Slot<Putting>,
    acquiring: Slot<Acquiring>,
}

/// Begins to get, to put and to acquire, leaves all to others, and then ends or does not.
fn hands_on(handed: &Handed, ends: bool) -> Tool {
    let handed = handed.clone();
    run(move |cx: Context| {
        let handed = handed.clone();
        async move {
            let own = cx.clone();
            let mut get: Getting = Box::pin(async move { own.artifacts().get("art_0").await });
            let own = cx.clone();
            let mut put: Putting = Box::pin(async move {
                let artifacts = own.artifacts();
                artifacts.put(draft(), "handed on").await
            });
            let mut acquire: Acquiring =
                Box::pin(async move { cx.acquire(&CredentialNeed::new("mail")).await });
            assert!(futures_util::poll!(get.as_mut()).is_pending());
            assert!(futures_util::poll!(put.as_mut()).is_pending());
            assert!(futures_util::poll!(acquire.as_mut()).is_pending());
            *handed.getting.lock().unwrap() = Some(get);
            *handed.putting.lock().unwrap() = Some(put);
            *handed.acquiring.lock().unwrap() = Some(acquire);
            if !ends {
                std::future::pending::<()>().await;
            }
            Ok(json!(null))
        }
    })
}

#[tokio::test]
async fn what_was_under_way_when_the_call_ended_is_taken_back_and_not_told() {
    let swept = "art_before swept for \"\" false";
    for (ends, last) in [(true, "settled completed"), (false, "dropped")] {
        let handed = Handed::default();
        let gated = Gated::default();
        let before = gated.pantry.put(&facts(), draft(), "before".into()).await;
        assert_eq!(before.unwrap().meta.reference.as_str(), "art_0");
        let builder = open().artifacts(gated.clone()).credentials(gated.clone());
        let tool = hands_on(&handed, ends);
        let (registry, log) = listening(builder, tool);
        let settling = registry
            .snapshot()
            .settle(Call::new("tool", "{}"), &facts());
        let mut settling = settling.into_future();
        assert_eq!(futures_util::poll!(settling.as_mut()).is_ready(), ends);
        drop(settling);
        let told = ["credential Requested", last];
        assert_eq!(log.lines(), told);

        let mut get = take(&handed.getting);
        let (mut put, mut acquire) = (take(&handed.putting), take(&handed.acquiring));
        assert!(futures_util::poll!(get.as_mut()).is_pending());
        assert!(futures_util::poll!(put.as_mut()).is_pending());
        assert!(futures_util::poll!(acquire.as_mut()).is_pending());
        gated.open.notify_waiters();
        let put = put.await.map(|kept| kept.meta.reference);
        assert_eq!(put.unwrap_err().kind(), ArtifactErrorKind::Settled);
        assert!(acquire.await.is_err(), "a secret for a call that is over");
        let got = get.await.unwrap_err();
        assert_eq!(got.kind(), ArtifactErrorKind::Settled);
        assert_eq!(gated.pantry.count(), 1);
        // What left for the artifact is gone, whatever became of that.
        let [first, last] = told;
        assert_eq!(log.lines(), [first, last, swept]);
    }
}
