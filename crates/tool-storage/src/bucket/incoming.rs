//! An output on its way into a bucket.

use std::sync::Arc;

use tool_core::{CallId, Facts, Retained, StoreError};

use crate::bucket::outputs::{Shared, name_of};
use crate::bucket::sweep::Room;
use crate::bucket::upload::Upload;
use crate::gauge::Hash;
use crate::id::Id;
use crate::index::Entry;
use crate::record::Record;

/// An output on its way into a bucket, with room promised. Dropped, nothing of it is seen.
pub(crate) struct Incoming {
    shared: Arc<Shared>,
    upload: Upload,
    room: Room,
    id: Id,
}

impl Incoming {
    /// Begins an output for which so many bytes of room are made.
    pub(crate) async fn begin(
        shared: &Arc<Shared>,
        facts: &Facts,
        bytes: u64,
    ) -> Result<Self, StoreError> {
        let setup = &shared.setup;
        setup.bucket.settle().await;
        let session = facts.session_id();
        if let Some(session) = session {
            let now_us = setup.clock.now_us();
            shared.lives.tell(Some(session), now_us).await;
        }
        let room = shared.make_room(bytes, 0, session).await?;
        let id = Id::mint().map_err(|cause| {
            let error = setup.bucket.wrong("could not mint an id");
            error.because(std::io::Error::other(cause))
        })?;
        Ok(Self {
            shared: Arc::clone(shared),
            upload: Upload::new(&setup.bucket, name_of(id), &setup.clock, Hash::checksum()),
            room,
            id,
        })
    }

    pub(crate) fn id(&self) -> Id {
        self.id
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.upload.bytes()
    }

    /// Writes a piece, and makes more room where the output has grown beyond what there is.
    pub(crate) async fn write(&mut self, piece: &[u8]) -> Result<(), StoreError> {
        let bytes = self.bytes() + piece.len() as u64;
        if bytes > self.room.bytes() {
            self.shared.setup.limits.check_size(bytes)?;
            self.room.grow(bytes - self.room.bytes()).await?;
        }
        let written = self.upload.write(piece).await;
        written.map_err(|cause| {
            let bucket = &self.shared.setup.bucket;
            bucket.failed("could not write an output", cause)
        })
    }

    /// Shows the output: it is not there, or it is there whole.
    pub(crate) async fn show(
        self,
        facts: &Facts,
        call: Option<&CallId>,
        tool: &str,
    ) -> Result<Retained, StoreError> {
        let shared = &self.shared;
        let bucket = &shared.setup.bucket;
        let gauge = self.upload.gauge();
        let measured = gauge.measure();
        let record = Record {
            id: self.id.to_string(),
            tool: tool.to_owned(),
            call: call.cloned(),
            session: facts.session_id().cloned(),
            identity: facts.identification().cloned(),
            created_us: shared.setup.clock.now_us(),
            bytes: measured.bytes,
            lines: measured.lines,
            digest: gauge.hash().unwrap_or_default(),
        };
        let footer = record.encode();
        let footer =
            footer.map_err(|cause| bucket.wrong("could not finish an output").because(cause))?;
        let finished = self.upload.finish(&footer).await;
        finished.map_err(|cause| bucket.failed("could not show an output", cause))?;
        // From here on nothing awaits: a dropped future has undone its object or is done.
        let retained = Retained::new(&*record.id, record.bytes, record.lines, &record.digest);
        let mut index = shared.index();
        index.insert(self.id, Entry::Whole(record));
        self.room.shown(&mut index);
        Ok(retained)
    }
}
