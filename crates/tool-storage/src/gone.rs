//! What became of outputs that are no longer kept.

use std::fmt;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::sync::Arc;

use crate::folder::Folder;
use crate::id::Id;

/// Why an output is no longer kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Left {
    /// It had its time.
    Expired,
    /// It left to make room.
    Evicted,
    /// Its session ended.
    Ended,
    /// An operator removed it.
    Removed,
}

/// Remembers why outputs left, so that an operator who looks for one is told. A file of lines that
/// are appended: the id and a letter. A line that is lost costs an answer and nothing else.
#[derive(Debug)]
pub(crate) struct Gone {
    folder: Arc<Folder>,
}

impl Gone {
    pub(crate) fn new(folder: Arc<Folder>) -> Self {
        Self { folder }
    }

    pub(crate) fn note(&self, id: Id, left: Left) {
        let noted = self.folder.append(NAME).and_then(|mut file| {
            // One write, so that lines of several processes do not mix.
            file.write_all(format!("{id} {}\n", left.letter()).as_bytes())
        });
        if let Err(error) = noted {
            tracing::debug!(%id, %error, "could not note why an output left");
        }
    }

    /// Why an output left. `None` when that is not known.
    pub(crate) fn find(&self, id: Id) -> Option<Left> {
        let mut noted = Vec::new();
        let mut file = self.folder.read(NAME).ok()??;
        file.read_to_end(&mut noted).ok()?;
        let sought = id.to_string();
        // A line that is no text, as a crash or a stranger leaves one, hides no other.
        noted.rsplit(|byte| *byte == b'\n').find_map(|line| {
            let letter = line.strip_prefix(sought.as_bytes())?.strip_prefix(b" ")?;
            Left::of(letter)
        })
    }

    /// Forgets the older half where there are too many.
    pub(crate) fn sweep(&self) -> io::Result<()> {
        // Of a process that died in here.
        self.folder.remove(ASIDE)?;
        let Some(mut file) = self.folder.read(NAME)? else {
            return Ok(());
        };
        if file.seek(SeekFrom::End(0))? <= MOST_BYTES {
            return Ok(());
        }
        let mut newer = Vec::new();
        file.seek(SeekFrom::End(-(MOST_BYTES as i64 / 2)))?;
        file.read_to_end(&mut newer)?;
        // The first line may be cut.
        let first = memchr::memchr(b'\n', &newer).map_or(newer.len(), |newline| newline + 1);
        let whole = newer.get(first..).unwrap_or_default();
        self.folder.create(ASIDE)?.write_all(whole)?;
        self.folder.replace(ASIDE, NAME)
    }
}

impl Left {
    pub(crate) fn letter(self) -> char {
        match self {
            Self::Expired => 'e',
            Self::Evicted => 'q',
            Self::Ended => 's',
            Self::Removed => 'r',
        }
    }

    pub(crate) fn of(letter: &[u8]) -> Option<Self> {
        Some(match letter {
            b"e" => Self::Expired,
            b"q" => Self::Evicted,
            b"s" => Self::Ended,
            b"r" => Self::Removed,
            _ => return None,
        })
    }
}

impl fmt::Display for Left {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Expired => "has expired",
            Self::Evicted => "left to make room for later ones",
            Self::Ended => "left with the end of its session",
            Self::Removed => "was removed",
        })
    }
}

const NAME: &str = ".gone";
const ASIDE: &str = ".gone-new";
/// Some 45,000 outputs.
const MOST_BYTES: u64 = 1 << 20;
