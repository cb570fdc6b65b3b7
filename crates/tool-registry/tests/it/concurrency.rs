//! Which calls of a batch run beside each other.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use tool_core::{Call, Concurrency, Facts, Settlement, Tool};
use tool_registry::Registry;

use crate::ports::open;

mod stopping;

/// Handlers that start when they are let in and end when they are told to.
#[derive(Clone)]
struct Stage {
    started: mpsc::UnboundedSender<(String, oneshot::Sender<()>)>,
    running: Arc<Mutex<BTreeSet<String>>>,
}

/// The other end: sees who started, and says who may end.
struct Director {
    started: mpsc::UnboundedReceiver<(String, oneshot::Sender<()>)>,
    running: Arc<Mutex<BTreeSet<String>>>,
    waiting: Vec<(String, oneshot::Sender<()>)>,
}

fn theatre() -> (Stage, Director) {
    let (sender, receiver) = mpsc::unbounded_channel();
    let running = Arc::default();
    (
        Stage {
            started: sender,
            running: Arc::clone(&running),
        },
        Director {
            started: receiver,
            running,
            waiting: Vec::new(),
        },
    )
}

impl Stage {
    fn actor(&self, concurrency: Concurrency) -> Tool {
        let stage = self.clone();
        let schema = json!({
            "type": "object",
            "properties": {"who": {"type": "string"}, "row": {}}
        });
        Tool::dynamic(
            "Acts until it is told to end",
            schema,
            move |input: Value, _| {
                let stage = stage.clone();
                async move {
                    let who = input["who"].as_str().unwrap().to_owned();
                    let (end, ended) = oneshot::channel();
                    stage.running.lock().unwrap().insert(who.clone());
                    stage.started.send((who.clone(), end)).unwrap();
                    ended.await.unwrap();
                    stage.running.lock().unwrap().remove(&who);
                    Ok(json!(who))
                }
            },
        )
        .concurrency(concurrency)
    }
}

impl Director {
    /// Waits until so many more have started, then says who runs now.
    ///
    /// Nobody else starts by himself: everything that can run has run when the batch comes back to
    /// this task, which is told apart from it by yielding.
    async fn running_after(&mut self, starts: usize) -> Vec<String> {
        for _ in 0..starts {
            self.waiting.push(self.started.recv().await.unwrap());
        }
        for _ in 0..32 {
            tokio::task::yield_now().await;
        }
        assert!(
            self.started.try_recv().is_err(),
            "more started than expected"
        );
        self.running.lock().unwrap().iter().cloned().collect()
    }

    fn end(&mut self, who: &str) {
        let position = self.waiting.iter().position(|(name, _)| name == who);
        let (_, end) = self.waiting.remove(position.unwrap());
        end.send(()).unwrap();
    }
}

fn act(tool: &str, who: &str) -> Call {
    Call::new(tool, json!({"who": who}))
}

fn act_on(tool: &str, who: &str, row: impl Into<Value>) -> Call {
    Call::new(tool, json!({"who": who, "row": Into::<Value>::into(row)}))
}

async fn settle(registry: &Registry, calls: Vec<Call>) -> Vec<Settlement> {
    registry.snapshot().settle_all(calls, &Facts::new()).await
}

#[track_caller]
fn texts(settled: &[Settlement]) -> Vec<String> {
    settled.iter().map(Settlement::text).collect()
}

#[tokio::test]
async fn as_many_calls_run_beside_each_other_as_the_limit_says() {
    let names = ["a", "b", "c", "d"];
    for (limit, first) in [(1, 1), (2, 2), (4, 4), (9, 4)] {
        let (stage, mut director) = theatre();
        let registry = open().batch_concurrency(limit.try_into().unwrap()).build();
        let _tool = registry
            .register([("act", stage.actor(Concurrency::Parallel))])
            .unwrap();
        let calls = names.map(|who| act("act", who)).to_vec();
        let direct = async {
            assert_eq!(director.running_after(first).await, names[..first]);
            for (index, who) in names.into_iter().enumerate() {
                director.end(who);
                let next = usize::from(index + first < names.len());
                let running = director.running_after(next).await;
                assert_eq!(running.len(), first.min(names.len() - index - 1), "{limit}");
            }
        };
        let (settled, ()) = futures_util::future::join(settle(&registry, calls), direct).await;
        assert_eq!(texts(&settled), names);
    }
}

