//! What an index has to be told of a file, kept beside it until it was.

use std::io::{self, Read as _, Write as _};

use super::measure::Contents;
use super::names;
use crate::folder::Folder;

/// No note has more.
const MOST_BYTES: u64 = 4096;

/// Leaves a note that a file was closed by whoever wrote it.
pub(super) fn closed(folder: &Folder, segment: &str, contents: &Contents) -> io::Result<()> {
    // What tears is no note; the file is then found as a process left it that was killed.
    let mut note = folder.create(&names::closed(segment))?;
    note.write_all(&serde_json::to_vec(contents)?)
}

/// What a file had when it was closed; `None` where there is no note that reads.
pub(super) fn read_closed(folder: &Folder, segment: &str) -> io::Result<Option<Contents>> {
    let Some(file) = folder.read(&names::closed(segment))? else {
        return Ok(None);
    };
    let mut bytes = Vec::new();
    file.take(MOST_BYTES).read_to_end(&mut bytes)?;
    Ok(serde_json::from_slice(&bytes).ok())
}

/// Makes a note of a file to say that it was removed to make room. That takes no room, and at no
/// moment is the file gone and the note not there.
pub(super) fn removed(folder: &Folder, segment: &str) -> io::Result<()> {
    let note = names::removed(segment);
    folder.replace(segment, &note)?;
    folder.open_or_create(&note)?.set_len(0)
}

pub(super) fn is_removed(folder: &Folder, segment: &str) -> io::Result<bool> {
    folder.has(&names::removed(segment))
}
