//! Reading the body of a request.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use axum::body::{Body, Bytes, to_bytes};
use axum::http::header::CONTENT_LENGTH;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;

use super::reply;
use super::room::{Kind, Taken};
use super::site::Site;
use super::token::Caller;
use crate::wire::{FRAME_BYTES, RpcError};

/// How long a body may take that is not there with its head.
const PATIENCE: Duration = Duration::from_secs(60);
/// Bodies of so many bytes and fewer take no room that is counted.
const SMALL: usize = 64 * 1024;

/// Reads a body, with the room that it takes. Otherwise what its sender is answered.
pub(crate) async fn read(
    site: &Arc<Site>,
    caller: &Caller,
    headers: &HeaderMap,
    body: Body,
) -> Result<(Bytes, Option<Box<Taken>>), Box<Response>> {
    let take = |bytes| {
        let taken = Taken::of(site, caller.room.as_ref(), Kind::Bytes, bytes);
        taken.map_err(|full| Box::new(reply::full(None, &full)))
    };
    let mut reading = pin!(to_bytes(body, FRAME_BYTES));
    // Most are there at once, and need neither a clock nor room.
    let at_once = poll_fn(|cx| {
        Poll::Ready(match reading.as_mut().poll(cx) {
            Poll::Ready(read) => Some(read),
            Poll::Pending => None,
        })
    });
    let (read, mut taken) = match at_once.await {
        Some(read) => (read, None),
        None => {
            // The body is never longer than its head says.
            let taken = match announced(headers).min(FRAME_BYTES) {
                ..=SMALL => None,
                long => Some(Box::new(take(long)?)),
            };
            let read = Box::pin(tokio::time::timeout(PATIENCE, reading)).await;
            (read.map_err(|_| Box::new(late()))?, taken)
        }
    };
    let body = read.map_err(|_| Box::new(reply::empty(StatusCode::PAYLOAD_TOO_LARGE)))?;
    if body.len() <= SMALL {
        return Ok((body, None));
    }
    match &mut taken {
        Some(taken) => taken.shrink_to(body.len()),
        None => taken = Some(Box::new(take(body.len())?)),
    }
    Ok((body, taken))
}

/// How long it says that it is. One that does not say may be as long as any.
fn announced(headers: &HeaderMap) -> usize {
    let length = headers.get(CONTENT_LENGTH);
    let length = length.and_then(|length| length.to_str().ok()?.parse().ok());
    length.unwrap_or(FRAME_BYTES)
}

fn late() -> Response {
    let text = format!(
        "the body did not come within {} seconds; send less at once",
        PATIENCE.as_secs()
    );
    reply::closing(reply::error(
        StatusCode::REQUEST_TIMEOUT,
        None,
        RpcError::request(text),
    ))
}
