//! To whom a question belongs.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tool_core::SessionId;

use super::{Addressee, Asked, Board, Letter, Logged, Mailbox, Tally, Whose};
use crate::serve::LogLevel;

fn board() -> Board {
    let tally = Tally::new("srv".to_owned(), Default::default());
    Board::new(Arc::new(tally), 1024)
}

fn session(id: &str) -> Whose {
    Whose::Session(SessionId::from(id))
}

fn asked() -> Asked {
    Asked {
        id: 1.into(),
        method: "elicitation/create".to_owned(),
        params: Value::Null,
        of: None,
        key: None,
    }
}

fn ask(board: &Board, of: Option<u64>) -> &'static str {
    word(&board.ask(of, asked()))
}

fn hand_over(board: &Board, whose: &Whose) -> &'static str {
    word(&board.hand_over(whose, asked()))
}

fn word(addressee: &Addressee) -> &'static str {
    match addressee {
        Addressee::Caller => "caller",
        Addressee::Nobody(_) => "nobody",
        Addressee::Unknown(_) => "unknown",
        Addressee::Busy(_) => "busy",
    }
}

fn enter(board: &Board, id: u64, whose: Option<Whose>) {
    let entered = board.enter(id, Mailbox::default(), whose);
    assert!(entered.is_ok());
}

#[test]
fn a_question_of_a_request_that_is_named_is_for_that_request_alone() {
    let board = board();
    enter(&board, 1, Some(session("a")));
    enter(&board, 2, None);
    enter(&board, 3, Some(session("b")));
    assert_eq!(ask(&board, Some(1)), "caller");
    assert_eq!(ask(&board, Some(2)), "nobody");
    // It is over, and the only one that is left is somebody else's.
    board.end(1, Ok(Default::default()));
    assert_eq!(ask(&board, Some(1)), "unknown");
    assert_eq!(ask(&board, Some(3)), "caller");
    assert_eq!(ask(&board, None), "caller");
}

#[tokio::test(start_paused = true)]
async fn a_question_that_may_be_of_a_request_that_was_given_up_is_for_nobody_else() {
    let board = board();
    enter(&board, 1, Some(session("a")));
    assert!(board.give_up(1));
    assert!(!board.give_up(1));
    enter(&board, 2, Some(session("b")));
    assert_eq!(ask(&board, None), "unknown");
    assert_eq!(ask(&board, Some(2)), "caller");
    // The same caller's.
    enter(&board, 3, Some(session("a")));
    board.end(2, Ok(Default::default()));
    assert_eq!(ask(&board, None), "caller");
    board.end(3, Ok(Default::default()));
    enter(&board, 4, Some(session("b")));
    tokio::time::advance(Duration::from_secs(10)).await;
    assert_eq!(ask(&board, None), "caller");
}

#[tokio::test]
async fn a_question_is_handed_over_to_its_own_caller_alone() {
    let board = board();
    // The request of `a` that it was taken to has ended.
    enter(&board, 2, Some(session("b")));
    enter(&board, 3, None);
    assert_eq!(ask(&board, None), "caller");
    assert_eq!(hand_over(&board, &session("a")), "nobody");
    assert_eq!(hand_over(&board, &Whose::Host), "nobody");
    assert_eq!(hand_over(&board, &session("b")), "caller");
    // Callers that cannot be told from each other may be two.
    enter(&board, 4, Some(Whose::Somebody));
    assert_eq!(hand_over(&board, &Whose::Somebody), "nobody");
    // The latest of its own, whoever else waits.
    let (earlier, latest) = (Mailbox::default(), Mailbox::default());
    for (id, mailbox) in [(5, &earlier), (6, &latest)] {
        let entered = board.enter(id, mailbox.clone(), Some(session("a")));
        assert!(entered.is_ok());
    }
    enter(&board, 7, Some(session("b")));
    assert_eq!(hand_over(&board, &session("a")), "caller");
    assert!(matches!(latest.next().await, Letter::Asked(_)));
    board.end(5, Ok(Default::default()));
    assert!(matches!(earlier.next().await, Letter::End(_)));
}

#[test]
fn lines_are_gathered_while_several_calls_wait_and_not_for_what_stays_open() {
    let board = board();
    let enter = |id, whose| {
        board
            .enter(id, Mailbox::default(), whose)
            .expect("it is open")
    };
    enter(1, None);
    enter(2, Some(session("a")));
    assert!(!board.lookout.is_crowded());
    enter(3, Some(session("b")));
    assert!(board.lookout.is_crowded());
    board.take(2);
    board.take(3);
    enter(4, Some(session("a")));
    assert!(!board.lookout.is_crowded());
}

#[tokio::test]
async fn a_log_is_for_the_client_whose_request_it_must_be_about_and_for_nobody_else() {
    let board = board();
    let log = |of| {
        board.log(of, || Logged {
            level: LogLevel::Info,
            logger: None,
            data: Value::Null,
        })
    };
    assert!(!log(None));
    // What the host asks for itself is no client's.
    enter(&board, 1, Some(Whose::Host));
    assert!(!log(None) && !log(Some(1)));
    board.end(1, Ok(Default::default()));
    let own = Mailbox::default();
    assert!(board.enter(2, own.clone(), Some(session("a"))).is_ok());
    assert!(log(None));
    assert!(matches!(own.next().await, Letter::Logged(_)));
    // Of two that cannot be told apart, it is for neither, unless it came in an answer.
    let other = Mailbox::default();
    assert!(board.enter(3, other.clone(), Some(Whose::Somebody)).is_ok());
    assert!(!log(None));
    assert!(log(Some(3)));
    assert!(matches!(other.next().await, Letter::Logged(_)));
    // One that was given up may have been meant.
    assert!(board.give_up(3));
    assert!(!log(None));
    assert!(log(Some(2)));
    // A flood does not pile up.
    (0..1_000).for_each(|_| assert!(log(Some(2))));
    board.end(2, Ok(Default::default()));
    let mut waited = 0;
    while let Letter::Logged(_) = own.next().await {
        waited += 1;
    }
    assert!(waited <= 129, "{waited}");
}
