//! What is written together, and what is looked for behind it.

use std::future::pending;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::AsyncWrite;
use tokio::task::yield_now;

use super::{Lookout, Outbox};
use crate::wire::lookout_tests::{looking, pass};

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
        // Its task has seen the first line, and not slept since.
        yield_now().await;
        outbox.post(&2).expect("it is open");
        outbox.close().await;
        assert_eq!(writes.so_far(), expected);
    }
}

#[tokio::test(start_paused = true)]
async fn the_runtime_does_not_sleep_while_an_answer_is_looked_for() {
    let lookout = Arc::new(looking());
    let outbox = Outbox::start_with(Writes::default(), Arc::clone(&lookout));
    lookout.sent();
    outbox.post(&1).expect("it is open");
    // Time that stands goes on once the runtime has nothing to do.
    let patience = Duration::from_secs(1);
    let over = tokio::spawn(tokio::time::timeout(patience, pending::<()>()));
    for _ in 0..100 {
        yield_now().await;
    }
    assert!(!over.is_finished());
    pass(50);
    assert!(over.await.expect("it waits").is_err());
}
