use std::time::Duration;

use serde_json::json;
use tokio::time::{Instant, advance};
use tokio_util::sync::CancellationToken;
use tool_core::Facts;

use super::super::event_log::EventLog;
use super::{MOST_OF_ONE, MOST_SESSIONS, Session, Sessions, UNTAKEN, UNTAKEN_BYTES};
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
