//! Requests to one server.

use std::pin::pin;
use std::sync::Arc;

use rmcp::RoleClient;
use rmcp::model::{
    CancelledNotification, CancelledNotificationParam, ClientNotification, ClientRequest,
    GetExtensions, RequestId,
};
use rmcp::service::{Peer, PeerRequestOptions};
use serde_json::Value;
use tokio::time::{Instant, sleep_until};

use super::Limits;
use super::board::Board;
use super::call_error::CallError;
use super::mailbox::{Letter, Mailbox, Report};

/// What a server is told when a request of ours is given up, whatever the cause: causes are
/// nobody's business but ours.
const CANCEL_REASON: &str = "the caller no longer waits";

/// A server that can be sent requests.
pub(crate) struct Connection {
    peer: Peer<RoleClient>,
    board: Arc<Board>,
    limits: Limits,
}

impl Connection {
    pub(crate) fn new(peer: Peer<RoleClient>, board: Arc<Board>, limits: Limits) -> Self {
        Self {
            peer,
            board,
            limits,
        }
    }

    pub(crate) fn board(&self) -> &Board {
        &self.board
    }

    /// Sends a request and waits for its result, as it came.
    ///
    /// Reports of progress are passed on in their order; one that goes back is dropped. Each
    /// extends the time for the next, never the time in all.
    ///
    /// # Cancel safety
    /// Dropping the future tells the server that nobody waits any more.
    pub(crate) async fn request(
        &self,
        mut request: ClientRequest,
        report: impl Fn(Report),
    ) -> Result<Value, CallError> {
        let started = Instant::now();
        let mailbox = Mailbox::default();
        request.extensions_mut().insert(mailbox.clone());
        let mut total = pin!(sleep_until(started + self.limits.total));
        let sending = self
            .peer
            .send_cancellable_request(request, PeerRequestOptions::no_options());
        let mut handle = tokio::select! {
            handle = sending => handle?,
            () = &mut total => return Err(CallError::Total(self.limits.total)),
        };
        let mut cancel = CancelOnDrop {
            peer: &self.peer,
            id: Some(handle.id.clone()),
        };

        let mut idle = pin!(sleep_until(started + self.limits.idle));
        let mut furthest = f64::NEG_INFINITY;
        let mut ended = None;
        loop {
            // What came in before the end of the connection is still taken.
            let letter = if let Some(error) = ended.take() {
                match mailbox.take() {
                    Some(letter) => {
                        ended = Some(error);
                        letter
                    }
                    None => {
                        cancel.disarm();
                        return Err(error);
                    }
                }
            } else {
                tokio::select! {
                    biased;
                    // First, so that no flood of reports outlasts it.
                    () = &mut total => return Err(CallError::Total(self.limits.total)),
                    letter = mailbox.next() => letter,
                    answer = &mut handle.rx => {
                        ended = Some(match answer {
                            Ok(Err(error)) => error.into(),
                            // The letter with the answer is there before the library is told.
                            Ok(Ok(_)) | Err(_) => CallError::Gone,
                        });
                        continue;
                    }
                    () = &mut idle => return Err(CallError::Idle(self.limits.idle)),
                }
            };
            let result = match letter {
                Letter::Progress(progress) => {
                    idle.as_mut().reset(Instant::now() + self.limits.idle);
                    if progress.progress >= furthest {
                        furthest = progress.progress;
                        report(progress);
                    }
                    continue;
                }
                Letter::Answer(answer) => Ok(answer),
                Letter::TooLong => Err(CallError::TooLong {
                    limit: self.limits.frame_bytes,
                }),
                Letter::Unreadable => Err(CallError::Unreadable),
            };
            cancel.disarm();
            return result;
        }
    }
}

/// Tells the server of a request that was given up.
struct CancelOnDrop<'a> {
    peer: &'a Peer<RoleClient>,
    id: Option<RequestId>,
}

impl CancelOnDrop<'_> {
    fn disarm(&mut self) {
        self.id = None;
    }
}

impl Drop for CancelOnDrop<'_> {
    fn drop(&mut self) {
        let (Some(id), Ok(runtime)) = (self.id.take(), tokio::runtime::Handle::try_current())
        else {
            return;
        };
        let peer = self.peer.clone();
        let params = CancelledNotificationParam::new(Some(id), Some(CANCEL_REASON.to_owned()));
        let notification = CancelledNotification::new(params);
        // A destructor cannot wait for the line to be written.
        runtime.spawn(async move {
            let notification = ClientNotification::CancelledNotification(notification);
            // A server that is gone needs no telling.
            let _ = peer.send_notification(notification).await;
        });
    }
}
