//! Whose next request is looked for.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Wake, Waker};

use tokio::io::{AsyncRead as _, AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, ReadBuf};

use super::{Attentive, Desk};
use crate::wire::lookout_tests::{looking, pass};

/// Counts how often it is woken, which outside of a runtime every look does at once.
#[derive(Default)]
struct Looks(AtomicUsize);

impl Wake for Looks {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

type Ours = Attentive<DuplexStream>;

fn desk() -> Arc<Desk> {
    Arc::new(Desk {
        lookout: looking(),
        at_work: AtomicUsize::new(0),
    })
}

fn connection(desk: &Arc<Desk>) -> (Ours, DuplexStream) {
    let (ours, client) = tokio::io::duplex(64);
    (Attentive::new(ours, Arc::clone(desk)), client)
}

async fn ask(ours: &mut Ours, client: &mut DuplexStream) {
    client.write_all(b"?").await.expect("it is open");
    ours.read_u8().await.expect("it was asked");
}

async fn answer(ours: &mut Ours) {
    ours.write_all(b"!").await.expect("it is open");
}

/// Whether it looks for what comes, of which there is nothing yet.
fn looks(ours: &mut Ours) -> bool {
    let looks = Arc::new(Looks::default());
    let waker = Waker::from(Arc::clone(&looks));
    let (mut bytes, mut cx) = ([0; 8], Context::from_waker(&waker));
    let read = Pin::new(ours).poll_read(&mut cx, &mut ReadBuf::new(&mut bytes));
    assert!(read.is_pending());
    looks.0.load(Ordering::Relaxed) > 0
}

/// Runs outside of a runtime, so that a look is seen at once.
fn alone(test: impl Future<Output = ()>) {
    let mut test = std::pin::pin!(test);
    let mut cx = Context::from_waker(Waker::noop());
    assert!(
        test.as_mut().poll(&mut cx).is_ready(),
        "nothing has to wait"
    );
}

#[test]
fn the_next_request_of_the_only_client_is_looked_for_once_it_has_its_answer() {
    alone(async {
        let (mut ours, mut client) = connection(&desk());
        assert!(!looks(&mut ours), "it was never asked");
        ask(&mut ours, &mut client).await;
        assert!(!looks(&mut ours), "it is at work");
        answer(&mut ours).await;
        assert!(looks(&mut ours));
        assert!(looks(&mut ours));
        pass(50);
        assert!(!looks(&mut ours));
    });
}

#[test]
fn nothing_is_looked_for_while_another_client_waits() {
    alone(async {
        let desk = desk();
        let (mut ours, mut client) = connection(&desk);
        let (mut other, mut waiting) = connection(&desk);
        ask(&mut ours, &mut client).await;
        ask(&mut other, &mut waiting).await;
        answer(&mut ours).await;
        assert!(!looks(&mut ours));
        answer(&mut other).await;
        assert!(looks(&mut other), "it is the only one");
    });
}

#[test]
fn a_client_that_left_before_its_answer_is_waited_for_by_nobody() {
    alone(async {
        let desk = desk();
        let (mut ours, mut client) = connection(&desk);
        let (mut other, mut gone) = connection(&desk);
        ask(&mut other, &mut gone).await;
        drop(other);
        ask(&mut ours, &mut client).await;
        answer(&mut ours).await;
        assert!(looks(&mut ours));
    });
}
