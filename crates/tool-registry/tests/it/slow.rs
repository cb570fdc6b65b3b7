//! Ports and tools that take several polls for everything, and count what is alive.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex};
use std::task::{Context as TaskContext, Poll, Waker};
use std::time::SystemTime;

use tokio::runtime::Runtime;
use tool_core::{
    AfterHook, Answer, Approver, ApproverError, Artifact, ArtifactDraft, ArtifactError,
    ArtifactKind, ArtifactMeta, ArtifactStore, Ask, BeforeHook, Bounded, BoxFuture, Content,
    Credential, CredentialError, CredentialNeed, Credentials, Decision, Digest, Facts, HookError,
    Incoming, Kept, OutputPage, OutputStore, PageRequest, Payload, Policy, PolicyError, Request,
    Retained, Retention, Ruling, SettledCall, Settlement, State, StateError, StoreError,
    StoreErrorKind, Word,
};
use tool_registry::MemoryState;

/// Has the timers that calls with limits need. Nothing runs on it.
static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_time().build().unwrap()
});

/// Does one thing where there are timers.
pub(crate) fn with_timers<T>(run: impl FnOnce(&mut TaskContext<'_>) -> T) -> T {
    let _entered = RUNTIME.enter();
    run(&mut TaskContext::from_waker(Waker::noop()))
}

/// Polls a future once, and gives what it came to.
pub(crate) fn poll<F: Future + ?Sized>(future: Pin<&mut F>) -> Poll<F::Output> {
    with_timers(|cx| future.poll(cx))
}

/// Polls a future to its end.
pub(crate) fn finish<F: Future>(future: F) -> F::Output {
    let mut future = Box::pin(future);
    for _ in 0..10_000 {
        if let Poll::Ready(output) = poll(future.as_mut()) {
            return output;
        }
    }
    panic!("the future makes no progress");
}

/// Counts what is alive: futures of ports, questions, handlers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Alive(Arc<AtomicUsize>);

/// One that is alive.
pub(crate) struct Life(Alive);

impl Alive {
    pub(crate) fn begin(&self) -> Life {
        self.0.fetch_add(1, Ordering::SeqCst);
        Life(self.clone())
    }

    pub(crate) fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }

    /// Takes two polls, alive meanwhile.
    pub(crate) async fn take_time(&self) {
        let life = self.begin();
        for _ in 0..2 {
            let mut polled = false;
            poll_fn(|cx| {
                if std::mem::replace(&mut polled, true) {
                    return Poll::Ready(());
                }
                cx.waker().wake_by_ref();
                Poll::Pending
            })
            .await;
        }
        drop(life);
    }
}

impl Drop for Life {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Every port, each of which takes its time and then agrees.
#[derive(Clone, Default)]
pub(crate) struct Slow {
    pub(crate) alive: Alive,
    /// What was retained or placed, and not forgotten.
    pub(crate) outputs: Arc<Mutex<Vec<String>>>,
    pub(crate) asks: bool,
    pub(crate) state: Arc<MemoryState>,
    pub(crate) stored: Arc<AtomicUsize>,
}

impl Slow {
    fn then<T: Send + 'static>(&self, answer: T) -> BoxFuture<'static, T> {
        let alive = self.alive.clone();
        Box::pin(async move {
            alive.take_time().await;
            answer
        })
    }
}

impl Policy for Slow {
    fn decide<'a>(&'a self, _: &'a Request<'a>) -> BoxFuture<'a, Result<Ruling, PolicyError>> {
        let decision = if self.asks {
            Decision::Ask
        } else {
            Decision::Allow
        };
        self.then(Ok(Ruling::new(decision, "the rule of this test")))
    }
}

impl Approver for Slow {
    fn ask<'a>(&'a self, _: Ask<'a>) -> BoxFuture<'a, Result<Word, ApproverError>> {
        self.then(Ok(Answer::Approved.into()))
    }
}

impl ArtifactStore for Slow {
    fn get<'a>(
        &'a self,
        _: &'a Facts,
        _: &'a str,
    ) -> BoxFuture<'a, Result<Option<Artifact>, ArtifactError>> {
        let kind = ArtifactKind::new("report").unwrap();
        self.then(Ok(Some(Artifact::new(kind, "data"))))
    }

    fn put<'a>(
        &'a self,
        _: &'a Facts,
        draft: ArtifactDraft,
        payload: Payload,
    ) -> BoxFuture<'a, Result<Kept, ArtifactError>> {
        Box::pin(async move {
            self.alive.take_time().await;
            let reference = format!("art_{}", self.stored.fetch_add(1, Ordering::SeqCst));
            let (media_type, bytes) = (payload.media_type(), payload.to_bytes().len() as u64);
            let (reference_of, at) = ((&*reference).into(), SystemTime::UNIX_EPOCH);
            let meta = ArtifactMeta::of_draft(draft, reference_of, media_type, bytes, at);
            self.outputs.lock().unwrap().push(reference);
            Ok(Kept::new(meta, Vec::new()))
        })
    }

    fn forget(&self, _: &Facts, reference: &str) {
        self.outputs.lock().unwrap().retain(|id| id != reference);
    }
}

impl Credentials for Slow {
    fn acquire<'a>(
        &'a self,
        _: &'a Facts,
        _: &'a CredentialNeed,
    ) -> BoxFuture<'a, Result<Credential, CredentialError>> {
        self.then(Ok(Credential::new("secret")))
    }
}

impl BeforeHook for Slow {
    fn before<'a>(
        &'a self,
        _: &'a mut Incoming,
        _: &'a Facts,
    ) -> BoxFuture<'a, Result<(), HookError>> {
        self.then(Ok(()))
    }
}

impl AfterHook for Slow {
    fn after<'a>(
        &'a self,
        _: &'a mut Settlement,
        _: &'a SettledCall<'a>,
    ) -> BoxFuture<'a, Result<(), HookError>> {
        self.then(Ok(()))
    }
}

impl State for Slow {
    fn claim<'a>(
        &'a self,
        key: &'a str,
        until: SystemTime,
    ) -> BoxFuture<'a, Result<bool, StateError>> {
        Box::pin(async move {
            self.alive.take_time().await;
            let claimed = self.state.claim(key, until).await;
            self.alive.take_time().await;
            claimed
        })
    }
}

impl OutputStore for Slow {
    fn bound<'a>(&'a self, retention: Retention<'a>) -> BoxFuture<'a, Result<Bounded, StoreError>> {
        Box::pin(async move {
            self.alive.take_time().await;
            let texts = retention.content.iter().filter_map(Content::as_text);
            let whole: Vec<_> = texts.collect();
            let whole = whole.join("\n");
            let id = format!("out_{}", self.stored.fetch_add(1, Ordering::SeqCst));
            let digest = Digest::of(whole.as_bytes());
            let retained = Retained::new(&id, whole.len() as u64, 1, digest);
            self.outputs.lock().unwrap().push(id);
            Ok(Bounded::new(vec![Content::text("preview")], retained))
        })
    }

    fn forget(&self, retained: &Retained) {
        self.outputs.lock().unwrap().retain(|id| *id != retained.id);
    }

    fn page<'a>(&'a self, _: PageRequest<'a>) -> BoxFuture<'a, Result<OutputPage, StoreError>> {
        Box::pin(async { Err(StoreError::new(StoreErrorKind::NotFound, "no such output")) })
    }
}
