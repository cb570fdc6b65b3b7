//! What is written beside an output, so that it outlives the process.

use std::io::{self, Read, Seek};

use serde::{Deserialize, Serialize};
use tool_core::{CallId, Facts, Identification, SessionId};

use crate::footer::{self, Magic, RecordError};
use crate::id::Id;

/// The record of an output. A file of the store is the output's bytes, then this as a
/// [footer](footer::encode) with the magic `toolout1`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Record {
    pub(crate) id: String,
    pub(crate) tool: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) call: Option<CallId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) session: Option<SessionId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) identity: Option<Identification>,
    /// Microseconds since 1970.
    pub(crate) created_us: u64,
    pub(crate) bytes: u64,
    pub(crate) lines: u64,
    pub(crate) digest: String,
}

impl Record {
    /// The bytes that follow the output.
    pub(crate) fn encode(&self) -> io::Result<Vec<u8>> {
        footer::encode(self, MAGIC)
    }

    /// Reads the record at the end of a file and checks that it belongs there.
    pub(crate) fn read(file: &mut (impl Read + Seek), id: Id) -> Result<Self, RecordError> {
        let (record, bytes): (Self, u64) = footer::read(file, MAGIC)?;
        if record.bytes != bytes {
            return Err(RecordError::Damaged(
                "the output is not as long as recorded",
            ));
        }
        if Id::parse(&record.id) != Some(id) {
            return Err(RecordError::Damaged("the record is another output's"));
        }
        Ok(record)
    }

    /// Whether a caller with these facts is the one whose output it is.
    ///
    /// Session and identity must both be what they were, an absent one absent: a session id may be
    /// the client's own choice, so it does not open what another identity retained under it.
    pub(crate) fn is_readable_by(&self, facts: &Facts) -> bool {
        self.session.as_ref() == facts.session_id()
            && self.identity.as_ref() == facts.identification()
    }
}

const MAGIC: &Magic = b"toolout1";
