//! Code of somebody else's, which may panic.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

/// Something to await, of whatever kind.
pub(crate) type Awaited<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Awaits code of somebody else's. `None` when it panicked. A destructor in it that panics is
/// nobody's concern either: whoever gives it up has others to serve.
///
/// It comes boxed: it is large, and would be moved with everything that awaits it.
pub(crate) fn contained<T>(run: Awaited<'_, T>) -> impl Future<Output = Option<T>> + Send {
    Contained(Some(run))
}

struct Contained<'a, T>(Option<Awaited<'a, T>>);

impl<T> Future for Contained<'_, T> {
    type Output = Option<T>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let polled = caught(|| Some(self.0.as_mut()?.as_mut().poll(cx)));
        match polled.flatten() {
            Some(polled) => polled.map(Some),
            None => Poll::Ready(None),
        }
    }
}

impl<T> Drop for Contained<'_, T> {
    fn drop(&mut self) {
        caught(|| drop(self.0.take()));
    }
}

/// `None` when it panicked. What a panic carries may panic again when it is dropped, and is not.
fn caught<T>(run: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(run))
        .map_err(std::mem::forget)
        .ok()
}

#[cfg(test)]
mod tests {
    use std::future::{pending, poll_fn, ready};
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::contained;

    struct Bomb;

    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("it goes off");
        }
    }

    fn polled<T>(future: impl Future<Output = T>) -> Poll<T> {
        pin!(future).poll(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn what_panics_where_it_is_given_up_takes_nobody_along() {
        let given_up = async {
            let _bomb = Bomb;
            pending::<()>().await;
        };
        assert!(polled(contained(Box::pin(given_up))).is_pending());
        // Nor does what it is made of, behind its answer.
        let bomb = Bomb;
        let answered = poll_fn(move |_| {
            let _held = &bomb;
            Poll::Ready(7)
        });
        assert_eq!(polled(contained(Box::pin(answered))), Poll::Ready(Some(7)));
    }

    #[test]
    fn what_panics_has_no_value() {
        let panics = async {
            let _bomb = ready(Bomb).await;
            7
        };
        assert_eq!(polled(contained(Box::pin(panics))), Poll::Ready(None));
    }
}
