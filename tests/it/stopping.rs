//! A person who says no and stops, at the desk of a runtime.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use tool_runtime::core::{Call, Facts, Outcome, Refusal, Settlement};
use tool_runtime::permission::{Desk, Ending, Layer, Notice, Reply, Rule};
use tool_runtime::{Context, Runtime, Tool};

/// A runtime with `quick`, which is allowed, and `send`, about which it is asked; and how many
/// calls ran.
async fn runtime() -> (Runtime, Arc<AtomicUsize>) {
    let rules = [Rule::allow("call", "quick"), Rule::ask("call", "send")];
    let runtime = Runtime::builder()
        .rules(Layer::new("test", rules).unwrap())
        .desk(None)
        .build()
        .await
        .unwrap();
    let ran = Arc::new(AtomicUsize::new(0));
    for name in ["quick", "send"] {
        let ran = Arc::clone(&ran);
        let tool = Tool::dynamic(
            "Does something",
            json!({"type": "object"}),
            move |_, _: Context| {
                let ran = Arc::clone(&ran);
                async move { Ok(json!(ran.fetch_add(1, Ordering::SeqCst))) }
            },
        );
        runtime.register([(name, tool)]).unwrap().keep();
    }
    (runtime, ran)
}

fn calls(names: [&str; 3]) -> Vec<Call> {
    let call = |(at, name): (usize, &str)| Call::new(name, "{}").id(format!("c{at}"));
    names.into_iter().enumerate().map(call).collect()
}

/// Says stop at the first question and gives how each question ended.
fn person(desk: &Desk, questions: usize) -> tokio::task::JoinHandle<Vec<Ending>> {
    let (desk, mut notices) = (desk.clone(), desk.notices());
    tokio::spawn(async move {
        let (mut asked, mut ended) = (Vec::new(), Vec::new());
        while ended.len() < questions {
            match notices.next().await.unwrap() {
                Notice::Asked(question) => asked.push(question.id),
                Notice::Ended { ending, .. } => ended.push(ending),
                other => panic!("{other:?}"),
            }
            if asked.len() == questions && ended.is_empty() {
                let note = Some("enough".to_owned());
                let reply = Reply::RejectAndStop { note };
                desk.answer(asked[0], reply).await.unwrap();
            }
        }
        ended
    })
}

fn stopped_by(settlement: &Settlement) -> Option<&str> {
    match &settlement.outcome {
        Outcome::NotDispatched { stopped_by } => stopped_by.as_ref().map(|id| id.as_str()),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn the_rest_of_a_batch_is_not_begun_and_names_the_call_that_was_stopped() {
    let (runtime, ran) = runtime().await;
    let person = person(runtime.desk().unwrap(), 1);
    let facts = Facts::new().session("s").message("m");
    let settled = runtime
        .snapshot()
        .batch(calls(["send", "quick", "send"]), &facts)
        .concurrency(NonZeroUsize::MIN)
        .settle()
        .await;
    let says = "the user declined this call and stopped: enough";
    assert_eq!(settled[0].text(), says);
    assert_eq!(stopped_by(&settled[1]), Some("c0"));
    assert_eq!(stopped_by(&settled[2]), Some("c0"));
    assert_eq!(ran.load(Ordering::SeqCst), 0);
    let note = Some("enough".to_owned());
    assert_eq!(person.await.unwrap(), [Ending::Stopped { note }]);

    // The next message is another turn.
    let next = Facts::new().session("s").message("n");
    let call = Call::new("quick", "{}");
    let settled = runtime.snapshot().settle(call, &next).await;
    assert_eq!(settled.outcome.as_str(), "completed");
}

#[tokio::test]
async fn calls_of_a_batch_that_wait_for_an_answer_too_are_stopped_with_it() {
    let (runtime, ran) = runtime().await;
    let person = person(runtime.desk().unwrap(), 3);
    let facts = Facts::new().session("s").message("m");
    let batch = runtime.snapshot().batch(calls(["send"; 3]), &facts);
    let settled = batch.settle().await;
    let refusals = settled.iter().map(|settlement| match &settlement.outcome {
        Outcome::Refused(Refusal::Stopped { note }) => note.as_deref(),
        other => panic!("{other:?}"),
    });
    let mut refusals: Vec<_> = refusals.collect();
    refusals.sort();
    assert_eq!(refusals, [None, None, Some("enough")]);
    assert_eq!(ran.load(Ordering::SeqCst), 0);
    let stopped = |ending: &Ending| matches!(ending, Ending::Stopped { .. });
    assert!(person.await.unwrap().iter().all(stopped));
}
