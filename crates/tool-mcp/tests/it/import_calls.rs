//! Calls of imported tools.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use tool_core::{Call, Content, EmbeddedBody, Facts, MediaKind, Outcome, Source};

use crate::support::eventually;
use crate::support::imported::Imported;

#[tokio::test]
async fn a_tool_is_called_and_gives_what_the_server_answered() {
    let srv = Imported::new("ordinary").await;
    let arguments = json!({"text": "grüße", "big": 9_007_199_254_740_993_u64, "n": 1});
    let settlement = srv.call("echo", arguments.clone()).await;
    assert!(matches!(settlement.outcome, Outcome::Completed));
    assert_eq!(settlement.output(), Some(&arguments));
    assert_eq!(settlement.text(), arguments.to_string());
}

#[tokio::test]
async fn the_server_is_called_by_its_own_name_for_the_tool() {
    let srv = Imported::new("ordinary").await;
    let snapshot = srv.registry.snapshot();
    let entry = snapshot
        .entries()
        .find(|entry| entry.identity().name().as_str() == "odd name/with.dots-é")
        .expect("it is registered");
    assert_ne!(entry.wire_name().as_str(), "odd name/with.dots-é");
    let call = Call::new(entry.wire_name().as_str(), json!({"n": 1}));
    let settlement = snapshot.settle(call, &Facts::new()).await;
    assert_eq!(settlement.output(), Some(&json!({"n": 1})));
}

#[tokio::test]
async fn what_the_server_says_of_a_tool_is_advertised() {
    let srv = Imported::new("ordinary").await;
    let snapshot = srv.registry.snapshot();
    let entry = snapshot.get("srv__echo").expect("it is registered");
    assert!(matches!(entry.source(), Source::Server(name) if name.as_str() == "srv"));
    let definition = entry.definition();
    assert_eq!(definition.description, "Does echo");
    assert_eq!(definition.annotations.title.as_deref(), Some("The echo"));
    assert!(definition.annotations.read_only);
    assert!(!definition.annotations.destructive);
    assert!(definition.annotations.open_world);
    assert_eq!(
        *definition.input.as_value(),
        json!({"type": "object", "properties": {"n": {"type": "integer"}}})
    );
}

#[tokio::test]
async fn arguments_are_checked_before_the_server_sees_them() {
    let srv = Imported::new("ordinary").await;
    let settlement = srv.call("echo", json!({"n": "one"})).await;
    assert!(matches!(settlement.outcome, Outcome::Refused(_)));
    assert!(!srv.was_called("echo"));
}

#[tokio::test]
async fn progress_comes_in_order_and_none_after_the_end() {
    let srv = Imported::new("ordinary").await;
    let (settlement, reports) = srv.call_reporting("report", json!({"n": 50})).await;
    assert_eq!(settlement.text(), "reported");
    let done: Vec<_> = reports.iter().filter_map(|report| report.done).collect();
    let expected: Vec<_> = (0..50).map(f64::from).collect();
    assert_eq!(done, expected);
    assert!(reports.iter().all(|report| report.total == Some(50.0)));
    assert_eq!(reports[3].message.as_deref(), Some("step 3"));
}

#[tokio::test]
async fn a_failure_keeps_its_content_and_its_structure() {
    let srv = Imported::new("ordinary").await;
    let settlement = srv.call("fail", json!({})).await;
    assert!(matches!(settlement.outcome, Outcome::Failed(_)));
    assert_eq!(settlement.text(), "no such row");
    assert_eq!(settlement.structured(), Some(&json!({"code": 17})));
}

