//! To whom a question belongs.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tool_core::SessionId;

use super::{Addressee, Asked, Board, Mailbox, Tally, Whose};

fn board() -> Board {
    let tally = Tally::new("srv".to_owned(), Default::default());
    Board::new(Arc::new(tally), 1024)
}

fn session(id: &str) -> Whose {
    Whose::Session(SessionId::from(id))
}

fn ask(board: &Board, of: Option<u64>) -> &'static str {
    let asked = Asked {
        id: 1.into(),
        method: "elicitation/create".to_owned(),
        params: Value::Null,
        of: None,
        key: None,
    };
    match board.ask(of, asked) {
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
