//! Work that blocks, on a thread of its own.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use crate::signal::Signal;

/// Runs work that blocks on a thread of its own, under whatever executor. Dropping the future lets
/// the work go on and tells nobody of its end.
///
/// # Errors
/// When there is no thread, or the work has panicked.
pub(crate) async fn aside<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<T> {
    let done = Arc::new((Mutex::new(None), Signal::default()));
    let tells = Tells(Arc::clone(&done));
    std::thread::Builder::new()
        .name("store".to_owned())
        .spawn(move || {
            let done = work();
            *tells.0.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(done);
            drop(tells);
        })?;
    done.1.raised().await;
    let mut done = done.0.lock().unwrap_or_else(PoisonError::into_inner);
    done.take()
        .ok_or_else(|| io::Error::other("the work has not come to its end"))
}

/// Tells of the end, also of one by a panic.
struct Tells<T>(Arc<(Mutex<Option<T>>, Signal)>);

impl<T> Drop for Tells<T> {
    fn drop(&mut self) {
        self.0.1.raise();
    }
}
