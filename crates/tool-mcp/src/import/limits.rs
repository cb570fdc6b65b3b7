//! How long and how large things with a server may get.

use std::time::Duration;

use crate::wire;

/// How long and how large things with one server may get.
///
/// ```
/// use std::time::Duration;
/// use tool_mcp::Limits;
///
/// let patient = Limits::default().connect(Duration::from_secs(120));
/// # let _ = patient;
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    pub(crate) connect: Duration,
    pub(crate) idle: Duration,
    pub(crate) total: Duration,
    pub(crate) frame_bytes: usize,
    pub(crate) stderr_bytes: usize,
    pub(crate) shutdown: Duration,
    pub(crate) retries: u32,
    pub(crate) retry_first: Duration,
    pub(crate) retry_most: Duration,
}

impl Limits {
    /// How long a server may take from its start to its first list of tools. Defaults to 30 s.
    #[must_use]
    pub fn connect(mut self, connect: Duration) -> Self {
        self.connect = connect;
        self
    }

    /// How long a call may go without an answer or a report of progress. Defaults to 120 s.
    #[must_use]
    pub fn idle(mut self, idle: Duration) -> Self {
        self.idle = idle;
        self
    }

    /// How long a call may take in all, whatever progress it reports. Defaults to 600 s.
    #[must_use]
    pub fn total(mut self, total: Duration) -> Self {
        self.total = total;
        self
    }

    /// The most bytes of one message from a server. A longer one is skipped and fails the call
    /// that it answers. Defaults to 16 MiB.
    #[must_use]
    pub fn frame_bytes(mut self, frame_bytes: usize) -> Self {
        self.frame_bytes = frame_bytes;
        self
    }

    /// How many of the last bytes that a server wrote to stderr are kept. Defaults to 64 KiB.
    #[must_use]
    pub fn stderr_bytes(mut self, stderr_bytes: usize) -> Self {
        self.stderr_bytes = stderr_bytes;
        self
    }

    /// How long a server may take to end once it is told to; all servers are told at the same
    /// time. Defaults to 5 s.
    #[must_use]
    pub fn shutdown(mut self, shutdown: Duration) -> Self {
        self.shutdown = shutdown;
        self
    }

    /// How often in a row a server that failed or ended is connected again before it is given up.
    /// A connection that lasted as long as the longest wait begins the count anew. Defaults to 8;
    /// 0 gives up at once.
    #[must_use]
    pub fn retries(mut self, retries: u32) -> Self {
        self.retries = retries;
        self
    }

    /// How long a server is left alone before it is connected again: the first wait, which doubles
    /// each time, and the longest. Each is shortened at random by up to half. Defaults to 500 ms and
    /// 30 s.
    #[must_use]
    pub fn retry_after(mut self, first: Duration, most: Duration) -> Self {
        self.retry_first = first;
        self.retry_most = most;
        self
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(30),
            idle: Duration::from_secs(120),
            total: Duration::from_secs(600),
            frame_bytes: wire::FRAME_BYTES,
            stderr_bytes: 64 * 1024,
            shutdown: Duration::from_secs(5),
            retries: 8,
            retry_first: Duration::from_millis(500),
            retry_most: Duration::from_secs(30),
        }
    }
}
