//! Lines on their way out, in the order in which they were handed over.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

/// Lines that may wait. A peer that reads nothing is told from a slow one by this many.
const WAITING: usize = 1024;
/// How long the last lines may take once nothing more is to be written.
const LAST_LINES: Duration = Duration::from_secs(1);

/// Writes lines from a task of its own, so that their order is that of the handing over and a
/// dropped sender never leaves half a line behind.
pub(crate) struct Outbox {
    queue: Option<mpsc::Sender<Line>>,
    task: JoinHandle<()>,
}

struct Line {
    bytes: Vec<u8>,
    written: oneshot::Sender<io::Result<()>>,
}

impl Outbox {
    /// Starts writing. Must be called inside a tokio runtime.
    pub(crate) fn start<W: AsyncWrite + Send + Unpin + 'static>(writer: W) -> Self {
        let (queue, lines) = mpsc::channel(WAITING);
        Self {
            queue: Some(queue),
            task: tokio::spawn(write_lines(writer, lines)),
        }
    }

    /// Hands over a message. The line is in its place when this returns; the future resolves when
    /// it is written.
    pub(crate) fn push<T: serde::Serialize + 'static>(
        &self,
        message: &T,
    ) -> impl Future<Output = io::Result<()>> + Send + use<T> {
        let handed = self.hand_over(message);
        async move {
            match handed?.await {
                Ok(written) => written,
                Err(_gone) => Err(io::ErrorKind::BrokenPipe.into()),
            }
        }
    }

    fn hand_over<T: serde::Serialize>(
        &self,
        message: &T,
    ) -> io::Result<oneshot::Receiver<io::Result<()>>> {
        let mut bytes = serde_json::to_vec(message)?;
        bytes.push(b'\n');
        let (written, receiver) = oneshot::channel();
        let queue = self
            .queue
            .as_ref()
            .ok_or_else(|| io::Error::from(io::ErrorKind::NotConnected))?;
        match queue.try_send(Line { bytes, written }) {
            Ok(()) => Ok(receiver),
            Err(mpsc::error::TrySendError::Full(_)) => {
                Err(io::Error::other("the peer does not read what it is sent"))
            }
            Err(mpsc::error::TrySendError::Closed(_)) => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    /// Writes what was handed over, as far as a second lets it, and closes the stream.
    pub(crate) async fn close(&mut self) {
        if self.queue.take().is_none() {
            return;
        }
        if tokio::time::timeout(LAST_LINES, &mut self.task)
            .await
            .is_err()
        {
            self.task.abort();
        }
    }
}

impl Drop for Outbox {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn write_lines<W: AsyncWrite + Unpin>(mut writer: W, mut lines: mpsc::Receiver<Line>) {
    let mut batch = Vec::new();
    while lines.recv_many(&mut batch, WAITING).await > 0 {
        // One flush for all lines that have come together.
        let mut result = Ok(());
        for line in &batch {
            if let Err(error) = writer.write_all(&line.bytes).await {
                result = Err(error.kind());
                break;
            }
        }
        if result.is_ok() {
            result = writer.flush().await.map_err(|error| error.kind());
        }
        for line in batch.drain(..) {
            // Whoever handed it over may have stopped waiting.
            let _ = line.written.send(result.map_err(io::Error::from));
        }
        if result.is_err() {
            return;
        }
    }
    // Closing is all that is left; a peer that is gone makes it fail.
    let _ = writer.shutdown().await;
}