#[tokio::test]
async fn structure_without_content_is_shown() {
    let srv = Imported::new("ordinary").await;
    let settlement = srv.call("structured", json!({})).await;
    assert_eq!(settlement.structured(), Some(&json!({"a": 1})));
    assert_eq!(settlement.text(), r#"{"a":1}"#);
}

#[tokio::test]
async fn structure_and_content_that_differ_stay_as_they_are() {
    let srv = Imported::new("ordinary").await;
    let settlement = srv.call("different", json!({})).await;
    assert_eq!(settlement.structured(), Some(&json!({"v": "B"})));
    assert_eq!(settlement.text(), "A");
}

#[tokio::test]
async fn every_sort_of_content_is_kept() {
    let srv = Imported::new("ordinary").await;
    let content = srv.call("rich", json!({})).await.content;
    let [text, image, audio, inline, blob, link, unknown, broken] = content.as_slice() else {
        panic!("{} blocks", content.len());
    };
    let Content::Text(text) = text else {
        panic!("no text")
    };
    assert_eq!(text.text, "t");
    let annotations = text.annotations.as_deref().cloned().map(Value::from);
    assert_eq!(
        annotations,
        Some(json!({"audience": ["user"], "priority": 0.8, "own": true}))
    );
    assert_eq!(
        text.meta.as_deref().cloned().map(Value::from),
        Some(json!({"k": "v"}))
    );

    let Content::Media(image) = image else {
        panic!("no image")
    };
    assert_eq!(
        (image.kind, image.mime.as_str()),
        (MediaKind::Image, "image/png")
    );
    assert_eq!(&image.data[..], [0, 1, 2]);
    assert_eq!(
        image.annotations.as_deref().cloned().map(Value::from),
        Some(json!({"priority": 1}))
    );
    let Content::Media(audio) = audio else {
        panic!("no audio")
    };
    assert_eq!(
        (audio.kind, &audio.data[..]),
        (MediaKind::Audio, &[0, 1][..])
    );

    let Content::Embedded(inline) = inline else {
        panic!("no resource")
    };
    assert_eq!(inline.body, EmbeddedBody::Text("r".to_owned()));
    assert_eq!(
        inline.meta.as_deref().cloned().map(Value::from),
        Some(json!({"outer": 1}))
    );
    assert_eq!(
        inline.resource_meta.as_deref().cloned().map(Value::from),
        Some(json!({"inner": 1}))
    );
    let Content::Embedded(blob) = blob else {
        panic!("no blob")
    };
    assert_eq!(blob.body, EmbeddedBody::Blob(vec![0, 1, 2].into()));
    let Content::Link(link) = link else {
        panic!("no link")
    };
    assert_eq!((link.uri.as_str(), link.name.as_str()), ("a://d", "d"));
    assert_eq!(link.rest["own"], json!([1]));
    assert_eq!(link.rest["size"], json!(5));

    assert_eq!(unknown.as_text(), Some(r#"{"data":"z","type":"hologram"}"#));
    assert!(
        broken
            .as_text()
            .is_some_and(|text| text.contains("no base64!"))
    );
}

#[tokio::test]
async fn a_dropped_call_is_cancelled_on_the_wire() {
    let srv = Imported::new("ordinary").await;
    let call = Call::new("srv__wait", json!({}));
    let calling = tokio::spawn(
        srv.registry
            .snapshot()
            .settle(call, &Facts::new())
            .into_future(),
    );
    eventually("the server is called", || srv.was_called("wait")).await;
    assert!(srv.cancellations().is_empty());
    calling.abort();
    assert!(calling.await.is_err());
    eventually("the server is told", || !srv.cancellations().is_empty()).await;

    let sent = srv.transcript();
    let request = sent
        .iter()
        .find(|message| message["params"]["name"] == "wait");
    let id = request.map(|request| request["id"].clone());
    let told = srv.cancellations();
    assert_eq!(told.len(), 1);
    assert_eq!(Some(told[0]["requestId"].clone()), id);
    assert_eq!(told[0]["reason"], "the caller no longer waits");
}

#[tokio::test]
async fn an_answer_after_its_cancellation_harms_nobody() {
    let srv = Imported::new("ordinary").await;
    let call = Call::new("srv__late", json!({}));
    let calling = tokio::spawn(
        srv.registry
            .snapshot()
            .settle(call, &Facts::new())
            .into_future(),
    );
    eventually("the server is called", || srv.was_called("late")).await;
    calling.abort();
    eventually("the server is told", || !srv.cancellations().is_empty()).await;
    let settlement = srv.call("echo", json!({"n": 1})).await;
    assert_eq!(settlement.output(), Some(&json!({"n": 1})));
}

#[tokio::test]
async fn many_calls_at_once_never_cross() {
    let srv = Arc::new(Imported::new("ordinary").await);
    let right = Arc::new(AtomicUsize::new(0));
    let calls: Vec<_> = (0..64)
        .map(|n| {
            let (srv, right) = (Arc::clone(&srv), Arc::clone(&right));
            tokio::spawn(async move {
                let settlement = srv.call("echo", json!({"n": n})).await;
                if settlement.output() == Some(&json!({"n": n})) {
                    right.fetch_add(1, Ordering::Relaxed);
                }
            })
        })
        .collect();
    for call in calls {
        call.await.expect("no panic");
    }
    assert_eq!(right.load(Ordering::Relaxed), 64);
}

#[tokio::test]
async fn an_error_of_the_protocol_is_a_failure_that_the_model_reads() {
    let srv = Imported::new("ordinary").await;
    let settlement = srv.call("protocol", json!({})).await;
    assert!(matches!(settlement.outcome, Outcome::Failed(_)));
    assert_eq!(
        settlement.text(),
        "server srv answered with error -32602: Unknown tool: protocol"
    );
}

#[tokio::test]
async fn a_server_that_asks_back_fails_by_name() {
    let srv = Imported::new("ordinary").await;
    let settlement = srv.call("input", json!({})).await;
    assert!(matches!(settlement.outcome, Outcome::Failed(_)));
    assert!(settlement.text().contains("asked for something"));
}
