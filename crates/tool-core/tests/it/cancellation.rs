//! The signal that nobody waits.

use futures_util::FutureExt as _;
use tool_core::Cancellation;

#[test]
fn waiting_ends_when_the_signal_is_given_and_not_before() {
    let signal = Cancellation::new();
    let waiting = signal.clone();
    let mut cancelled = Box::pin(waiting.cancelled());
    assert_eq!((&mut cancelled).now_or_never(), None);
    assert!(!signal.is_cancelled());
    signal.cancel();
    assert!(waiting.is_cancelled());
    assert_eq!(cancelled.now_or_never(), Some(()));
}

#[test]
fn waiting_for_a_signal_that_was_given_ends_at_once_as_often_as_one_likes() {
    let signal = Cancellation::new();
    signal.cancel();
    signal.cancel();
    for _ in 0..3 {
        assert_eq!(signal.cancelled().now_or_never(), Some(()));
    }
}

#[test]
fn everybody_who_waits_is_woken() {
    let signal = Cancellation::new();
    let waiting: Vec<_> = (0..16)
        .map(|_| {
            let signal = signal.clone();
            std::thread::spawn(move || wait_here(signal))
        })
        .collect();
    signal.cancel();
    for thread in waiting {
        thread.join().unwrap();
    }
}

/// Waits on a thread of its own.
fn wait_here(signal: Cancellation) {
    use std::task::{Context, Poll, Wake, Waker};
    struct Unpark(std::thread::Thread);
    impl Wake for Unpark {
        fn wake(self: std::sync::Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(std::sync::Arc::new(Unpark(std::thread::current())));
    let mut waiting = Box::pin(async move { signal.cancelled().await });
    while waiting.as_mut().poll(&mut Context::from_waker(&waker)) == Poll::Pending {
        std::thread::park();
    }
}

#[test]
fn who_stops_waiting_loses_nothing_and_holds_nobody_up() {
    let signal = Cancellation::new();
    assert_eq!(signal.cancelled().now_or_never(), None);
    let mut again = Box::pin(signal.cancelled());
    assert_eq!((&mut again).now_or_never(), None);
    signal.cancel();
    assert_eq!(again.now_or_never(), Some(()));
}
