//! The files of a log.

use std::io::{self, Write as _};
use std::time::{SystemTime, UNIX_EPOCH};

use tool_core::StoreError;

use super::AuditOptions;
use crate::folder::{Folder, is_linked};
use crate::store_file::StoreFile;

/// How many files are kept in a folder, however small.
const MOST_FILES: usize = 1000;
const BEGINS: &str = "audit-";
const ENDS: &str = ".jsonl";

/// The files of one log, of which one is written.
pub(super) struct Files {
    folder: Folder,
    options: AuditOptions,
    /// What the names of this log's files have and no others.
    random: u32,
    number: u64,
    current: Option<Current>,
}

struct Current {
    file: StoreFile,
    bytes: u64,
    /// Whether the file ends inside a line.
    torn: bool,
}

impl Files {
    /// Begins the first file of a log of its own.
    pub(super) fn begun(folder: Folder, options: AuditOptions) -> Result<Self, StoreError> {
        let mut files = Self {
            random: 0,
            number: 0,
            current: None,
            options,
            folder,
        };
        let begun = random().and_then(|random| {
            files.random = random;
            files.begin()
        });
        match begun {
            Ok(()) => Ok(files),
            Err(cause) => Err(files.folder.failed("could not take an audit log", cause)),
        }
    }

    /// Begins the next file, and removes the oldest of all where there are too many.
    fn begin(&mut self) -> io::Result<()> {
        self.number += 1;
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let millis = since.map_or(0, |since| since.as_millis());
        let (random, number) = (self.random, self.number);
        let name = format!("{BEGINS}{millis:014}-{random:08x}-{number:06}{ENDS}");
        self.current = Some(Current {
            file: self.folder.create(&name)?,
            bytes: 0,
            torn: false,
        });
        let mut names = self.folder.names()?;
        names.retain(|name| name.starts_with(BEGINS) && name.ends_with(ENDS));
        names.sort_unstable();
        // The names sort by when the files were begun.
        let mut left = self.options.total_bytes.get();
        let older = names.iter().rev().filter(|other| **other != name);
        for (index, older) in older.enumerate() {
            left = left.saturating_sub(self.folder.bytes(older)?);
            if left == 0 || index >= MOST_FILES {
                self.folder.remove(older)?;
            }
        }
        Ok(())
    }

    /// How many bytes of lines may be begun before the next file is.
    pub(super) fn room(&self) -> u64 {
        let most = self.options.file_bytes.get();
        match &self.current {
            Some(current) if current.bytes < most => most - current.bytes,
            // The next one is begun ahead of them.
            _ => most,
        }
    }

    /// Writes whole lines. After a rest it looks whether the file is still there. Of lines that could
    /// not all be written, it tells how many bytes were.
    pub(super) fn write(&mut self, lines: &[u8], rested: bool) -> Result<(), (usize, io::Error)> {
        let most = self.options.file_bytes.get();
        let goes_on = |current: &Current| {
            // Another process may have removed it to make room.
            current.bytes < most && (!rested || is_linked(&current.file).unwrap_or(false))
        };
        if !self.current.as_ref().is_some_and(goes_on) {
            self.current = None;
            self.begin().map_err(|error| (0, error))?;
        }
        let Some(current) = &mut self.current else {
            return Err((0, io::ErrorKind::NotFound.into()));
        };
        current.mend().map_err(|error| (0, error))?;
        current.torn = true;
        current.put(lines)?;
        current.torn = false;
        Ok(())
    }

    /// Whether anything can be written: nothing is, where the last line was.
    pub(super) fn try_out(&mut self) -> io::Result<()> {
        match &mut self.current {
            None => self.begin(),
            Some(current) => current.mend(),
        }
    }
}

impl Current {
    /// Ends a line that was begun and could not be written to its end.
    fn mend(&mut self) -> io::Result<()> {
        if self.torn {
            self.put(b"\n").map_err(|(_, error)| error)?;
            self.torn = false;
        }
        Ok(())
    }

    fn put(&mut self, bytes: &[u8]) -> Result<(), (usize, io::Error)> {
        let mut written = 0;
        let result = loop {
            match bytes.get(written..) {
                None | Some([]) => break Ok(()),
                Some(left) => match self.file.write(left) {
                    Ok(0) => break Err(io::ErrorKind::WriteZero.into()),
                    Ok(some) => written += some,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => break Err(error),
                },
            }
        };
        self.bytes += written as u64;
        result.map_err(|error| (written, error))
    }
}

fn random() -> io::Result<u32> {
    let mut random = [0; 4];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    Ok(u32::from_be_bytes(random))
}
