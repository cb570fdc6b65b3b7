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
    let note = names::closed(segment);
    if folder.is_foreign(&note)? {
        return Ok(None);
    }
    let Some(file) = folder.read(&note)? else {
        return Ok(None);
    };
    let mut bytes = Vec::new();
    file.take(MOST_BYTES).read_to_end(&mut bytes)?;
    Ok(serde_json::from_slice(&bytes).ok())
}

/// Makes a note of a file to say that it was removed to make room. That takes no room, and at no
/// moment is the file gone and the note not there. Another that makes room may be faster, and leaves
/// the note then.
pub(super) fn removed(folder: &Folder, segment: &str) -> io::Result<()> {
    let note = names::removed(segment);
    match folder.replace(segment, &note) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        replaced => replaced?,
    }
    folder.open_or_create(&note)?.set_len(0)
}

pub(super) fn is_removed(folder: &Folder, segment: &str) -> io::Result<bool> {
    folder.has(&names::removed(segment))
}

#[cfg(test)]
mod tests {
    use super::{is_removed, removed};
    use crate::faults::Faults;
    use crate::folder::Folder;

    #[test]
    fn a_file_that_another_removed_to_make_room_is_no_error() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::open(dir.path(), Faults::default()).unwrap();
        drop(folder.create("audit-1-0-1.jsonl").unwrap());
        for _ in 0..2 {
            removed(&folder, "audit-1-0-1.jsonl").unwrap();
            assert!(is_removed(&folder, "audit-1-0-1.jsonl").unwrap());
        }
        removed(&folder, "audit-2-0-1.jsonl").unwrap();
        assert!(!is_removed(&folder, "audit-2-0-1.jsonl").unwrap());
    }
}
