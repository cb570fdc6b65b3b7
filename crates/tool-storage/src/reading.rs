//! Reading an output back.

use std::io::{self, Read as _, Seek as _, SeekFrom};

use tool_core::{OutputPage, PageRequest, StoreError, StoreErrorKind};

use crate::dir_store::{DirStore, Shared};
use crate::footer::RecordError;
use crate::gone::Left;
use crate::id::Id;
use crate::index::Entry;
use crate::page::Window;
use crate::record::Record;

impl DirStore {
    pub(crate) fn read(&self, request: &PageRequest<'_>) -> Result<OutputPage, StoreError> {
        let shared = &*self.shared;
        let id = Id::parse(request.id).ok_or_else(not_an_id)?;
        let io = |cause| {
            let what = format!("could not read output {id}");
            shared.folder.failed(&what, cause)
        };
        let mut file = shared
            .folder
            .read(&id.to_string())
            .map_err(io)?
            .ok_or_else(|| shared.unknown(id))?;
        let record = Record::read(&mut file, id).map_err(|error| match error {
            RecordError::Read(cause) => io(cause),
            damage => {
                let detail = format!("output {id} is damaged");
                StoreError::new(StoreErrorKind::Io, detail).because(damage)
            }
        })?;
        if request
            .facts
            .is_some_and(|facts| !record.is_readable_by(facts))
        {
            return Err(not_found(format!("output {id} is another caller's")));
        }
        let total = record.bytes;
        let entry = Entry::Whole(record);
        if shared.has_expired(&entry, shared.setup.clock.now_us()) {
            if let Err(error) = shared.discard(&mut shared.index(), id, Some(Left::Expired)) {
                tracing::warn!(%id, %error, "could not remove an expired output");
            }
            return Err(not_found(format!("output {id} has expired")));
        }

        let window = Window::of(request, total);
        let range = window.range();
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(range.start)).map_err(io)?;
        file.take(range.end - range.start)
            .read_to_end(&mut bytes)
            .map_err(io)?;
        let page = window.page(bytes);
        page.ok_or_else(|| io(io::ErrorKind::UnexpectedEof.into()))
    }
}

pub(crate) fn not_found(detail: String) -> StoreError {
    StoreError::new(StoreErrorKind::NotFound, detail)
}

impl Shared {
    /// An output that is not there, and what became of it where that is known.
    pub(crate) fn unknown(&self, id: Id) -> StoreError {
        absent(id, self.gone.find(id))
    }
}

/// An output that is not there, and why it left where that is known.
pub(crate) fn absent(id: Id, left: Option<Left>) -> StoreError {
    not_found(match left {
        Some(left) => format!("output {id} {left}"),
        None => format!("output {id} is unknown or no longer kept"),
    })
}

/// The text is not repeated: it may be anything that a model came up with.
pub(crate) fn not_an_id() -> StoreError {
    not_found("what was asked for is no id of an output".to_owned())
}
