//! Telling when the last call of a client is over.

use std::convert::Infallible;
use std::time::Duration;

use tokio::sync::mpsc;

/// How long calls that were dropped may still clean up.
const LAST_CLEANUPS: Duration = Duration::from_secs(5);

/// Says which calls are running.
#[derive(Clone)]
pub(crate) struct Serving(mpsc::WeakSender<Infallible>);

/// Held by a call for as long as it runs or cleans up.
pub(crate) struct Running(#[expect(dead_code, reason = "held, not read")] mpsc::Sender<Infallible>);

/// Waits until no call is running any more.
#[derive(Debug)]
pub(crate) struct Over {
    open: Option<mpsc::Sender<Infallible>>,
    running: mpsc::Receiver<Infallible>,
}

pub(crate) fn serving() -> (Serving, Over) {
    let (open, running) = mpsc::channel(1);
    let over = Over {
        open: Some(open.clone()),
        running,
    };
    (Serving(open.downgrade()), over)
}

impl Serving {
    /// `None` once the end is waited for.
    pub(crate) fn run(&self) -> Option<Running> {
        self.0.upgrade().map(Running)
    }
}

impl Over {
    /// Waits for the last one, and no longer than cleanups may take.
    pub(crate) async fn wait(&mut self) {
        self.open = None;
        // Nothing is ever sent: what comes is the end.
        let _ = tokio::time::timeout(LAST_CLEANUPS, self.running.recv()).await;
    }
}
