//! Servers that are asked too often.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;
use tool_core::{Call, Facts, Outcome};
use tool_mcp::Limits;

use crate::import_http::{Remote, new, old, said};
use crate::support::eventually;
use crate::support::http_server::{Asked, HttpServer, Reply};

/// A server that refuses so many calls, in these words, and answers the next.
async fn refusing(calls: usize, refusal: fn() -> Reply) -> HttpServer {
    let asked_for = AtomicUsize::new(0);
    HttpServer::start(move |asked| {
        new(asked, |asked| {
            if asked_for.fetch_add(1, Ordering::Relaxed) < calls {
                refusal()
            } else {
                asked.result(said("heard"))
            }
        })
    })
    .await
}

/// Everything that a server was sent as a call.
fn calls(server: &HttpServer) -> Vec<Asked> {
    let mut asked = server.asked();
    asked.retain(|asked| asked.method() == "tools/call");
    asked
}

async fn remote(server: &HttpServer) -> Remote {
    // So long that a clock that is turned by hand reaches none of them.
    let (idle, total) = (Duration::from_secs(7_200), Duration::from_secs(14_400));
    let limits = Limits::default().retries(0).idle(idle).total(total);
    Remote::with(server.url(), limits, |config| {
        config.header("x-own", "mine").bearer_env("PATH")
    })
    .await
}

fn at_once() -> Reply {
    Reply::empty(429).with("retry-after", "0")
}

#[tokio::test]
async fn a_call_that_a_server_has_no_room_for_is_sent_again_as_it_was() {
    let server = refusing(2, at_once).await;
    let remote = remote(&server).await;
    assert_eq!(remote.call("echo", json!({"n": 1})).await.text(), "heard");
    let calls = calls(&server);
    assert_eq!(calls.len(), 3);
    let token = format!("Bearer {}", std::env::var("PATH").expect("there is one"));
    for call in &calls {
        assert_eq!(call.body, calls[0].body, "one id, one body");
        assert_eq!(call.body["params"]["arguments"], json!({"n": 1}));
        assert_eq!(call.headers, calls[0].headers);
        assert_eq!(call.header("authorization"), Some(token.as_str()));
        assert_eq!(call.header("mcp-name"), Some("echo"));
    }
}

#[tokio::test]
async fn it_is_given_up_after_three_times_and_is_known_not_to_have_run() {
    let server = refusing(usize::MAX, at_once).await;
    let remote = remote(&server).await;
    let settlement = remote.call("echo", json!({})).await;
    assert!(matches!(settlement.outcome, Outcome::Failed(_)));
    assert_eq!(
        settlement.text(),
        "server srv takes no more calls for now, and did not run this one; call again in 0 s"
    );
    assert_eq!(calls(&server).len(), 3);
}

#[tokio::test]
async fn a_wait_of_a_day_is_told_and_not_waited() {
    let server = refusing(usize::MAX, || {
        Reply::empty(429).with("retry-after", "86400")
    })
    .await;
    let remote = remote(&server).await;
    let settlement = remote.call("echo", json!({})).await;
    assert_eq!(
        settlement.text(),
        "server srv takes no more calls for now, and did not run this one; call again in 86400 s"
    );
    assert_eq!(calls(&server).len(), 1);
}

#[tokio::test]
async fn nothing_but_too_many_requests_is_sent_again() {
    for status in [408, 425, 500, 502, 503, 504] {
        let answered = HttpServer::start(move |asked| {
            new(asked, |_| Reply::empty(status).with("retry-after", "0"))
        });
        let server = answered.await;
        let settlement = remote(&server).await.call("echo", json!({})).await;
        let text = format!("server srv answered with HTTP status {status}");
        assert_eq!((settlement.text(), calls(&server).len()), (text, 1));
    }
}

#[tokio::test]
async fn a_server_that_is_too_busy_to_be_greeted_is_greeted_again() {
    let greetings = AtomicUsize::new(0);
    let server = HttpServer::start(move |asked| {
        if asked.method() == "initialize" && greetings.fetch_add(1, Ordering::Relaxed) == 0 {
            return at_once();
        }
        old(asked, |asked| asked.result(said("heard")))
    })
    .await;
    let remote = remote(&server).await;
    assert_eq!(remote.call("echo", json!({})).await.text(), "heard");
}

/// Turns the clock by hand for so long, or until something holds. Whatever is on its way has time
/// to arrive in between.
async fn turn(most: Duration, mut until: impl FnMut() -> bool) {
    let end = Instant::now() + most;
    while Instant::now() < end && !until() {
        tokio::time::advance(Duration::from_millis(100)).await;
        let mut looks = 0;
        eventually("a moment passes", || {
            looks += 1;
            looks > 2
        })
        .await;
    }
}

#[tokio::test]
async fn a_server_is_left_alone_for_as_long_as_it_wants() {
    let server = refusing(1, || Reply::empty(429).with("retry-after", "9")).await;
    let remote = remote(&server).await;
    let (release, held) = std::sync::mpsc::channel::<()>();
    // The clock does not run ahead of the server while something blocks.
    let hold = tokio::task::spawn_blocking(move || held.recv());
    tokio::time::pause();
    let began = Instant::now();
    let snapshot = remote.registry.snapshot();
    let call = Call::new("srv__echo", json!({}));
    let calling = tokio::spawn(async move { snapshot.settle(call, &Facts::new()).await });
    turn(Duration::from_secs(3_600), || calls(&server).len() == 2).await;
    assert!(began.elapsed() >= Duration::from_secs(9));
    assert_eq!(calling.await.expect("no panic").text(), "heard");
    drop(release);
    let _ = hold.await;
}

#[tokio::test]
async fn whoever_waits_no_more_has_nothing_sent_again() {
    let server = refusing(1, || Reply::empty(429).with("retry-after", "9")).await;
    let remote = remote(&server).await;
    let (release, held) = std::sync::mpsc::channel::<()>();
    let hold = tokio::task::spawn_blocking(move || held.recv());
    tokio::time::pause();
    let snapshot = remote.registry.snapshot();
    let call = Call::new("srv__echo", json!({}));
    let calling = tokio::spawn(async move { snapshot.settle(call, &Facts::new()).await });
    eventually("it is called", || calls(&server).len() == 1).await;
    turn(Duration::from_secs(5), || false).await;
    calling.abort();
    assert!(calling.await.is_err());
    turn(Duration::from_secs(30), || calls(&server).len() > 1).await;
    assert_eq!(calls(&server).len(), 1);
    drop(release);
    let _ = hold.await;
}
