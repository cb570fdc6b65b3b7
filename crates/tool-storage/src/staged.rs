//! A file on its way into a store.

use std::future::poll_fn;
use std::io::{self, BufWriter, Read as _, Seek as _, SeekFrom, Write};
use std::sync::Arc;
use std::task::Poll;

use crate::folder::{Folder, is_linked};
use crate::gauge::{Gauge, Hash};
use crate::id::Id;
use crate::store_file::StoreFile;
use crate::turn;

/// A file that is written aside. Dropped before it is published, it is removed.
///
/// Its file is locked for as long as it is written, so that a sweep, also another process's, tells
/// a write in progress from one that died: a lock dies with its process.
pub(crate) struct Staged {
    folder: Arc<Folder>,
    name: String,
    out: BufWriter<StoreFile>,
    gauge: Gauge,
    since_pause: usize,
    /// Up to where room was reserved on the disk.
    reserved: u64,
    is_published: bool,
}

impl Staged {
    /// Begins a file that shall have this name.
    pub(crate) fn create(
        folder: &Arc<Folder>,
        name: impl Into<String>,
        hash: Hash,
    ) -> io::Result<Self> {
        let name = name.into();
        let file = create_locked(folder, &staged_name(&name))?;
        Ok(Self {
            folder: Arc::clone(folder),
            name,
            out: BufWriter::with_capacity(BUFFER, file),
            gauge: Gauge::new(hash),
            since_pause: 0,
            reserved: 0,
            is_published: false,
        })
    }

    /// Writes on, and lets the executor run something else after each 128 KiB, however long or short
    /// the pieces are.
    pub(crate) async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        for chunk in bytes.chunks(CHUNK) {
            self.write_now(chunk)?;
            self.since_pause += chunk.len();
            if self.since_pause >= CHUNK {
                self.since_pause = 0;
                pause().await;
            }
        }
        Ok(())
    }

    /// The bytes so far.
    pub(crate) fn bytes(&self) -> u64 {
        self.gauge.bytes()
    }

    fn write_now(&mut self, bytes: &[u8]) -> io::Result<()> {
        let (start, end) = (self.bytes(), self.bytes() + bytes.len() as u64);
        if end > self.reserved.max(UNRESERVED) {
            self.out.get_ref().reserve(start, RESERVED);
            self.reserved = start + RESERVED;
        }
        self.out.write_all(bytes)?;
        self.gauge.take(bytes);
        Ok(())
    }

    /// What was measured so far.
    pub(crate) fn gauge(&self) -> &Gauge {
        &self.gauge
    }

    /// The last bytes so far, read back: so many of them, or all there are.
    pub(crate) fn tail(&mut self, len: usize) -> io::Result<Vec<u8>> {
        self.out.flush()?;
        let len = self.bytes().min(len as u64);
        let mut tail = Vec::with_capacity(usize::try_from(len).unwrap_or_default());
        let mut file = self.out.get_ref();
        file.seek(SeekFrom::Start(self.bytes() - len))?;
        file.take(len).read_to_end(&mut tail)?;
        file.seek(SeekFrom::End(0))?;
        match tail.len() as u64 == len {
            true => Ok(tail),
            false => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    /// Writes what follows the output, after which the file is whole.
    pub(crate) fn finish(&mut self, record: &[u8], sync: bool) -> io::Result<()> {
        self.out.write_all(record)?;
        self.out.flush()?;
        if self.reserved > 0 {
            self.out.get_ref().release()?;
        }
        if sync {
            self.out.get_ref().sync_all()?;
        }
        Ok(())
    }

    /// Shows the finished file under its own name.
    pub(crate) fn publish(mut self) -> io::Result<()> {
        self.folder.publish(&staged_name(&self.name), &self.name)?;
        self.is_published = true;
        Ok(())
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        if !self.is_published
            && let Err(error) = self.folder.remove(&staged_name(&self.name))
        {
            // The next sweep tries again.
            tracing::warn!(name = self.name, %error, "could not remove an unfinished file");
        }
    }
}

/// Whether a file of that name is, or was, an output on its way into a store.
pub(crate) fn is_staged_name(name: &str) -> bool {
    aside(name).and_then(Id::parse).is_some()
}

/// The name that a file of that name was to have.
pub(crate) fn aside(name: &str) -> Option<&str> {
    name.strip_prefix(PREFIX)
}

fn staged_name(name: &str) -> String {
    format!("{PREFIX}{name}")
}

/// Creates a file and locks it, again where a sweep came in between and removed it.
fn create_locked(folder: &Folder, name: &str) -> io::Result<StoreFile> {
    for _ in 0..ATTEMPTS {
        let file = folder.create(name)?;
        if let Err(error) = turn::take(&file, turn::MOMENT) {
            folder.remove(name)?;
            return Err(error);
        }
        if is_linked(&file)? {
            return Ok(file);
        }
    }
    Err(io::Error::other("every new file was removed by a sweep"))
}

/// Lets the executor run something else, whichever executor it is.
pub(crate) async fn pause() {
    let mut has_paused = false;
    poll_fn(|cx| {
        if has_paused {
            return Poll::Ready(());
        }
        has_paused = true;
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

const PREFIX: &str = ".new-";
const BUFFER: usize = 64 * 1024;
/// How much is written between two pauses.
const CHUNK: usize = 128 * 1024;
/// How much is written before room is reserved, and how much is reserved at once. Without, room is
/// looked for page by page: that was a fifth of the time that storing a GiB took on ext4.
const UNRESERVED: u64 = 4 << 20;
const RESERVED: u64 = 16 << 20;
const ATTEMPTS: usize = 8;

#[cfg(test)]
mod tests;
