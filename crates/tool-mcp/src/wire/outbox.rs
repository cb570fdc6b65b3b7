//! Lines on their way out, in the order in which they were handed over.

use std::future::poll_fn;
use std::io;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use std::time::Duration;

use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::{Lookout, look};

/// Lines that may wait, and bytes in all of them when another one comes. A peer that does not
/// read is told from a slow one by these.
const WAITING_LINES: usize = 1024;
const WAITING_BYTES: usize = 64 * 1024 * 1024;
/// Lines of so many bytes and fewer are put together before they are written.
const PIECE_BYTES: usize = 32 * 1024;
/// Bytes that most lines have room in.
const LINE: usize = 512;
/// How long the last lines may take once nothing more is to be written.
const LAST_LINES: Duration = Duration::from_secs(1);

/// Writes lines from a task of its own, so that their order is that of the handing over and a
/// dropped sender never leaves half a line behind.
pub(crate) struct Outbox {
    open: Mutex<Option<mpsc::Sender<Line>>>,
    waiting: Arc<AtomicUsize>,
    broken: CancellationToken,
    task: JoinHandle<()>,
    over: CancellationToken,
}

struct Line {
    bytes: Vec<u8>,
    /// Told when it is written, where somebody waits for that.
    written: Option<oneshot::Sender<io::Result<()>>>,
}

impl Outbox {
    /// Starts writing. Must be called inside a tokio runtime.
    pub(crate) fn start<W: AsyncWrite + Send + Unpin + 'static>(writer: W) -> Self {
        Self::start_with(writer, Arc::default())
    }

    /// The same for lines that are answered: once one is written, it is looked for what comes for as
    /// long as the lookout says so.
    pub(crate) fn start_with<W>(writer: W, lookout: Arc<Lookout>) -> Self
    where
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let (queue, lines) = mpsc::channel(WAITING_LINES);
        let (waiting, broken) = (Arc::default(), CancellationToken::new());
        let over = CancellationToken::new();
        let writing = write_lines(writer, lines, lookout, Arc::clone(&waiting), broken.clone());
        let ended = over.clone().drop_guard();
        let task = tokio::spawn(async move {
            let _ended = ended;
            writing.await;
        });
        Self {
            open: Mutex::new(Some(queue)),
            waiting,
            broken,
            task,
            over,
        }
    }

    /// Given when a line could not be written or handed over: the peer is gone or does not read.
    pub(crate) fn broken(&self) -> &CancellationToken {
        &self.broken
    }

    /// Hands over a message. The line is in its place when this returns; the future resolves when
    /// it is written.
    pub(crate) fn push<T: serde::Serialize + 'static>(
        &self,
        message: &T,
    ) -> impl Future<Output = io::Result<()>> + Send + use<T> {
        let (written, receiver) = oneshot::channel();
        let handed = self.hand_over(message, Some(written)).map(|()| receiver);
        let broken = self.broken.clone();
        async move {
            let written = handed?;
            tokio::select! {
                biased;
                written = written => written.unwrap_or_else(|_gone| Err(broken_pipe())),
                // Nobody should wait for a line that a peer does not read.
                () = broken.cancelled() => Err(broken_pipe()),
            }
        }
    }

    /// The same for a message that nobody waits for to be written.
    pub(crate) fn post<T: serde::Serialize>(&self, message: &T) -> io::Result<()> {
        self.hand_over(message, None)
    }

    fn hand_over<T: serde::Serialize>(
        &self,
        message: &T,
        written: Option<oneshot::Sender<io::Result<()>>>,
    ) -> io::Result<()> {
        let mut bytes = Vec::with_capacity(LINE);
        serde_json::to_writer(&mut bytes, message)?;
        bytes.push(b'\n');
        let queue = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let queue = queue
            .as_ref()
            .ok_or_else(|| io::Error::from(io::ErrorKind::NotConnected))?;
        let length = bytes.len();
        let waiting = self.waiting.fetch_add(length, Ordering::Relaxed);
        // A line alone may be of any length.
        let handed = if waiting > WAITING_BYTES {
            Err(unread())
        } else {
            match queue.try_send(Line { bytes, written }) {
                Ok(()) => Ok(()),
                Err(mpsc::error::TrySendError::Full(_)) => Err(unread()),
                Err(mpsc::error::TrySendError::Closed(_)) => Err(broken_pipe()),
            }
        };
        if handed.is_err() {
            self.waiting.fetch_sub(length, Ordering::Relaxed);
            self.broken.cancel();
        }
        handed
    }

    /// Writes what was handed over, as far as a second lets it, and closes the stream.
    pub(crate) async fn close(&self) {
        let open = self
            .open
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if open.is_none() {
            return;
        }
        drop(open);
        tokio::select! {
            () = self.over.cancelled() => {}
            () = self.broken.cancelled() => self.task.abort(),
            () = tokio::time::sleep(LAST_LINES) => self.task.abort(),
        }
    }
}

