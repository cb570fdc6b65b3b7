//! Connections on which the next request of a client is looked for.

use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use axum::serve::Listener;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};

use crate::wire::{Lookout, look};

/// Listens, and looks for the next request of a client that waits for each answer before it asks
/// again, as long as it is the only one.
pub(crate) struct AttentiveListener {
    listener: TcpListener,
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
}

/// Bytes of an answer that are put together and written as one piece. Pieces cost the system more than
/// copying so few does.
const TOGETHER: usize = 4 * 1024;

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
}

impl AttentiveListener {
    pub(crate) fn new(listener: TcpListener) -> Self {
        Self {
            listener,
            desk: Arc::default(),
        }
    }
}

impl Listener for AttentiveListener {
    type Io = Attentive<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        let (stream, address) = Listener::accept(&mut self.listener).await;
        // Messages are small and each is waited for. Where it cannot be set that is only slower.
        let _ = stream.set_nodelay(true);
        (Attentive::new(stream, Arc::clone(&self.desk)), address)
    }

    fn local_addr(&self) -> io::Result<Self::Addr> {
        self.listener.local_addr()
    }
}

impl<S> Attentive<S> {
    fn new(stream: S, desk: Arc<Desk>) -> Self {
        Self {
            stream,
            desk,
            works: false,
            looks: false,
            room: Vec::new(),
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
        if buffer.filled().len() > before {
            self.came();
        } else if self.looks && read.is_pending() {
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
