//! A model response that is there as a whole.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context as TaskContext, Poll};

use futures_core::Stream;

use super::Part;

/// The parts of a response that is there as a whole, for [`Turn::run_whole`](crate::Turn::run_whole).
#[derive(Debug)]
pub struct WholeResponse(std::vec::IntoIter<Part>);

impl WholeResponse {
    pub(super) fn new(parts: impl IntoIterator<Item = Part>) -> Self {
        let parts: Vec<Part> = parts.into_iter().collect();
        Self(parts.into_iter())
    }
}

impl Stream for WholeResponse {
    type Item = Result<Part, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut TaskContext<'_>) -> Poll<Option<Self::Item>> {
        Poll::Ready(self.0.next().map(Ok))
    }
}
