//! A file of a store.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Deref;

use crate::faults::{Faults, Op};

/// A file of a store. What it does to the disk can be made to fail.
#[derive(Debug)]
pub(crate) struct StoreFile {
    file: File,
    faults: Faults,
}

impl StoreFile {
    pub(crate) fn new(file: File, faults: Faults) -> Self {
        Self { file, faults }
    }

    /// Asks the file system for room from a place on, beyond the end of the file too, so that it is
    /// found in few large pieces. Most can do that, and one that cannot finds it while it is written.
    #[cfg_attr(
        not(target_os = "linux"),
        expect(
            unused_variables,
            clippy::unused_self,
            reason = "there is no such call"
        )
    )]
    pub(crate) fn reserve(&self, from: u64, bytes: u64) {
        #[cfg(target_os = "linux")]
        if let Err(error) = rustix::fs::fallocate(
            &self.file,
            rustix::fs::FallocateFlags::KEEP_SIZE,
            from,
            bytes,
        ) {
            tracing::trace!(%error, "no room was reserved");
        }
    }

    /// Gives back what was reserved beyond the end.
    pub(crate) fn release(&self) -> io::Result<()> {
        let bytes = self.file.metadata()?.len();
        self.file.set_len(bytes)
    }

    /// Waits until what was written would survive a power cut.
    pub(crate) fn sync_all(&self) -> io::Result<()> {
        self.faults.check(Op::Sync)?;
        self.file.sync_all()
    }
}

impl Deref for StoreFile {
    type Target = File;

    fn deref(&self) -> &File {
        &self.file
    }
}

impl Read for &StoreFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.faults.check(Op::Read)?;
        (&self.file).read(buffer)
    }
}

impl Read for StoreFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        (&*self).read(buffer)
    }
}

impl Write for &StoreFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Err(fault) = self.faults.check(Op::Write) {
            // A disk that fails in the middle has written the beginning.
            let half = bytes.get(..bytes.len() / 2).unwrap_or_default();
            (&self.file).write_all(half)?;
            return Err(fault);
        }
        (&self.file).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        (&self.file).flush()
    }
}

impl Write for StoreFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (&*self).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        (&*self).flush()
    }
}

impl Seek for &StoreFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        (&self.file).seek(to)
    }
}

impl Seek for StoreFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        (&*self).seek(to)
    }
}