impl Drop for Outbox {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn write_lines<W: AsyncWrite + Unpin>(
    mut writer: W,
    mut lines: mpsc::Receiver<Line>,
    lookout: Arc<Lookout>,
    waiting: Arc<AtomicUsize>,
    broken: CancellationToken,
) {
    let mut batch = Vec::new();
    while next_lines(&mut lines, &mut batch, &lookout).await > 0 {
        if lookout.is_crowded() {
            // Whoever else is ready may have lines as well, and all of them are one write.
            behind_the_others().await;
            while batch.len() < WAITING_LINES
                && let Ok(line) = lines.try_recv()
            {
                batch.push(line);
            }
        }
        let result = write_batch(&mut writer, &batch).await;
        for line in batch.drain(..) {
            waiting.fetch_sub(line.bytes.len(), Ordering::Relaxed);
            if let Some(written) = line.written {
                // Whoever handed it over may have stopped waiting.
                let _ = written.send(result.map_err(io::Error::from));
            }
        }
        if result.is_err() {
            broken.cancel();
            return;
        }
    }
    // Closing is all that is left; a peer that is gone makes it fail.
    let _ = writer.shutdown().await;
}

/// Goes behind whoever is ready, where another worker may take it up: what is put off by `yield_now`
/// waits for all that its own worker has to do, and so for a handler that blocks its thread.
async fn behind_the_others() {
    let mut is_behind = false;
    poll_fn(|cx| {
        if std::mem::replace(&mut is_behind, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Waits for lines, and looks meanwhile for the answer to those before.
async fn next_lines(
    lines: &mut mpsc::Receiver<Line>,
    batch: &mut Vec<Line>,
    lookout: &Lookout,
) -> usize {
    let mut received = pin!(lines.recv_many(batch, WAITING_LINES));
    poll_fn(|cx| {
        let received = received.as_mut().poll(cx);
        if received.is_pending() && lookout.looks() {
            look(cx);
        }
        received
    })
    .await
}

/// Writes lines that have come together: small ones in one piece, and all with one flush.
async fn write_batch<W: AsyncWrite + Unpin>(
    writer: &mut W,
    batch: &[Line],
) -> Result<(), io::ErrorKind> {
    let written = async {
        let mut piece = Vec::new();
        for (index, line) in batch.iter().enumerate() {
            let alone = piece.is_empty() && index + 1 == batch.len();
            if alone || line.bytes.len() > PIECE_BYTES {
                writer.write_all(&piece).await?;
                piece.clear();
                writer.write_all(&line.bytes).await?;
                continue;
            }
            piece.extend_from_slice(&line.bytes);
            if piece.len() > PIECE_BYTES {
                writer.write_all(&piece).await?;
                piece.clear();
            }
        }
        writer.write_all(&piece).await?;
        writer.flush().await
    };
    written.await.map_err(|error: io::Error| error.kind())
}

fn broken_pipe() -> io::Error {
    io::ErrorKind::BrokenPipe.into()
}

fn unread() -> io::Error {
    io::Error::other("the peer does not read what it is sent")
}

#[cfg(test)]
mod tests;
