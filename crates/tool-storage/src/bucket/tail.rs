//! The end of an object, read as if it were the object.

use std::io::{self, Read, Seek, SeekFrom};

use bytes::Bytes;

use crate::bucket::Bucket;

/// An object of which only the end is here. Reading ahead of it is an error.
pub(crate) struct Tail {
    bytes: Bytes,
    start: u64,
    at: u64,
}

impl Tail {
    /// All of an object.
    pub(crate) fn whole(bytes: Bytes) -> Self {
        Self {
            bytes,
            start: 0,
            at: 0,
        }
    }

    /// The end of an object of so many bytes, in which its record is; `None` when there is none.
    pub(crate) async fn of(
        bucket: &Bucket,
        name: &str,
        len: u64,
    ) -> Result<Option<Self>, object_store::Error> {
        let start = len.saturating_sub(MOST_RECORD);
        if len == 0 {
            return Ok(Some(Self::whole(Bytes::new())));
        }
        // Nearly every record is short. Only one that names very long ids is read in two steps.
        let short = len.saturating_sub(SHORT);
        let Some(bytes) = bucket.range(name, short..len).await? else {
            return Ok(None);
        };
        let tail = Self {
            bytes,
            start: short,
            at: 0,
        };
        if tail.holds_record() || short == start {
            return Ok(Some(tail));
        }
        let bytes = bucket.range(name, start..len).await?;
        Ok(bytes.map(|bytes| Self {
            bytes,
            start,
            at: 0,
        }))
    }

    /// Whether the record is not longer than what is here. See [`crate::footer::encode`].
    fn holds_record(&self) -> bool {
        let footer = self.bytes.len().checked_sub(FOOTER);
        let len = footer.and_then(|at| self.bytes.get(at..)?.first_chunk::<8>());
        let held = footer.unwrap_or_default() as u64;
        len.is_some_and(|len| u64::from_be_bytes(*len) <= held)
    }

    fn len(&self) -> u64 {
        self.start + self.bytes.len() as u64
    }
}

impl Read for Tail {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(from) = self.at.checked_sub(self.start) else {
            return Err(io::Error::other(
                "the record is longer than a record may be",
            ));
        };
        let from = usize::try_from(from).unwrap_or(usize::MAX);
        let rest = self.bytes.get(from..).unwrap_or_default();
        let len = rest.len().min(buffer.len());
        if let (Some(to), Some(from)) = (buffer.get_mut(..len), rest.get(..len)) {
            to.copy_from_slice(from);
        }
        self.at += len as u64;
        Ok(len)
    }
}

impl Seek for Tail {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let to = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => self.len().checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        self.at = to.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}

const SHORT: u64 = 16 * 1024;
/// The longest record and its footer.
const MOST_RECORD: u64 = (1 << 20) + FOOTER as u64;
const FOOTER: usize = 48;
