//! Sessions whose outputs stay.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::fs::TryLockError;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tool_core::{Digest, SessionId};

use crate::folder::{Folder, is_linked};
use crate::store_file::StoreFile;
use crate::turn;

/// Keeps the outputs of one session for as long as it is held.
///
/// Neither age nor quota takes them away, in this process or in another that uses the same store,
/// and the end of the process ends the pin however it came: at once where the store is a directory,
/// within three hours where it is a bucket. A session may be pinned several times; the last guard
/// counts.
#[must_use = "the session is pinned for as long as the guard is held"]
pub struct SessionPin {
    pins: Arc<dyn Unpins>,
    session: SessionId,
}

/// Who learns that a guard is gone.
pub(crate) trait Unpins: Send + Sync {
    fn unpin(&self, session: &SessionId);
}

impl SessionPin {
    pub(crate) fn of(pins: Arc<dyn Unpins>, session: SessionId) -> Self {
        Self { pins, session }
    }
}

/// The pins of a directory.
///
/// A pinned session has a file with a shared lock. Locks are seen by all processes and die with
/// theirs, so a pin needs no heartbeat and leaves at most an empty file, which a sweep removes.
#[derive(Debug)]
pub(crate) struct Pins {
    folder: Arc<Folder>,
    held: Mutex<HashMap<SessionId, Held>>,
}

#[derive(Debug)]
struct Held {
    guards: usize,
    lock: Option<StoreFile>,
}

impl Pins {
    pub(crate) fn new(folder: Arc<Folder>) -> Self {
        Self {
            folder,
            held: Mutex::default(),
        }
    }

    pub(crate) fn pin(self: Arc<Self>, session: SessionId) -> SessionPin {
        match self.held().entry(session.clone()) {
            Entry::Occupied(held) => held.into_mut().guards += 1,
            Entry::Vacant(free) => {
                let lock = lock_shared(&self.folder, &pin_name(&session))
                    .inspect_err(|error| {
                        tracing::warn!(%error, "other processes do not see that a session is live");
                    })
                    .ok();
                free.insert(Held { guards: 1, lock });
            }
        }
        SessionPin::of(self, session)
    }

    /// Whether a session is pinned here or elsewhere. In doubt it is.
    pub(crate) fn holds(&self, session: &SessionId) -> bool {
        self.held().contains_key(session) || self.is_locked(&pin_name(session))
    }

    /// Whether a pin's file is in use, and removes it when not.
    pub(crate) fn is_locked(&self, name: &str) -> bool {
        match remove_unlocked(&self.folder, name) {
            Ok(unlocked) => unlocked == Unlocked::InUse,
            Err(error) => {
                tracing::warn!(%error, "could not tell whether a session is live");
                true
            }
        }
    }

    fn held(&self) -> MutexGuard<'_, HashMap<SessionId, Held>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Unpins for Pins {
    fn unpin(&self, session: &SessionId) {
        let mut held = self.held();
        let Some(pin) = held.get_mut(session) else {
            return;
        };
        pin.guards -= 1;
        if pin.guards == 0 {
            // Closing the file gives the lock up.
            drop(held.remove(session).map(|pin| pin.lock));
            self.is_locked(&pin_name(session));
        }
    }
}

impl Drop for SessionPin {
    fn drop(&mut self) {
        self.pins.unpin(&self.session);
    }
}

impl fmt::Debug for SessionPin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SessionPin").field(&self.session).finish()
    }
}

/// Whether a file of that name is the file of a pin.
pub(crate) fn is_pin_name(name: &str) -> bool {
    name.starts_with(PREFIX)
}

/// What became of a file that was to be removed unless it is locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unlocked {
    Removed,
    Missing,
    InUse,
}

/// Removes a file that nobody has locked.
pub(crate) fn remove_unlocked(folder: &Folder, name: &str) -> io::Result<Unlocked> {
    let Some(file) = folder.read(name)? else {
        return Ok(Unlocked::Missing);
    };
    match file.try_lock() {
        // Removed while locked: whoever waits for the lock sees that the file has no name.
        Ok(()) => folder.remove(name).map(|_| Unlocked::Removed),
        Err(TryLockError::WouldBlock) => Ok(Unlocked::InUse),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Opens a pin's file and locks it, again where a sweep came in between and removed it.
pub(crate) fn lock_shared(folder: &Folder, name: &str) -> io::Result<StoreFile> {
    for _ in 0..ATTEMPTS {
        let file = folder.open_or_create(name)?;
        turn::take_share(&file, turn::MOMENT)?;
        if is_linked(&file)? {
            return Ok(file);
        }
    }
    Err(io::Error::other("every new file was removed by a sweep"))
}

/// The name tells nothing of the session, whose id may be a secret of the host.
fn pin_name(session: &SessionId) -> String {
    format!("{PREFIX}{}", Digest::of(session.as_str().as_bytes()).hex())
}

const PREFIX: &str = ".live-";
const ATTEMPTS: usize = 8;
