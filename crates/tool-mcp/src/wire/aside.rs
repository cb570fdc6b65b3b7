//! Long work between messages.

use tokio::runtime::{Handle, RuntimeFlavor};

/// So many bytes take longer to read than other messages should wait.
const LONG: usize = 1024 * 1024;

/// Works on that many bytes. Where they are many, whatever else waits for this thread of the runtime
/// goes on on another one.
pub(crate) fn aside<T>(bytes: usize, work: impl FnOnce() -> T) -> T {
    let has_others = || {
        Handle::try_current().is_ok_and(|here| here.runtime_flavor() == RuntimeFlavor::MultiThread)
    };
    if bytes >= LONG && has_others() {
        tokio::task::block_in_place(work)
    } else {
        work()
    }
}
