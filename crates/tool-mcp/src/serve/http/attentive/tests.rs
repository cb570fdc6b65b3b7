//! Whose next request is looked for.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use tokio::io::{
    AsyncRead as _, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, DuplexStream, ReadBuf,
};

use super::{Attentive, Desk, PATIENCE, TOGETHER};
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
        ..Desk::default()
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

/// Notes how much comes with each write, and takes it.
#[derive(Default)]
struct Taker {
    whole: Vec<usize>,
    in_pieces: Vec<usize>,
}

impl AsyncWrite for Taker {
    fn poll_write(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.whole.push(bytes.len());
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let length = pieces.iter().map(|piece| piece.len()).sum();
        self.in_pieces.push(length);
        Poll::Ready(Ok(length))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[test]
fn pieces_of_a_short_answer_are_one_write_and_long_ones_are_not_copied() {
    alone(async {
        let mut ours = Attentive::new(Taker::default(), desk());
        let long = vec![0; TOGETHER];
        for pieces in [[&b"head"[..], b"body"], [b"head", &long]] {
            let written = ours.write_vectored(&pieces.map(IoSlice::new)).await;
            assert_eq!(written.expect("it takes all"), pieces.concat().len());
        }
        assert_eq!(ours.stream.whole, [8]);
        assert_eq!(ours.stream.in_pieces, [TOGETHER + 4]);
    });
}

/// A connection that may be closed, and whether it is by now.
fn closable() -> (Ours, DuplexStream) {
    let (mut ours, client) = connection(&Arc::default());
    ours.quiet.patience = Some(PATIENCE);
    (ours, client)
}

async fn is_closed(ours: &mut Ours) -> bool {
    let mut byte = [0];
    let read = tokio::time::timeout(PATIENCE * 3, ours.read(&mut byte)).await;
    matches!(read, Ok(Ok(0)))
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_says_nothing_is_closed() {
    let (mut ours, _client) = closable();
    assert!(is_closed(&mut ours).await);

    // One that was used is left alone for as long again.
    let (mut ours, mut client) = closable();
    for _ in 0..3 {
        ask(&mut ours, &mut client).await;
        answer(&mut ours).await;
        let mut byte = [0];
        let quiet = tokio::time::timeout(PATIENCE / 2, ours.read(&mut byte));
        assert!(quiet.await.is_err(), "it is open");
    }
    assert!(is_closed(&mut ours).await);
}

#[tokio::test(start_paused = true)]
async fn a_connection_is_open_for_as_long_as_its_request_is_worked_on() {
    let (mut ours, mut client) = closable();
    client.write_all(b"GET / HTTP/1.1\r\n\r\n").await.unwrap();
    let mut head = [0; 18];
    ours.read_exact(&mut head).await.unwrap();
    assert!(!is_closed(&mut ours).await);
    // Being told something now and then is no quiet either.
    for _ in 0..10 {
        answer(&mut ours).await;
        let mut byte = [0];
        let told = tokio::time::timeout(PATIENCE / 2, ours.read(&mut byte));
        assert!(told.await.is_err(), "it is open");
    }
    assert!(is_closed(&mut ours).await);
}

#[tokio::test(start_paused = true)]
async fn a_first_request_that_comes_drop_by_drop_is_not_waited_for() {
    let (mut ours, mut client) = closable();
    let begun = tokio::time::Instant::now();
    let dripping = tokio::spawn(async move {
        while client.write_all(b"x").await.is_ok() {
            tokio::time::advance(PATIENCE / 10).await;
        }
    });
    let mut bytes = Vec::new();
    ours.read_to_end(&mut bytes).await.unwrap();
    assert!(begun.elapsed() <= PATIENCE * 2);
    drop(ours);
    dripping.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn empty_lines_are_no_request() {
    let (mut ours, mut client) = closable();
    client.write_all(b"\r\n\r\n\n\n").await.unwrap();
    ours.read_exact(&mut [0; 6]).await.unwrap();
    assert!(is_closed(&mut ours).await);

    // Lines may end without a CR.
    let (mut ours, mut client) = closable();
    client.write_all(b"\nGET / HTTP/1.1\n\n").await.unwrap();
    ours.read_exact(&mut [0; 17]).await.unwrap();
    assert!(!is_closed(&mut ours).await, "it is worked on");
}
