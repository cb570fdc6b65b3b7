//! What a line of a server says beside what is in it.

use std::sync::Arc;

use tokio::io::{AsyncWriteExt as _, duplex, split};
use tokio::task::yield_now;

use super::super::board::Tally;
use super::{Answering, Board, Lines, Party};
use crate::wire::lookout_tests::looking;

#[tokio::test]
async fn a_line_that_came_is_looked_for_no_more() {
    let tally = Tally::new("srv".to_owned(), Default::default());
    let mut board = Board::new(Arc::new(tally), 1024);
    board.lookout = Arc::new(looking());
    let lookout = Arc::clone(&board.lookout);
    let party = Party {
        name: "ours".to_owned(),
        version: "1".to_owned(),
        inputs: None,
    };
    let (ours, mut server) = duplex(64);
    let (reader, writer) = split(ours);
    let _lines = Lines::start(
        reader,
        writer,
        Arc::new(board),
        Answering::new(party, "srv"),
    );
    lookout.sent();
    assert!(lookout.looks());
    server.write_all(b"{}\n").await.expect("it is open");
    for _ in 0..100 {
        yield_now().await;
    }
    // The clock of the test stands: it is not for its time that nobody looks.
    assert!(!lookout.looks());
}
