//! The files that one log writes.

use std::io::{self, Write as _};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use super::folder_id::folder_id;
use super::measure::{Contents, Measure};
use super::{AuditOptions, names, note};
use crate::folder::Folder;
use crate::pin::lock_shared;
use crate::signal::Signal;
use crate::store_file::StoreFile;

/// How many files are kept in a folder, however small.
const MOST_FILES: usize = 1000;

/// The files of one log, of which one is written.
pub(super) struct Segments {
    folder: Arc<Folder>,
    options: AuditOptions,
    /// What the names of this log's files have and no others.
    instance: u64,
    number: u64,
    current: Option<Current>,
    /// Tells other processes that this one lives, where the file system has locks.
    _lock: StoreFile,
    /// Raised for whoever keeps an index.
    changed: Arc<Signal>,
}

struct Current {
    name: String,
    file: StoreFile,
    bytes: u64,
    /// Whether the file ends inside a line.
    torn: bool,
    /// What was written; nothing where it is not known what of it has reached the file.
    measure: Option<Measure>,
}

impl Segments {
    /// Begins the first file of a log.
    pub(super) fn begin(
        folder: Arc<Folder>,
        options: AuditOptions,
        changed: Arc<Signal>,
    ) -> io::Result<Self> {
        let instance = super::random()?;
        let lock = lock_shared(&folder, &names::lock(instance))?;
        let mut segments = Self {
            folder,
            options,
            instance,
            number: 0,
            current: None,
            _lock: lock,
            changed,
        };
        segments.begin_next()?;
        Ok(segments)
    }

    /// Begins the next file, and removes the oldest of all where there are too many.
    fn begin_next(&mut self) -> io::Result<()> {
        self.end();
        self.number += 1;
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let millis = since.map_or(0, |since| since.as_millis());
        let name = names::segment(millis, self.instance, self.number);
        self.current = Some(Current {
            file: self.folder.create(&name)?,
            name: name.clone(),
            bytes: 0,
            torn: false,
            measure: Some(Measure::default()),
        });
        self.make_room(&name)
    }

    fn make_room(&self, current: &str) -> io::Result<()> {
        let mut names = self.folder.names()?;
        // They sort by when the files were begun.
        names.sort_unstable();
        let is_older = |name: &&String| names::is_segment(name) && **name != current;
        let mut left = self.options.total_bytes.get();
        let mut removed = false;
        for (index, older) in names.iter().rev().filter(is_older).enumerate() {
            if self.folder.is_foreign(older)? {
                continue;
            }
            left = left.saturating_sub(self.folder.bytes(older)?);
            if left == 0 || index >= MOST_FILES {
                // What is gone without a word counts as taken away where there is an index.
                match folder_id(&self.folder)? {
                    None => drop(self.folder.remove(older)?),
                    Some(_) => note::removed(&self.folder, older)?,
                }
                self.folder.remove(&names::closed(older))?;
                removed = true;
            }
        }
        self.forget_notes(&names)?;
        if removed {
            self.changed.raise();
        }
        Ok(())
    }

    /// Drops the oldest notes of files that are gone where no index has taken them for long.
    fn forget_notes(&self, names: &[String]) -> io::Result<()> {
        let is_note = |name: &&String| names::of_removed(name).is_some();
        for note in names.iter().rev().filter(is_note).skip(MOST_FILES) {
            self.folder.remove(note)?;
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

    /// Writes whole lines of calls of those times. After a rest it looks whether the file is still
    /// there. Of lines that could not all be written, it tells how many bytes were.
    pub(super) fn write(
        &mut self,
        lines: &[u8],
        times: impl IntoIterator<Item = u64>,
        rested: bool,
    ) -> Result<(), (usize, io::Error)> {
        let (most, folder) = (self.options.file_bytes.get(), &self.folder);
        let goes_on = |current: &Current| {
            // Another process may have removed it to make room.
            current.bytes < most && (!rested || folder.has(&current.name).unwrap_or(false))
        };
        if !self.current.as_ref().is_some_and(goes_on) {
            self.begin_next().map_err(|error| (0, error))?;
        }
        let Some(current) = &mut self.current else {
            return Err((0, io::ErrorKind::NotFound.into()));
        };
        let is_first = current.bytes == 0;
        current.mend().map_err(|error| (0, error))?;
        current.torn = true;
        current.put(lines)?;
        current.torn = false;
        if let Some(measure) = &mut current.measure {
            times.into_iter().for_each(|time_ms| measure.saw(time_ms));
        }
        if is_first {
            self.changed.raise();
        }
        Ok(())
    }

    /// Whether anything can be written: nothing is, where the last line was.
    pub(super) fn try_out(&mut self) -> io::Result<()> {
        match &mut self.current {
            None => self.begin_next(),
            Some(current) => current.mend(),
        }
    }

    /// Ends the file that is written. The next line begins another.
    pub(super) fn end(&mut self) {
        let Some(current) = self.current.take() else {
            return;
        };
        if current.bytes == 0 && !current.torn {
            if let Err(error) = self.folder.remove(&current.name) {
                tracing::debug!(%error, "could not remove an empty file of an audit log");
            }
            return;
        }
        // Of one that another has removed to make room that has said so.
        if self.folder.has(&current.name).unwrap_or(false) {
            if let Err(error) = self.note_closed(&current) {
                tracing::debug!(%error, "could not leave a note for the index of audit logs");
            }
            self.changed.raise();
        }
    }

    /// Leaves a note for an index, also where there is none yet.
    fn note_closed(&self, current: &Current) -> io::Result<()> {
        let contents = current.contents(&self.folder)?;
        note::closed(&self.folder, &current.name, &contents)
    }
}

impl Drop for Segments {
    fn drop(&mut self) {
        self.end();
        // Before the lock is given up. What cannot be removed is removed by whoever finds that it is
        // not locked.
        let _ = self.folder.remove(&names::lock(self.instance));
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
        // Back in place once it is known that all has reached the file.
        let measure = self.measure.take();
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
        result.map_err(|error| (written, error))?;
        self.measure = measure;
        if let Some(measure) = &mut self.measure {
            measure.take(bytes);
        }
        Ok(())
    }

    /// What was written, or where a line was torn what is there.
    fn contents(&self, folder: &Folder) -> io::Result<Contents> {
        match (&self.measure, folder.read(&self.name)?) {
            (Some(measure), _) => Ok(measure.contents()),
            (None, Some(file)) => Measure::of(file),
            (None, None) => Err(io::ErrorKind::NotFound.into()),
        }
    }
}
