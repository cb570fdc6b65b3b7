//! By what an index tells one folder from another.

use std::io::{self, Read as _, Seek as _, Write as _};

use crate::folder::{Folder, of_file};
use crate::turn;

/// The id of the folder of a log; `None` where no index was ever told of it.
pub(super) fn folder_id(folder: &Folder) -> io::Result<Option<String>> {
    match folder.read(NAME).map_err(|error| of_file(NAME, error))? {
        None => Ok(None),
        Some(file) => parse(file),
    }
}

/// The id of the folder of a log, made up where there is none. It tells nothing of where it is.
pub(super) fn own_folder_id(folder: &Folder) -> io::Result<String> {
    if let Some(id) = folder_id(folder)? {
        return Ok(id);
    }
    let mut file = folder.open_or_create(NAME)?;
    // For as long as these few bytes take; where there are no locks, two that begin at the same
    // moment may count as two.
    turn::take(&file, turn::PATIENCE)?;
    if let Some(id) = parse(&file)? {
        return Ok(id);
    }
    let id = format!("{:016x}", super::random()?);
    file.rewind()?;
    file.write_all(id.as_bytes())?;
    file.sync_all()?;
    Ok(id)
}

/// Less than an id is what somebody left who was killed as it was written.
fn parse(file: impl io::Read) -> io::Result<Option<String>> {
    let mut id = Vec::new();
    let read = file.take(DIGITS + 1).read_to_end(&mut id);
    if (read.map_err(|error| of_file(NAME, error))? as u64) < DIGITS {
        return Ok(None);
    }
    let is_id = id.len() as u64 == DIGITS && id.iter().all(u8::is_ascii_hexdigit);
    let id = String::from_utf8(id).ok().filter(|_| is_id);
    id.map(Some).ok_or_else(|| {
        io::Error::other(format!(
            "its file \"{NAME}\" does not read; remove it, and the folder counts as a new one"
        ))
    })
}

const NAME: &str = ".id";
const DIGITS: u64 = 16;
