use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::time::Duration;

use futures_core::Stream as _;
use serde_json::json;
use tokio::time::{Instant, advance};
use tokio_util::sync::CancellationToken;
use tool_core::Facts;

use super::super::event_log::{EventLog, Events};
use super::{KEPT_BYTES, MOST_OF_ONE, MOST_SESSIONS, Session, Sessions, UNTAKEN, UNTAKEN_BYTES};
use crate::serve::capabilities::Capabilities;
use crate::serve::held::Held;
use crate::wire::{Id, Message};
use std::sync::Arc;

const IDLE: Duration = Duration::from_secs(3600);

fn begin(sessions: &Sessions, id: &str, owner: Option<&str>) -> Option<()> {
    sessions.begin(
        id.into(),
        owner.map(Into::into),
        (Facts::new(), Held::default()),
        Capabilities::default(),
        "2025-11-25",
        &CancellationToken::new(),
    )
}

fn begun() -> (Arc<Sessions>, Arc<Session>) {
    let sessions = Sessions::new(IDLE);
    begin(&sessions, "s", None).expect("there is room");
    let session = sessions.get("s", None).expect("it has begun");
    (sessions, session)
}

fn stream(session: &Session) -> Arc<EventLog> {
    let log = session.stream();
    session.keep(&log);
    log
}

fn answer(bytes: usize) -> Message {
    let id: Id = serde_json::from_value(json!(1)).expect("an id");
    Message::answer(id, Ok(json!("x".repeat(bytes))))
}

#[tokio::test(start_paused = true)]
async fn what_a_session_is_told_and_does_not_take_keeps_it_not_alive() {
    let (sessions, session) = begun();
    for _ in 0..4 {
        advance(IDLE / 4).await;
        let changed = Message::notice("notifications/tools/list_changed", None);
        session.unasked.push(&changed).expect("it is open");
        sessions.sweep();
    }
    assert!(sessions.get("s", None).is_none());
}

#[tokio::test]
async fn no_principal_has_the_room_of_the_others() {
    let sessions = Sessions::new(IDLE);
    for number in 0..MOST_OF_ONE {
        begin(&sessions, &format!("a{number}"), Some("ann")).expect("there is room");
    }
    assert!(begin(&sessions, "one more", Some("ann")).is_none());
    begin(&sessions, "b", Some("bob")).expect("it is his room");
    sessions.end("a0");
    begin(&sessions, "a0", Some("ann")).expect("one has ended");

    // Whoever has no name is not told apart, and all together have their bound.
    for number in MOST_OF_ONE + 1..MOST_SESSIONS {
        begin(&sessions, &format!("n{number}"), None).expect("there is room");
    }
    assert!(begin(&sessions, "n", None).is_none());
    assert!(begin(&sessions, "n", Some("bob")).is_none());
}

#[tokio::test(start_paused = true)]
async fn what_a_client_does_keeps_its_session() {
    let (sessions, _session) = begun();
    for _ in 0..4 {
        advance(IDLE - Duration::from_secs(1)).await;
        assert!(sessions.get("s", None).is_some());
        sessions.sweep();
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_a_client_was_cut_off_from_waits_a_while_and_no_longer() {
    let (sessions, session) = begun();
    let log = stream(&session);
    log.push(&answer(10)).expect("it is open");
    log.close();
    advance(UNTAKEN - Duration::from_millis(1)).await;
    sessions.sweep();
    assert!(session.stream_of(1).is_some());
    advance(Duration::from_millis(1)).await;
    let next = sessions.sweep();
    assert!(session.stream_of(1).is_none());
    assert!(next - Instant::now() <= UNTAKEN);
}

#[tokio::test(start_paused = true)]
async fn answers_that_nobody_takes_have_so_much_room_and_the_newest_stay() {
    let (_sessions, session) = begun();
    let half = UNTAKEN_BYTES / 2;
    for bytes in [half, half, 10] {
        let log = stream(&session);
        log.push(&answer(bytes)).expect("it is open");
        log.close();
    }
    stream(&session);
    assert!(session.stream_of(1).is_none());
    assert!(session.stream_of(2).is_some() && session.stream_of(3).is_some());
}

/// Takes all that there is, as a client does.
async fn take(log: &Arc<EventLog>) {
    let mut events = Events::of(Arc::clone(log), None, false, None);
    while poll_fn(|cx| Pin::new(&mut events).poll_next(cx))
        .await
        .is_some()
    {}
}

#[tokio::test(start_paused = true)]
async fn a_long_answer_that_was_taken_goes_with_the_next_request() {
    let (sessions, session) = begun();
    for (name, bytes) in [(1, 10), (2, KEPT_BYTES)] {
        let log = stream(&session);
        log.push(&answer(bytes)).expect("it is open");
        log.close();
        take(&log).await;
        assert!(session.stream_of(name).is_some());
    }
    // It need not be one that is given a stream.
    session.stream();
    assert!(session.stream_of(1).is_some());
    assert!(session.stream_of(2).is_none());

    let log = stream(&session);
    log.push(&answer(KEPT_BYTES)).expect("it is open");
    log.close();
    take(&log).await;
    let name = log.name().expect("it is kept");
    sessions.sweep();
    assert!(session.stream_of(name).is_none(), "nor need it be any");
}

#[tokio::test]
async fn an_id_is_free_however_its_request_has_ended() {
    let (_sessions, session) = begun();
    let id: Id = serde_json::from_value(json!(1)).expect("an id");
    let running = session.start(&id).expect("it is free");
    assert!(session.start(&id).is_none());
    let broken = catch_unwind(AssertUnwindSafe(move || {
        let _running = running;
        panic!("it breaks");
    }));
    assert!(broken.is_err());
    assert!(session.start(&id).is_some());
}

#[tokio::test(start_paused = true)]
async fn a_call_that_still_runs_is_never_forgotten() {
    let (sessions, session) = begun();
    let log = stream(&session);
    log.push(&Message::notice("notifications/progress", None))
        .expect("it is open");
    advance(UNTAKEN * 2).await;
    sessions.sweep();
    assert!(session.stream_of(1).is_some());
}
