//! State in a directory.

use std::fmt;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tool_core::{BoxFuture, Digest, State, StateError, StateReading, StateVersion, StoreError};

use crate::faults::Faults;
use crate::folder::Folder;
use crate::store_file::StoreFile;
use crate::turn;

/// Small facts in a local directory, shared by all processes that open it.
///
/// Writers take turns by a lock file; a value becomes visible whole or not at all and survives a
/// crash. A value has 64 MiB at most. Directory and files are the owner's alone. Clones share the directory.
///
/// Its calls block for as long as the disk takes, and for as long as another process writes, but for
/// ten seconds at the most: then they are errors, as a process that holds the others up so long is
/// stopped or gone astray.
///
/// ```
/// use tool_core::{State as _, StateReading};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let folder = tempfile::tempdir()?;
/// let state = tool_storage::DirState::open(folder.path().join("state"))?;
/// let first = state.write("key", None, b"one").await?;
/// assert!(state.write("key", None, b"two").await?.is_none(), "somebody was faster");
/// let StateReading::Value(value, version) = state.read("key", None).await? else {
///     return Err("nothing was kept".into());
/// };
/// assert_eq!((value.as_slice(), Some(version)), (&b"one"[..], first));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct DirState(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    folder: Folder,
    root: PathBuf,
}

/// What could not be done, for operators.
#[derive(Debug)]
struct Failed {
    what: &'static str,
    root: PathBuf,
    cause: io::Error,
}

/// The name of the file by which writers take turns.
const LOCK: &str = "lock";
/// The latest moment of a claim that was forgotten, in milliseconds.
const FORGOTTEN: &str = "forgotten";
/// The most bytes of one value, and of the version that stands ahead of it.
const MOST_BYTES: usize = 64 * 1024 * 1024;
const MOST_HEAD: usize = 32;

impl DirState {
    /// Opens a directory, and creates it where it is missing. Claims whose moment has passed are
    /// forgotten.
    ///
    /// # Errors
    /// [`StoreError`] when it cannot be opened.
    pub fn open(root: impl AsRef<Path>) -> Result<Self, StoreError> {
        Self::open_with(root.as_ref(), Faults::default())
    }

    pub(crate) fn open_with(root: &Path, faults: Faults) -> Result<Self, StoreError> {
        let root = root.to_owned();
        let folder = Folder::open(&root, faults)?;
        let state = Self(Arc::new(Inner { folder, root }));
        let swept = state.0.sweep(millis(SystemTime::now()));
        swept.map_err(|cause| state.0.folder.failed("could not be swept", cause))?;
        Ok(state)
    }
}

impl State for DirState {
    fn claim<'a>(
        &'a self,
        key: &'a str,
        until: SystemTime,
    ) -> BoxFuture<'a, Result<bool, StateError>> {
        Box::pin(async move {
            let claimed = self.0.claim(key, millis(until));
            claimed.map_err(|cause| self.0.failed("could not be written", cause))
        })
    }

    fn read<'a>(
        &'a self,
        key: &'a str,
        known: Option<&'a StateVersion>,
    ) -> BoxFuture<'a, Result<StateReading, StateError>> {
        Box::pin(async move {
            let read = self.0.value(&name('v', key), known);
            read.map_err(|cause| self.0.failed("could not be read", cause))
        })
    }

    fn write<'a>(
        &'a self,
        key: &'a str,
        expected: Option<&'a StateVersion>,
        value: &'a [u8],
    ) -> BoxFuture<'a, Result<Option<StateVersion>, StateError>> {
        Box::pin(async move {
            let written = self.0.write(key, expected, value);
            written.map_err(|cause| self.0.failed("could not be written", cause))
        })
    }
}

impl Inner {
    /// Holds off all other writers for as long as it is open.
    fn lock(&self) -> io::Result<StoreFile> {
        let lock = self.folder.open_or_create(LOCK)?;
        turn::take(&lock, turn::PATIENCE)?;
        Ok(lock)
    }

    fn claim(&self, key: &str, until: u64) -> io::Result<bool> {
        let _lock = self.lock()?;
        if self.number(FORGOTTEN)? >= Some(until) {
            // It may have been claimed before.
            return Ok(false);
        }
        let name = name('c', key);
        if self.folder.read(&name)?.is_some() {
            return Ok(false);
        }
        self.put(&name, until.to_string().as_bytes())?;
        Ok(true)
    }

