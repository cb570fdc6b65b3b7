//! What is written beside an output, so that it outlives the process.

use std::io::{self, Read, Seek, SeekFrom};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use thiserror::Error;
use tool_core::{CallId, Facts, Identification, SessionId};

use crate::id::Id;

/// The record of an output.
///
/// A file of the store is the output's bytes, then its record as JSON, then a footer of 48 bytes:
/// the length of the JSON (8 bytes, big-endian), its SHA-256 (32 bytes) and `toolout1`. So the
/// bytes begin at 0, a record can be written when the bytes are through, one rename shows both and
/// one removal takes both.
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

/// A record that does not read.
#[derive(Debug, Error)]
pub(crate) enum RecordError {
    #[error("the file could not be read")]
    Read(#[source] io::Error),
    #[error("{0}")]
    Damaged(&'static str),
    #[error("the record is no record of this format")]
    Json(#[source] serde_json::Error),
}

impl Record {
    /// The bytes that follow the output.
    pub(crate) fn encode(&self) -> io::Result<Vec<u8>> {
        let mut bytes = serde_json::to_vec(self)?;
        if bytes.len() as u64 > MAX_JSON {
            return Err(io::Error::other(
                "the ids of the call are too long to record",
            ));
        }
        let hash = Sha256::digest(&bytes);
        let len = bytes.len() as u64;
        bytes.extend_from_slice(&len.to_be_bytes());
        bytes.extend_from_slice(&hash);
        bytes.extend_from_slice(MAGIC);
        Ok(bytes)
    }

    /// Reads the record at the end of a file and checks that it belongs there.
    pub(crate) fn read(file: &mut (impl Read + Seek), id: Id) -> Result<Self, RecordError> {
        let file_len = file.seek(SeekFrom::End(0)).map_err(RecordError::Read)?;
        let json_end = file_len
            .checked_sub(FOOTER)
            .ok_or(RecordError::Damaged("the file is too short for a record"))?;
        let footer: [u8; FOOTER as usize] = read_at(file, json_end)?;
        let Some((len, rest)) = footer.split_first_chunk::<8>() else {
            return Err(RecordError::Damaged("the footer is too short"));
        };
        let Some(hash) = rest.strip_suffix(MAGIC) else {
            return Err(RecordError::Damaged("the file does not end in a record"));
        };
        let len = u64::from_be_bytes(*len);
        let json_start = json_end
            .checked_sub(len)
            .filter(|_| len <= MAX_JSON)
            .ok_or(RecordError::Damaged("the length of the record is wrong"))?;
        file.seek(SeekFrom::Start(json_start))
            .map_err(RecordError::Read)?;
        let mut json = Vec::new();
        file.by_ref()
            .take(len)
            .read_to_end(&mut json)
            .map_err(RecordError::Read)?;
        if *Sha256::digest(&json) != *hash {
            return Err(RecordError::Damaged("the record was changed"));
        }
        let record: Self = serde_json::from_slice(&json).map_err(RecordError::Json)?;
        if record.bytes != json_start {
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

fn read_at<const N: usize>(
    file: &mut (impl Read + Seek),
    offset: u64,
) -> Result<[u8; N], RecordError> {
    let mut bytes = [0; N];
    file.seek(SeekFrom::Start(offset))
        .and_then(|_| file.read_exact(&mut bytes))
        .map_err(RecordError::Read)?;
    Ok(bytes)
}

/// A record of another format has other magic.
const MAGIC: &[u8; 8] = b"toolout1";
const FOOTER: u64 = 48;
/// Far above any honest record, so that a damaged length cannot make a reader allocate much.
const MAX_JSON: u64 = 1 << 20;
