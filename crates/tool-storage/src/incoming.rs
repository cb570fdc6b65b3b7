//! An output on its way into a store.

use std::io;
use std::sync::Arc;

use tool_core::{CallId, Facts, Retained, StoreError};

use crate::builder::Durability;
use crate::dir_store::Shared;
use crate::gauge::Hash;
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
        let staged = Staged::create(&shared.folder, id.to_string(), Hash::checksum());
        let staged =
            staged.map_err(|cause| shared.folder.failed("could not create an output", cause))?;
        Ok(Self {
            shared: Arc::clone(shared),
            staged,
            room,
            id,
        })
    }

    pub(crate) fn id(&self) -> Id {
        self.id
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.staged.bytes()
    }

    /// Writes a piece, and makes more room where the output has grown beyond what there is.
    pub(crate) async fn write(&mut self, piece: &[u8]) -> Result<(), StoreError> {
        let bytes = self.bytes() + piece.len() as u64;
        if bytes > self.room.bytes() {
            self.shared.check_size(bytes)?;
            self.room.grow(bytes - self.room.bytes())?;
        }
        let written = self.staged.write(piece).await;
        written.map_err(|cause| {
            let folder = &self.shared.folder;
            folder.failed("could not write an output", cause)
        })
    }

    /// The last bytes so far, read back.
    pub(crate) fn tail(&mut self, len: usize) -> Result<Vec<u8>, StoreError> {
        let folder = &self.shared.folder;
        let read = self.staged.tail(len);
        read.map_err(|cause| folder.failed("could not read back an output", cause))
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
        let gauge = self.staged.gauge();
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
        let syncs = shared.setup.durability == Durability::Power;
        record
            .encode()
            .and_then(|record| self.staged.finish(&record, syncs))
            .map_err(io("could not finish an output"))?;
        let retained = Retained::new(&*record.id, record.bytes, record.lines, &record.digest);
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