    fn write(
        &self,
        key: &str,
        expected: Option<&StateVersion>,
        value: &[u8],
    ) -> io::Result<Option<StateVersion>> {
        fits(value.len())?;
        let _lock = self.lock()?;
        let name = name('v', key);
        let now = match self.value(&name, None)? {
            StateReading::Value(_, version) => Some(version),
            StateReading::Absent | StateReading::Unchanged => None,
        };
        if now.as_ref() != expected {
            return Ok(None);
        }
        let number: u64 = match &now {
            None => 0,
            Some(version) => version.as_str().parse().map_err(io::Error::other)?,
        };
        let next = (number + 1).to_string();
        let mut text = format!("{next}\n").into_bytes();
        text.extend_from_slice(value);
        self.put(&name, &text)?;
        Ok(Some(StateVersion::new(next)))
    }

    /// A value behind its version, which has a line of its own.
    fn value(&self, name: &str, known: Option<&StateVersion>) -> io::Result<StateReading> {
        let Some(file) = self.folder.read(name)? else {
            return Ok(StateReading::Absent);
        };
        // More than fits, so that what is too long is noticed.
        let mut rest = file.take((MOST_BYTES + MOST_HEAD + 1) as u64);
        let mut head = [0; MOST_HEAD];
        let read = rest.read(&mut head)?;
        let mut text = head.get(..read).unwrap_or_default().to_vec();
        let end = text.iter().position(|byte| *byte == b'\n');
        let end = end.ok_or_else(|| io::Error::other("it is no value of this state"))?;
        let version = std::str::from_utf8(text.get(..end).unwrap_or_default());
        let version = StateVersion::new(version.map_err(io::Error::other)?);
        if known == Some(&version) {
            return Ok(StateReading::Unchanged);
        }
        rest.read_to_end(&mut text)?;
        let value = text.split_off(end + 1);
        fits(value.len())?;
        Ok(StateReading::Value(value, version))
    }

    /// Writes a file aside and gives it its name. Whoever calls holds the lock.
    fn put(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        const ASIDE: &str = "aside";
        self.folder.remove(ASIDE)?;
        let mut file = self.folder.create(ASIDE)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        self.folder.replace(ASIDE, name)?;
        self.folder.sync()
    }

    fn number(&self, name: &str) -> io::Result<Option<u64>> {
        let Some(file) = self.folder.read(name)? else {
            return Ok(None);
        };
        let text = io::read_to_string(file.take(32))?;
        text.trim().parse().map(Some).map_err(io::Error::other)
    }

    /// Forgets claims whose moment has passed.
    fn sweep(&self, now: u64) -> io::Result<()> {
        let _lock = self.lock()?;
        let mut over = Vec::new();
        for name in self.folder.names()? {
            if name.starts_with("c-")
                && let Some(until) = self.number(&name)?
                && until < now
            {
                over.push((name, until));
            }
        }
        let Some(latest) = over.iter().map(|(_, until)| *until).max() else {
            return Ok(());
        };
        // Before anything is forgotten, so that a crash between leaves no claim open twice.
        let latest = self.number(FORGOTTEN)?.max(Some(latest)).unwrap_or(latest);
        self.put(FORGOTTEN, latest.to_string().as_bytes())?;
        for (name, _) in over {
            self.folder.remove(&name)?;
        }
        Ok(())
    }

    fn failed(&self, what: &'static str, cause: io::Error) -> StateError {
        StateError::new(Failed {
            what,
            root: self.root.clone(),
            cause,
        })
    }
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "state in {} {}", self.root.display(), self.what)
    }
}

impl std::error::Error for Failed {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.cause)
    }
}

/// Whether a value of so many bytes can be kept.
fn fits(bytes: usize) -> io::Result<()> {
    if bytes <= MOST_BYTES {
        return Ok(());
    }
    let text = format!("a value of more than {MOST_BYTES} bytes is not kept");
    Err(io::Error::new(io::ErrorKind::FileTooLarge, text))
}

/// A file name for any key.
fn name(kind: char, key: &str) -> String {
    format!("{kind}-{}", Digest::of(key.as_bytes()).hex())
}

fn millis(moment: SystemTime) -> u64 {
    let since = moment.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