#[tokio::test]
async fn eight_calls_run_beside_each_other_by_default() {
    let (stage, mut director) = theatre();
    let registry = open().build();
    let _tool = registry
        .register([("act", stage.actor(Concurrency::Parallel))])
        .unwrap();
    let names: Vec<_> = (0..10).map(|n| format!("w{n}")).collect();
    let calls = names.iter().map(|who| act("act", who)).collect();
    let direct = async {
        assert_eq!(director.running_after(8).await, names[..8]);
        director.end("w3");
        assert!(director.running_after(1).await.contains(&"w8".to_owned()));
        director.end("w0");
        director.running_after(1).await;
        for who in names
            .iter()
            .filter(|who| !["w0", "w3"].contains(&who.as_str()))
        {
            director.end(who);
        }
    };
    let (settled, ()) = futures_util::future::join(settle(&registry, calls), direct).await;
    assert_eq!(texts(&settled), names);
}

#[tokio::test]
async fn settlements_come_in_the_order_of_the_calls_whoever_ends_first() {
    let (stage, mut director) = theatre();
    let registry = open().build();
    let _tool = registry
        .register([("act", stage.actor(Concurrency::Parallel))])
        .unwrap();
    let calls = ["a", "b", "c"].map(|who| act("act", who)).to_vec();
    let direct = async {
        director.running_after(3).await;
        for who in ["c", "a", "b"] {
            director.end(who);
            director.running_after(0).await;
        }
    };
    let (settled, ()) = futures_util::future::join(settle(&registry, calls), direct).await;
    assert_eq!(texts(&settled), ["a", "b", "c"]);
}

#[tokio::test]
async fn an_exclusive_call_runs_while_no_other_call_of_the_batch_runs() {
    let (stage, mut director) = theatre();
    let registry = open().build();
    let _tools = registry
        .register([
            ("act", stage.actor(Concurrency::Parallel)),
            ("alone", stage.actor(Concurrency::Exclusive)),
        ])
        .unwrap();
    let calls = vec![
        act("act", "a"),
        act("act", "b"),
        act("alone", "x"),
        act("act", "c"),
    ];
    let direct = async {
        // Whoever came before runs; who comes behind an exclusive call waits behind it.
        assert_eq!(director.running_after(2).await, ["a", "b"]);
        director.end("a");
        assert_eq!(director.running_after(0).await, ["b"]);
        director.end("b");
        assert_eq!(director.running_after(1).await, ["x"]);
        director.end("x");
        assert_eq!(director.running_after(1).await, ["c"]);
        director.end("c");
    };
    let (settled, ()) = futures_util::future::join(settle(&registry, calls), direct).await;
    assert_eq!(texts(&settled), ["a", "b", "x", "c"]);
}

#[tokio::test]
async fn calls_of_one_key_run_one_after_the_other_and_of_different_keys_beside_each_other() {
    let (stage, mut director) = theatre();
    let registry = open().build();
    let by_row = || Concurrency::ByKey("/row".to_owned());
    let _tools = registry
        .register([
            ("write", stage.actor(by_row())),
            ("erase", stage.actor(by_row())),
        ])
        .unwrap();
    let calls = vec![
        act_on("write", "a1", json!({"x": 1, "y": [2]})),
        act_on("write", "b1", json!(2)),
        act_on("write", "a2", json!({"y": [2], "x": 1})),
        act_on("write", "b2", json!(2)),
        // The same value for another tool is another key.
        act_on("erase", "c1", json!(2)),
        // And a text is not the number that it spells.
        act_on("write", "d1", json!("2")),
    ];
    let direct = async {
        assert_eq!(director.running_after(4).await, ["a1", "b1", "c1", "d1"]);
        director.end("b1");
        assert_eq!(director.running_after(1).await, ["a1", "b2", "c1", "d1"]);
        director.end("a1");
        assert_eq!(director.running_after(1).await, ["a2", "b2", "c1", "d1"]);
        for who in ["a2", "b2", "c1", "d1"] {
            director.end(who);
        }
    };
    let (settled, ()) = futures_util::future::join(settle(&registry, calls), direct).await;
    assert_eq!(texts(&settled), ["a1", "b1", "a2", "b2", "c1", "d1"]);
}

#[tokio::test]
async fn calls_without_a_value_at_the_key_count_as_equal() {
    let (stage, mut director) = theatre();
    let registry = open().build();
    let _tool = registry
        .register([("write", stage.actor(Concurrency::ByKey("/row".to_owned())))])
        .unwrap();
    let calls = vec![
        act("write", "a"),
        act("write", "b"),
        act_on("write", "c", json!(null)),
    ];
    let direct = async {
        assert_eq!(director.running_after(2).await, ["a", "c"]);
        director.end("a");
        assert_eq!(director.running_after(1).await, ["b", "c"]);
        director.end("b");
        director.end("c");
    };
    let (settled, ()) = futures_util::future::join(settle(&registry, calls), direct).await;
    assert_eq!(texts(&settled), ["a", "b", "c"]);
}

