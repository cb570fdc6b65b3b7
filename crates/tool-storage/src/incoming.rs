//! An output on its way into a store.

use std::io;
use std::sync::Arc;

use tool_core::{CallId, Facts, Retained, StoreError};

use crate::builder::Durability;
use crate::dir_store::{Shared, pause};
use crate::id::Id;
use crate::index::Entry;
use crate::record::Record;
use crate::staged::Staged;
use crate::sweep::Room;

/// An output on its way into a store: aside, with room promised. Dropped, nothing of it is left.
pub(crate) struct Incoming {
    shared: Arc<Shared>,
    staged: Staged,
    room: Room,
    id: Id,
    bytes: u64,
    since_pause: usize,
}

impl Incoming {
    /// Begins an output for which so many bytes of room are made.
    pub(crate) fn begin(
        shared: &Arc<Shared>,
        facts: &Facts,
        bytes: u64,
    ) -> Result<Self, StoreError> {
        let room = shared.make_room(bytes, facts.session_id())?;
        let id = Id::mint().map_err(|cause| {
            let cause = io::Error::other(cause);
            shared.folder.failed("could not mint an id", cause)
        })?;
        let staged = Staged::create(&shared.folder, id.to_string());
        let staged =
            staged.map_err(|cause| shared.folder.failed("could not create an output", cause))?;
        Ok(Self {
            shared: Arc::clone(shared),
            staged,
            room,
            id,
            bytes: 0,
            since_pause: 0,
        })
    }

    pub(crate) fn id(&self) -> Id {
        self.id
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Writes a piece, and makes more room where the output has grown beyond what there is.
    pub(crate) async fn write(&mut self, piece: &[u8]) -> Result<(), StoreError> {
        for chunk in piece.chunks(CHUNK) {
            let bytes = self.bytes + chunk.len() as u64;
            if bytes > self.room.bytes() {
                self.shared.check_size(bytes)?;
                self.room
                    .grow((bytes - self.room.bytes()).max(
                        STEP.min(self.shared.setup.limits.output_bytes() - self.room.bytes()),
                    ))?;
            }
            self.staged.write(chunk).map_err(|cause| {
                self.shared
                    .folder
                    .failed("could not write an output", cause)
            })?;
            self.bytes = bytes;
            self.since_pause += chunk.len();
            if self.since_pause >= CHUNK {
                self.since_pause = 0;
                pause().await;
            }
        }
        Ok(())
    }

    /// Shows the output. Nothing awaits here: it is not there, or it is there whole.
    pub(crate) fn show(
        mut self,
        facts: &Facts,
        call: Option<&CallId>,
        tool: &str,
    ) -> Result<Retained, StoreError> {
        let shared = &self.shared;
        let io = |what: &'static str| move |cause| shared.folder.failed(what, cause);
        let measured = self.staged.measure();
        let record = Record {
            id: self.id.to_string(),
            tool: tool.to_owned(),
            call: call.cloned(),
            session: facts.session_id().cloned(),
            identity: facts.identification().cloned(),
            created_us: shared.setup.clock.now_us(),
            bytes: measured.bytes,
            lines: measured.lines,
            digest: measured.digest.to_string(),
        };
        let syncs = shared.setup.durability == Durability::Power;
        record
            .encode()
            .and_then(|record| self.staged.finish(&record, syncs))
            .map_err(io("could not finish an output"))?;
        let retained = Retained::new(&*record.id, record.bytes, record.lines, measured.digest);
        {
            // Under the lock, so that nobody finds the file and counts it beside its reservation.
            let mut index = shared.index();
            self.staged
                .publish()
                .map_err(io("could not show an output"))?;
            index.insert(self.id, Entry::Whole(record));
            index.release(self.room.keep());
        }
        if syncs && let Err(cause) = shared.folder.sync() {
            let removed = shared.discard(&mut shared.index(), self.id, None);
            removed.map_err(io("could not remove an output"))?;
            return Err(io("could not sync its directory")(cause));
        }
        Ok(retained)
    }
}

/// How much is written between two pauses.
const CHUNK: usize = 128 * 1024;
/// How much room is made at a time for an output whose length nobody knows.
const STEP: u64 = 1 << 20;
