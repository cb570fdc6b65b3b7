//! The wire to one client over a pair of streams.

use std::io;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{ErrorData, JsonRpcError, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde::Deserialize;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

use crate::wire::{Frame, Frames, Outbox, Overlong, Sort};

/// A transport of the protocol library that answers for what the library leaves open: a request
/// that is too long or does not fit the protocol is answered, lines that are no messages are
/// passed over, and calls in flight do not outlast a client that is gone or does not read.
pub(crate) struct ServerTransport<R> {
    frames: Frames<R>,
    outbox: Outbox,
    limit: usize,
    linger: Duration,
    /// Given when the client has closed its side and the calls in flight had their time.
    gone: CancellationToken,
}

impl<R: AsyncRead + Send + Unpin> ServerTransport<R> {
    pub(crate) fn new<W>(
        reader: R,
        writer: W,
        limit: usize,
        linger: Duration,
        gone: CancellationToken,
    ) -> Self
    where
        W: AsyncWrite + Send + Unpin + 'static,
    {
        Self {
            frames: Frames::new(reader, limit),
            outbox: Outbox::start(writer),
            limit,
            linger,
            gone,
        }
    }
}

impl<R: AsyncRead + Send + Unpin> Transport<RoleServer> for ServerTransport<R> {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        self.outbox.push(&message)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        let Self {
            frames,
            outbox,
            limit,
            linger,
            gone,
        } = self;
        loop {
            let frame = tokio::select! {
                frame = frames.next() => frame,
                // An answer that cannot be given would leave the client waiting for ever.
                () = outbox.broken().cancelled() => {
                    gone.cancel();
                    return None;
                }
            };
            match frame {
                Ok(Some(Frame::Line(line))) => match serde_json::from_slice(line) {
                    Ok(message) => return Some(message),
                    Err(_) => answer_misfit(outbox, line),
                },
                Ok(Some(Frame::TooLong(overlong))) => answer_too_long(outbox, overlong, *limit),
                Ok(None) | Err(_) => {
                    cancel_after(*linger, gone.clone());
                    return None;
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.gone.cancel();
        self.outbox.close().await;
        Ok(())
    }
}

impl<R> Drop for ServerTransport<R> {
    fn drop(&mut self) {
        self.gone.cancel();
    }
}

fn cancel_after(linger: Duration, gone: CancellationToken) {
    tokio::spawn(async move {
        tokio::select! {
            () = tokio::time::sleep(linger) => gone.cancel(),
            () = gone.cancelled() => {}
        }
    });
}

/// Answers JSON that is no message, if it has an id to answer to.
fn answer_misfit(outbox: &Outbox, line: &[u8]) {
    #[derive(Deserialize)]
    struct Misfit {
        id: RequestId,
        #[serde(rename = "method")]
        _method: Value,
    }
    if let Ok(Misfit { id, .. }) = serde_json::from_slice(line) {
        let error = ErrorData::invalid_request("the request does not fit the protocol", None);
        answer(outbox, id, error);
    }
}

fn answer_too_long(outbox: &Outbox, overlong: Overlong, limit: usize) {
    if let (Some(id), Sort::Request) = (overlong.id, overlong.sort) {
        let text = format!("the request is longer than {limit} bytes");
        answer(outbox, id, ErrorData::invalid_request(text, None));
    }
}

fn answer(outbox: &Outbox, id: RequestId, error: ErrorData) {
    // The line is in its place; nobody has to wait for it to be written.
    drop(outbox.push(&JsonRpcError::new(Some(id), error)));
}