#[tokio::test]
async fn who_waits_for_a_key_holds_no_exclusive_call_up_and_all_end() {
    let (stage, mut director) = theatre();
    let registry = open().build();
    let _tools = registry
        .register([
            ("write", stage.actor(Concurrency::ByKey("/row".to_owned()))),
            ("alone", stage.actor(Concurrency::Exclusive)),
        ])
        .unwrap();
    let row = || json!(1);
    let calls = vec![
        act_on("write", "a", row()),
        act_on("write", "b", row()),
        act("alone", "x"),
        act_on("write", "c", row()),
        act("alone", "y"),
    ];
    let direct = async {
        let mut left = BTreeSet::from(["a", "b", "c", "x", "y"].map(str::to_owned));
        while !left.is_empty() {
            let running = director.running_after(1).await;
            // Never two at once: one key, and two that run alone.
            assert_eq!(running.len(), 1, "{running:?}");
            assert!(left.remove(&running[0]));
            director.end(&running[0]);
        }
    };
    let (settled, ()) = futures_util::future::join(settle(&registry, calls), direct).await;
    assert_eq!(texts(&settled), ["a", "b", "x", "c", "y"]);
}

#[tokio::test]
async fn a_call_that_panics_gives_its_turn_back() {
    let registry = open().build();
    let panicking = crate::tools::run(|_| async { panic!("boom") });
    let _tools = registry
        .register([
            (
                "alone",
                panicking.clone().concurrency(Concurrency::Exclusive),
            ),
            (
                "keyed",
                panicking.concurrency(Concurrency::ByKey(String::new())),
            ),
        ])
        .unwrap();
    let calls = ["alone", "keyed", "alone", "keyed"].map(|name| Call::new(name, "{}"));
    let settled = settle(&registry, calls.to_vec()).await;
    assert!(settled.iter().all(|one| one.outcome.as_str() == "defect"));
}

#[tokio::test]
async fn batches_do_not_wait_for_each_other() {
    let (stage, mut director) = theatre();
    let registry = open().build();
    let _tool = registry
        .register([("alone", stage.actor(Concurrency::Exclusive))])
        .unwrap();
    let one = settle(&registry, vec![act("alone", "a")]);
    let two = settle(&registry, vec![act("alone", "b")]);
    let direct = async {
        assert_eq!(director.running_after(2).await, ["a", "b"]);
        director.end("a");
        director.end("b");
    };
    let (one, two, ()) = futures_util::future::join3(one, two, direct).await;
    assert_eq!(
        (texts(&one), texts(&two)),
        (vec!["a".to_owned()], vec!["b".to_owned()])
    );
}

#[tokio::test]
async fn inner_calls_wait_for_nobody_whatever_their_class_and_the_limit_are() {
    let registry = open().build();
    let inner = |class| crate::tools::fixed("inner").concurrency(class);
    let outer = |class| {
        crate::tools::run(|cx: tool_core::Context| async move {
            let mut texts = Vec::new();
            for name in ["inner_alone", "inner_keyed"] {
                let dispatch = cx.dispatch().unwrap();
                texts.push(dispatch.call(name.to_owned(), json!({})).await.text());
            }
            Ok(json!(texts.concat()))
        })
        .concurrency(class)
    };
    let by_key = || Concurrency::ByKey("/k".to_owned());
    let _tools = registry
        .register([
            ("inner_alone", inner(Concurrency::Exclusive)),
            ("inner_keyed", inner(by_key())),
            ("alone", outer(Concurrency::Exclusive)),
            ("keyed", outer(by_key())),
            ("beside", outer(Concurrency::Parallel)),
        ])
        .unwrap();
    let names = ["alone", "keyed", "beside", "alone", "keyed", "inner_alone"];
    for limit in [1, 2, 8] {
        let calls = names.map(|name| Call::new(name, "{}"));
        let batch = registry.snapshot().batch(calls, &Facts::new());
        let settled = batch.concurrency(limit.try_into().unwrap()).settle().await;
        assert_eq!(
            texts(&settled),
            [
                "innerinner",
                "innerinner",
                "innerinner",
                "innerinner",
                "innerinner",
                "inner"
            ]
        );
    }
}
