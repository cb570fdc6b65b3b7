//! Locks that another process may hold.

use std::fs::TryLockError;
use std::io;
use std::time::{Duration, Instant};

use crate::store_file::StoreFile;

/// How long a turn is waited for. Whoever has one needs it for as long as a few files take: who has
/// it for longer is stopped, or its disk does not answer.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);
/// How long a file is waited for that nobody but a sweep can hold, for as long as it takes to remove
/// a file.
pub(crate) const MOMENT: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_millis(10);

/// Takes a lock if nobody has it; `false` where somebody does. A file system without locks has
/// nothing to protect against a second process, and there is no other to wait for.
pub(crate) fn try_take(file: &StoreFile) -> io::Result<bool> {
    taken(file.try_lock())
}

/// Takes a lock, and waits for it so long at the most. It blocks.
pub(crate) fn take(file: &StoreFile, patience: Duration) -> io::Result<()> {
    wait(patience, || taken(file.try_lock()))
}

/// Takes a share of a lock, and waits for it so long at the most. It blocks.
pub(crate) fn take_share(file: &StoreFile, patience: Duration) -> io::Result<()> {
    wait(patience, || taken(file.try_lock_shared()))
}

/// Somebody has waited for too long.
pub(crate) fn too_long() -> io::Error {
    let text = "other processes hold a lock for too long; one of them may be stopped";
    io::Error::new(io::ErrorKind::TimedOut, text)
}

fn taken(tried: Result<(), TryLockError>) -> io::Result<bool> {
    match tried {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => Ok(true),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

fn wait(patience: Duration, mut try_once: impl FnMut() -> io::Result<bool>) -> io::Result<()> {
    let deadline = Instant::now() + patience;
    let mut pause = Duration::from_micros(50);
    while !try_once()? {
        if Instant::now() >= deadline {
            return Err(too_long());
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
    Ok(())
}

#[cfg(test)]
mod tests;
