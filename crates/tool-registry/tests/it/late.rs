//! What a context can do when its call has settled or was dropped.

use std::sync::{Arc, Mutex};

use serde_json::json;
use tokio::sync::Notify;
use tool_core::{
    Artifact, ArtifactDraft, ArtifactError, ArtifactErrorKind, ArtifactKind, ArtifactQuery,
    ArtifactStore, BoxFuture, Call, Context, Credential, CredentialError, CredentialNeed,
    Credentials, Event, EventKind, Facts, Kept, Payload, Tool,
};
use tool_registry::{Registry, RegistryBuilder};

use crate::passing::Pantry;
use crate::ports::{Log, open};
use crate::tools::run;

/// A store and a provider that answer when they are told to.
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
        self.pantry.get(facts, reference)
    }

    fn put<'a>(
        &'a self,
        facts: &'a Facts,
        draft: ArtifactDraft,
        payload: Payload,
    ) -> BoxFuture<'a, Result<Kept, ArtifactError>> {
        Box::pin(async move {
            self.open.notified().await;
            self.pantry.put(facts, draft, payload).await
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
    ArtifactDraft::new(ArtifactKind::new("note").unwrap())
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

type Putting = BoxFuture<'static, Result<Kept, ArtifactError>>;
type Acquiring = BoxFuture<'static, Result<Credential, CredentialError>>;

/// Begins to put and to acquire, leaves both to others, and then ends or does not.
fn hands_on(putting: &Slot<Putting>, acquiring: &Slot<Acquiring>, ends: bool) -> Tool {
    let (putting, acquiring) = (Arc::clone(putting), Arc::clone(acquiring));
    run(move |cx: Context| {
        let (putting, acquiring) = (Arc::clone(&putting), Arc::clone(&acquiring));
        async move {
            let own = cx.clone();
            let mut put: Putting = Box::pin(async move {
                let artifacts = own.artifacts();
                artifacts.put(draft(), "handed on").await
            });
            let mut acquire: Acquiring =
                Box::pin(async move { cx.acquire(&CredentialNeed::new("mail")).await });
            assert!(futures_util::poll!(put.as_mut()).is_pending());
            assert!(futures_util::poll!(acquire.as_mut()).is_pending());
            *putting.lock().unwrap() = Some(put);
            *acquiring.lock().unwrap() = Some(acquire);
            if !ends {
                std::future::pending::<()>().await;
            }
            Ok(json!(null))
        }
    })
}

#[tokio::test]
async fn what_was_under_way_when_the_call_ended_is_taken_back_and_not_told() {
    for (ends, last) in [(true, "settled completed"), (false, "dropped")] {
        let (putting, acquiring) = (Slot::default(), Slot::default());
        let gated = Gated::default();
        let builder = open().artifacts(gated.clone()).credentials(gated.clone());
        let tool = hands_on(&putting, &acquiring, ends);
        let (registry, log) = listening(builder, tool);
        let settling = registry
            .snapshot()
            .settle(Call::new("tool", "{}"), &facts());
        let mut settling = settling.into_future();
        assert_eq!(futures_util::poll!(settling.as_mut()).is_ready(), ends);
        drop(settling);
        let told = ["credential Requested", last];
        assert_eq!(log.lines(), told);

        let (mut put, mut acquire) = (take(&putting), take(&acquiring));
        assert!(futures_util::poll!(put.as_mut()).is_pending());
        assert!(futures_util::poll!(acquire.as_mut()).is_pending());
        gated.open.notify_waiters();
        let put = put.await.map(|kept| kept.meta.reference);
        assert_eq!(put.unwrap_err().kind(), ArtifactErrorKind::Settled);
        assert!(acquire.await.is_err(), "a secret for a call that is over");
        assert_eq!(gated.pantry.count(), 0);
        assert_eq!(log.lines(), told);
    }
}
