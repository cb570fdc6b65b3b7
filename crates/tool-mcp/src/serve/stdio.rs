//! Serving whoever started this process.

use super::{ServeError, Server};

impl Server {
    /// Serves the client that started this process, over its stdin and stdout, until it closes
    /// them. Nothing else may write to stdout meanwhile.
    ///
    /// Pipes and local sockets, which is what clients start a server with, are read and written
    /// without blocking; anything else takes a thread for each step. A socket is made non-blocking
    /// for whoever shares it.
    ///
    /// # Errors
    /// As for [`serve_streams`](Self::serve_streams).
    ///
    /// # Cancel safety
    /// Dropping the future ends the connection and drops the calls in flight. Where stdin is neither
    /// a pipe nor a local socket, a read of it may keep the tokio runtime from ending until the next
    /// line.
    pub async fn serve_stdio(&self) -> Result<(), ServeError> {
        #[cfg(unix)]
        if let Some((stdin, stdout)) = sockets::standard() {
            return self.serve_streams(stdin, stdout).await;
        }
        let (stdin, stdout) = rmcp::transport::stdio_pipes();
        self.serve_streams(stdin, stdout).await
    }
}

/// The standard streams as local sockets. Programs on Node start their children with such.
#[cfg(unix)]
mod sockets {
    use std::fs::File;
    use std::io;
    use std::os::fd::{AsFd, OwnedFd};
    use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
    use std::os::unix::net;

    use tokio::net::UnixStream;

    /// Both, where both are local sockets. Not where stderr is one of them: who writes there counts
    /// on waiting.
    pub(super) fn standard() -> Option<(UnixStream, UnixStream)> {
        let (stdin, stdout) = (
            Stream::of(io::stdin()).ok()?,
            Stream::of(io::stdout()).ok()?,
        );
        let stderr = Stream::of(io::stderr()).ok().map(|stderr| stderr.inode);
        let apart = [&stdin, &stdout]
            .iter()
            .all(|one| stderr != Some(one.inode));
        if !(apart && stdin.is_socket && stdout.is_socket) {
            return None;
        }
        // Both are looked at before either is changed.
        let (stdin, stdout) = (stdin.local().ok()?, stdout.local().ok()?);
        let unblocked = |socket: &net::UnixStream| {
            socket.set_nonblocking(true)?;
            UnixStream::from_std(socket.try_clone()?)
        };
        let both = unblocked(&stdin).and_then(|input| Ok((input, unblocked(&stdout)?)));
        if both.is_err() {
            // Whoever reads and writes them instead counts on waiting.
            for socket in [&stdin, &stdout] {
                let _ = socket.set_nonblocking(false);
            }
        }
        both.ok()
    }

    struct Stream {
        descriptor: OwnedFd,
        is_socket: bool,
        inode: u64,
    }

    impl Stream {
        fn of(stream: impl AsFd) -> io::Result<Self> {
            let file = File::from(stream.as_fd().try_clone_to_owned()?);
            let told = file.metadata()?;
            Ok(Self {
                descriptor: file.into(),
                is_socket: told.file_type().is_socket(),
                inode: told.ino(),
            })
        }

        /// Fails for a socket of another family.
        fn local(self) -> io::Result<net::UnixStream> {
            let socket = net::UnixStream::from(self.descriptor);
            socket.local_addr()?;
            Ok(socket)
        }
    }
}
