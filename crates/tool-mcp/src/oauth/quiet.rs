//! Without a log.

use std::future::Future;

use tracing::instrument::WithSubscriber as _;
use tracing::subscriber::NoSubscriber;

/// Runs something that would log secrets, and logs nothing of it.
pub(crate) async fn quiet<T>(work: impl Future<Output = T>) -> T {
    work.with_subscriber(NoSubscriber::default()).await
}
