//! Questions that somebody is answering.

use std::pin::Pin;
use std::task::Poll;

use serde_json::Value;
use tool_core::BoxFuture;

use super::call_error::CallError;

/// What answering one comes to.
pub(crate) type Answering<'a> = BoxFuture<'a, Result<Value, CallError>>;

/// Questions that are being answered, in the task of whoever holds this.
pub(crate) struct OpenQuestions<'a, K>(Vec<(K, Answering<'a>)>);

impl<'a, K: PartialEq> OpenQuestions<'a, K> {
    pub(crate) fn new() -> Self {
        Self(Vec::new())
    }

    pub(crate) fn push(&mut self, key: K, answering: Answering<'a>) {
        self.0.push((key, answering));
    }

    /// Gives a question up. Whoever was asked is asked no more.
    pub(crate) fn remove(&mut self, key: &K) {
        self.0.retain(|(open, _)| open != key);
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The next one that is answered. Never resolves while there is none.
    ///
    /// # Cancel safety
    /// Dropping the future loses nothing.
    pub(crate) async fn next(&mut self) -> (K, Result<Value, CallError>) {
        std::future::poll_fn(|cx| {
            let ready =
                self.0.iter_mut().enumerate().find_map(|(at, (_, one))| {
                    match Pin::as_mut(one).poll(cx) {
                        Poll::Ready(answer) => Some((at, answer)),
                        Poll::Pending => None,
                    }
                });
            match ready {
                Some((at, answer)) => Poll::Ready((self.0.swap_remove(at).0, answer)),
                None => Poll::Pending,
            }
        })
        .await
    }
}
