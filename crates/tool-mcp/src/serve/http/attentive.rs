//! Connections on which the next request of a client is looked for.

use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::serve::Listener;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, Sleep, sleep};

use crate::wire::{Lookout, look};

/// Listens, and looks for the next request of a client that waits for each answer before it asks
/// again, as long as it is the only one.
pub(crate) struct AttentiveListener {
    listener: TcpListener,
    /// The most connections at once.
    most: usize,
    desk: Arc<Desk>,
}

/// What all connections of a listener share.
#[derive(Default)]
struct Desk {
    lookout: Lookout,
    /// Connections from which something came since what was answered last. That is mostly a request
    /// that is worked on; half of one, and a body that nobody waited for, count as well until the next
    /// answer or the end. It decides on looking alone.
    at_work: AtomicUsize,
    /// Connections that are open.
    open: AtomicUsize,
}

/// Bytes of an answer that are put together and written as one piece. Pieces cost the system more than
/// copying so few does.
const TOGETHER: usize = 4 * 1024;

/// How long a connection may say nothing while nothing is worked on for it, and how long its first
/// request may take. Longer than clients keep one that they do not use.
const PATIENCE: Duration = Duration::from_secs(120);
/// Ends of lines behind each other that end the head of a request. As its parser does, this takes
/// those without a CR as well, and passes over the ones ahead of the first line.
const HEAD_END: usize = 2;
/// What one connection too many is answered.
const FULL: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 1\r\n\
    Content-Type: text/plain\r\nContent-Length: 48\r\n\r\ntoo many connections are open; \
    try again later\r\n";

/// A connection of one client.
pub(crate) struct Attentive<S> {
    stream: S,
    desk: Arc<Desk>,
    /// Between a request and what is answered first.
    works: bool,
    /// Whether the next to come is its request.
    looks: bool,
    /// Room for what is put together.
    room: Vec<u8>,
    quiet: Quiet,
}

/// Whether a connection says nothing for too long. It costs a request next to nothing: there is one
/// timer for all of them.
struct Quiet {
    /// Where connections are not to be closed there is none.
    patience: Option<Duration>,
    timer: Option<Pin<Box<Sleep>>>,
    /// Whether anything went either way since the timer was set.
    stirred: bool,
    /// How much of the end of the first head was seen last. `None` ahead of its first line.
    head: Option<usize>,
}

impl Quiet {
    fn is_headed(&self) -> bool {
        self.head == Some(HEAD_END)
    }

    /// Looks for the end of the first head.
    fn see(&mut self, bytes: &[u8]) {
        for byte in bytes {
            if self.is_headed() {
                return;
            }
            self.head = match byte {
                b'\r' => self.head,
                b'\n' => self.head.map(|seen| seen + 1),
                _ => Some(0),
            };
        }
    }

    /// Whether the connection has been quiet for too long. Asked while nothing is worked on.
    fn is_over(&mut self, cx: &mut Context<'_>) -> bool {
        let Some(patience) = self.patience else {
            return false;
        };
        let is_headed = self.is_headed();
        let is_new = self.timer.is_none();
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep(patience)));
        if is_new {
            self.stirred = false;
        } else if !timer.is_elapsed() {
            // It wakes the one who has polled it, which is always the same.
            return false;
        } else if is_headed && std::mem::take(&mut self.stirred) {
            timer.as_mut().reset(Instant::now() + patience);
        } else {
            return true;
        }
        timer.as_mut().poll(cx).is_ready()
    }
}

impl AttentiveListener {
    pub(crate) fn new(listener: TcpListener, most: usize) -> Self {
        Self {
            listener,
            most,
            desk: Arc::default(),
        }
    }
}

impl Listener for AttentiveListener {
    type Io = Attentive<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        loop {
            let (stream, address) = Listener::accept(&mut self.listener).await;
            if self.desk.open.load(Ordering::Relaxed) >= self.most {
                // Said if there is room at once, which there is on a new one.
                let _ = stream.try_write(FULL);
                continue;
            }
            // Messages are small and each is waited for. Where it cannot be set that is only slower.
            let _ = stream.set_nodelay(true);
            let mut connection = Attentive::new(stream, Arc::clone(&self.desk));
            connection.quiet.patience = Some(PATIENCE);
            return (connection, address);
        }
    }

    fn local_addr(&self) -> io::Result<Self::Addr> {
        self.listener.local_addr()
    }
}

impl<S> Attentive<S> {
    fn new(stream: S, desk: Arc<Desk>) -> Self {
        desk.open.fetch_add(1, Ordering::Relaxed);
        Self {
            stream,
            desk,
            works: false,
            looks: false,
            room: Vec::new(),
            quiet: Quiet {
                patience: None,
                timer: None,
                stirred: false,
                head: None,
            },
        }
    }

    fn came(&mut self) {
        self.looks = false;
        if !std::mem::replace(&mut self.works, true) {
            self.desk.at_work.fetch_add(1, Ordering::Relaxed);
            self.desk.lookout.came();
        }
    }

    fn answered(&mut self) {
        self.quiet.stirred = true;
        self.quiet.head = Some(HEAD_END);
        if std::mem::take(&mut self.works) {
            self.looks = self.desk.at_work.fetch_sub(1, Ordering::Relaxed) == 1;
            match self.looks {
                true => self.desk.lookout.sent(),
                false => self.desk.lookout.crowd(),
            }
        }
    }
}

impl<S> Drop for Attentive<S> {
    fn drop(&mut self) {
        self.desk.open.fetch_sub(1, Ordering::Relaxed);
        if self.works {
            self.desk.at_work.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Attentive<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(cx, buffer);
        if let Some(came) = buffer
            .filled()
            .get(before..)
            .filter(|came| !came.is_empty())
        {
            self.quiet.stirred = true;
            if !self.quiet.is_headed() {
                self.quiet.see(came);
            }
            self.came();
            return read;
        }
        let works = self.works && self.quiet.is_headed();
        if read.is_pending() && !works && self.quiet.is_over(cx) {
            // As if the client had closed it.
            return Poll::Ready(Ok(()));
        }
        if self.looks && read.is_pending() {
            self.looks = self.desk.lookout.looks();
            if self.looks {
                look(cx);
            }
        }
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Attentive<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        if written.is_ready() {
            self.answered();
        }
        written
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        let stream = Pin::new(&mut this.stream);
        let length: usize = pieces.iter().map(|piece| piece.len()).sum();
        let written = if length <= TOGETHER {
            this.room.clear();
            this.room.reserve_exact(length);
            for piece in pieces {
                this.room.extend_from_slice(piece);
            }
            stream.poll_write(cx, &this.room)
        } else {
            stream.poll_write_vectored(cx, pieces)
        };
        if written.is_ready() {
            self.answered();
        }
        written
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests;
