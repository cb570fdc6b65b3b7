//! A call through the whole runtime, dropped at every moment, leaves no file and no question.

use std::future::poll_fn;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;

use serde_json::{Value, json};
use tempfile::TempDir;
use tool_runtime::core::{Bound, BoxFuture, Call, Context, Facts, Permission, Settlement, Tool};
use tool_runtime::permission::{Desk, Layer, Notice, Reply, Rule, RulePolicy};
use tool_runtime::registry::{Registration, Registry};
use tool_runtime::storage::DirStore;

/// A registry with the real parts: rules, a desk, and a store in a directory.
struct World {
    dir: TempDir,
    desk: Desk,
    registry: Registry,
    alive: Arc<AtomicUsize>,
    _tool: Registration,
}

/// Counted as long as its handler lives.
struct Life(Arc<AtomicUsize>);

impl Drop for Life {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl World {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let rules = Layer::new("test", [Rule::ask("call", "*")]).unwrap();
        let policy = Arc::new(RulePolicy::new([rules]));
        let desk = Desk::new(Arc::clone(&policy));
        let store = DirStore::builder(dir.path()).open().unwrap();
        let registry = Registry::builder()
            .permission(Permission::new(policy, desk.clone()))
            .outputs(Arc::new(store))
            .bound(Bound::new(1_000, 10).unwrap())
            .build();
        let alive = Arc::new(AtomicUsize::new(0));
        let tool = registry.register([("long", long(&alive))]).unwrap();
        Self {
            dir,
            desk,
            registry,
            alive,
            _tool: tool,
        }
    }

    fn call(&self) -> BoxFuture<'static, Settlement> {
        let call = Call::new("long", "{}").id("c1");
        let facts = Facts::new().session("s1");
        let settling = self.registry.snapshot().settle(call, &facts);
        settling.into_future()
    }
}

/// Gives more than is shown.
fn long(alive: &Arc<AtomicUsize>) -> Tool {
    let alive = Arc::clone(alive);
    let schema = json!({"type": "object"});
    Tool::dynamic("Gives much", schema, move |_: Value, _: Context| {
        alive.fetch_add(1, Ordering::SeqCst);
        let life = Life(Arc::clone(&alive));
        async move {
            tokio::task::yield_now().await;
            drop(life);
            Ok(json!("canary line\n".repeat(1_000)))
        }
    })
}

/// Polls whenever it is woken, and gives up after `polls`.
async fn give_up_after<T>(
    mut call: Pin<Box<dyn Future<Output = T> + Send>>,
    polls: usize,
) -> Option<T> {
    let mut left = polls;
    poll_fn(|cx| {
        if left == 0 {
            return Poll::Ready(None);
        }
        left -= 1;
        call.as_mut().poll(cx).map(Some)
    })
    .await
}

/// The files below `dir` that hold something of an output.
fn kept(dir: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(kept(&path));
        } else if std::fs::read(&path).is_ok_and(|bytes| bytes.windows(6).any(|it| it == b"canary"))
        {
            found.push(path.display().to_string());
        }
    }
    found
}

/// Says yes to every question.
async fn approve_all(desk: Desk) {
    let mut notices = desk.notices();
    while let Some(notice) = notices.next().await {
        if let Notice::Asked(question) = notice {
            desk.answer(question.id, Reply::Once).await.ok();
        }
    }
}

#[test]
fn a_call_that_is_dropped_anywhere_leaves_no_file_and_no_question() {
    for polls in 0..1_000 {
        let world = World::new();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        let settled = runtime.block_on(async {
            let answering = tokio::spawn(approve_all(world.desk.clone()));
            tokio::task::yield_now().await;
            let settled = give_up_after(world.call(), polls).await;
            assert!(world.desk.all().is_empty(), "after {polls} polls");
            answering.abort();
            settled
        });
        assert_eq!(world.alive.load(Ordering::SeqCst), 0, "after {polls} polls");
        // Work on files that had begun has ended when this returns.
        drop(runtime);
        let kept = kept(world.dir.path());
        let Some(settled) = settled else {
            assert!(kept.is_empty(), "left after {polls} polls: {kept:?}");
            continue;
        };
        // What was seen is kept.
        assert_eq!(settled.outcome.as_str(), "completed", "{}", settled.text());
        assert_eq!((settled.retained.len(), kept.len()), (1, 1));
        assert!(polls >= 3, "it was dropped in {polls} places only");
        return;
    }
    panic!("the call never ends");
}

#[tokio::test]
async fn a_call_that_is_dropped_while_somebody_is_asked_withdraws_the_question() {
    let world = World::new();
    let mut call = world.call();
    let pending = poll_fn(|cx| Poll::Ready(call.as_mut().poll(cx).is_pending())).await;
    assert!(pending && world.desk.all().len() == 1);
    drop(call);
    assert!(world.desk.all().is_empty());
}
