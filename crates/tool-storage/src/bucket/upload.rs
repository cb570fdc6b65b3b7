//! An object on its way into a bucket.

use object_store::multipart::PartId;
use object_store::{MultipartUpload, ObjectStoreExt as _, PutMode};

use crate::bucket::Bucket;
use crate::bucket::abandoned::{Note, Undone};
use crate::clock::Clock;
use crate::gauge::{Gauge, Hash};
use crate::staged::pause;

/// An object that is written piece by piece and seen when it is finished. Dropped before that, it
/// is undone with the next write or sweep.
///
/// It holds one part at most beside the one that is being sent, whatever the object's
/// size. What fits into one part is put in one request.
pub(crate) struct Upload {
    bucket: Bucket,
    name: String,
    clock: Clock,
    buffer: Vec<u8>,
    gauge: Gauge,
    sent: Sent,
    /// Whether the request that shows the object may have reached the store.
    may_show: bool,
    is_over: bool,
}

/// The parts that were sent.
enum Sent {
    Nothing,
    Parts { note: Note, done: Vec<PartId> },
    Own(Box<dyn MultipartUpload>),
}

impl Upload {
    /// Begins an object that shall have this name. Nothing is sent yet.
    pub(crate) fn new(bucket: &Bucket, name: String, clock: &Clock, hash: Hash) -> Self {
        Self {
            bucket: bucket.clone(),
            name,
            clock: clock.clone(),
            buffer: Vec::new(),
            gauge: Gauge::new(hash),
            sent: Sent::Nothing,
            may_show: false,
            is_over: false,
        }
    }

    /// The bytes so far.
    pub(crate) fn bytes(&self) -> u64 {
        self.gauge.bytes()
    }

    /// What was measured so far.
    pub(crate) fn gauge(&self) -> &Gauge {
        &self.gauge
    }

    /// Writes on, and lets the executor run something else after each 128 KiB.
    pub(crate) async fn write(&mut self, bytes: &[u8]) -> Result<(), object_store::Error> {
        for chunk in bytes.chunks(CHUNK) {
            self.gauge.take(chunk);
            self.push(chunk).await?;
            if chunk.len() == CHUNK {
                pause().await;
            }
        }
        Ok(())
    }

    /// Writes what follows the data, and shows the object. On an error nothing is seen of it, as
    /// far as the store can still be reached.
    pub(crate) async fn finish(mut self, record: &[u8]) -> Result<(), object_store::Error> {
        let finished = self.show(record).await;
        let bucket = self.bucket.clone();
        if let Err(error) = finished {
            drop(self);
            bucket.settle().await;
            return Err(error);
        }
        // A note that stays says of an upload that it is under way; the sweep finds its object.
        if let Sent::Parts { note, .. } = &self.sent {
            note.remove(&bucket).await;
        }
        // Whoever stops waiting before this never learns of the object, so that it is undone.
        self.is_over = true;
        Ok(())
    }

    async fn show(&mut self, record: &[u8]) -> Result<(), object_store::Error> {
        self.push(record).await?;
        let last = std::mem::take(&mut self.buffer);
        let path = self.bucket.path(&self.name);
        match &mut self.sent {
            Sent::Nothing => {
                self.may_show = true;
                self.bucket.put(&self.name, last, PutMode::Create).await?;
            }
            Sent::Own(upload) => {
                upload.put_part(last.into()).await?;
                self.may_show = true;
                upload.complete().await?;
            }
            Sent::Parts { note, done } => {
                let Some(parts) = self.bucket.parts() else {
                    return Ok(());
                };
                let id = note.upload();
                let part = parts.put_part(&path, id, done.len(), last.into()).await?;
                done.push(part);
                self.may_show = true;
                let done = std::mem::take(done);
                parts.complete_multipart(&path, id, done).await?;
            }
        }
        Ok(())
    }

    async fn push(&mut self, mut bytes: &[u8]) -> Result<(), object_store::Error> {
        let most = self.bucket.part();
        while !bytes.is_empty() {
            if self.buffer.len() == most {
                self.send().await?;
            }
            let len = bytes.len().min(most - self.buffer.len());
            let (now, later) = bytes.split_at(len);
            self.buffer.extend_from_slice(now);
            bytes = later;
        }
        Ok(())
    }

    /// Sends a full part. All parts but the last have the same length, as some stores demand.
    async fn send(&mut self) -> Result<(), object_store::Error> {
        if matches!(self.sent, Sent::Nothing) {
            self.begin().await?;
        }
        let part = std::mem::take(&mut self.buffer);
        match &mut self.sent {
            Sent::Nothing => Ok(()),
            Sent::Own(upload) => upload.put_part(part.into()).await,
            Sent::Parts { note, done } => {
                note.renew(&self.bucket, &self.name, &self.clock).await?;
                if let Some(parts) = self.bucket.parts() {
                    let path = self.bucket.path(&self.name);
                    let id = note.upload();
                    let sent = parts.put_part(&path, id, done.len(), part.into());
                    done.push(sent.await?);
                }
                Ok(())
            }
        }
    }

    async fn begin(&mut self) -> Result<(), object_store::Error> {
        let path = self.bucket.path(&self.name);
        let Some(parts) = self.bucket.parts() else {
            self.sent = Sent::Own(self.bucket.objects().put_multipart(&path).await?);
            return Ok(());
        };
        let id = parts.create_multipart(&path).await?;
        // It is known from here on, and its note is written before its first part is sent.
        self.sent = Sent::Parts {
            note: Note::new(&self.name, id),
            done: Vec::new(),
        };
        Ok(())
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        let abandoned = self.bucket.abandoned();
        match std::mem::replace(&mut self.sent, Sent::Nothing) {
            Sent::Nothing => {}
            Sent::Own(upload) => abandoned.add(Undone::Own(upload)),
            Sent::Parts { note, .. } => {
                let name = self.name.clone();
                abandoned.add(Undone::Upload { name, note });
            }
        }
        if self.may_show {
            abandoned.add(Undone::Object(self.name.clone()));
        }
    }
}

const CHUNK: usize = 128 * 1024;
