//! What is written together, and what is looked for behind it.

use std::future::pending;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use tokio::io::AsyncWrite;

use super::{Lookout, Outbox};
use crate::wire::lookout_tests::{clock, pass};

/// Keeps each write by itself.
#[derive(Clone, Default)]
struct Writes(Arc<Mutex<Vec<String>>>);

impl Writes {
    fn so_far(&self) -> Vec<String> {
        let writes = self.0.lock().expect("nobody panics with it").clone();
        writes.into_iter().filter(|one| !one.is_empty()).collect()
    }
}

impl AsyncWrite for Writes {
    fn poll_write(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let text = String::from_utf8_lossy(bytes).into_owned();
        self.0.lock().expect("nobody panics with it").push(text);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[tokio::test]
async fn lines_of_one_turn_are_one_write_where_several_answers_are_waited_for() {
    for (crowded, expected) in [(true, vec!["1\n2\n"]), (false, vec!["1\n", "2\n"])] {
        let (writes, lookout) = (Writes::default(), Arc::new(Lookout::default()));
        if crowded {
            lookout.crowd();
        }
        let outbox = Outbox::start_with(writes.clone(), lookout);
        outbox.post(&1).expect("it is open");
        // Ready behind the task that writes, in the same turn.
        let posting = tokio::spawn(async move {
            outbox.post(&2).expect("it is open");
            outbox
        });
        posting.await.expect("it posts").close().await;
        assert_eq!(writes.so_far(), expected);
    }
}

/// A clock that goes on with each look at it.
fn ticking() -> Instant {
    pass(1);
    clock()
}

#[tokio::test(start_paused = true)]
async fn the_runtime_does_not_sleep_while_an_answer_is_looked_for() {
    let lookout = Arc::new(Lookout::by(ticking));
    for _ in 0..8 {
        lookout.sent();
        pass(40);
        lookout.came();
    }
    let outbox = Outbox::start_with(Writes::default(), Arc::clone(&lookout));
    let sent = clock();
    lookout.sent();
    outbox.post(&1).expect("it is open");
    // Time that stands goes on once the runtime has nothing to do: not while it looks.
    let patience = Duration::from_secs(1);
    let over = tokio::time::timeout(patience, pending::<()>()).await;
    assert!(over.is_err());
    assert!(clock() - sent > Duration::from_micros(50));
}
