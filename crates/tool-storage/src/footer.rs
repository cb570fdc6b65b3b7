//! How a record ends a file.

use std::io::{self, Read, Seek, SeekFrom};

use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};
use thiserror::Error;

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

/// Eight bytes that say what a file is. A record of another format has other magic.
pub(crate) type Magic = [u8; 8];

/// The bytes that follow the data of a file: the record as JSON, its length (8 bytes, big-endian),
/// its SHA-256 (32 bytes) and the magic.
///
/// So the data begins at 0, a record can be written when the data is through, one rename shows both
/// and one removal takes both.
pub(crate) fn encode(record: &impl Serialize, magic: &Magic) -> io::Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec(record)?;
    if bytes.len() as u64 > MAX_JSON {
        return Err(io::Error::other(
            "the ids of the call are too long to record",
        ));
    }
    let hash = Sha256::digest(&bytes);
    let len = bytes.len() as u64;
    bytes.extend_from_slice(&len.to_be_bytes());
    bytes.extend_from_slice(&hash);
    bytes.extend_from_slice(magic);
    Ok(bytes)
}

/// Reads the record at the end of a file, and how many bytes of data stand before it.
pub(crate) fn read<R: DeserializeOwned>(
    file: &mut (impl Read + Seek),
    magic: &Magic,
) -> Result<(R, u64), RecordError> {
    let file_len = file.seek(SeekFrom::End(0)).map_err(RecordError::Read)?;
    let json_end = file_len
        .checked_sub(FOOTER)
        .ok_or(RecordError::Damaged("the file is too short for a record"))?;
    let footer: [u8; FOOTER as usize] = read_at(file, json_end)?;
    let Some((len, rest)) = footer.split_first_chunk::<8>() else {
        return Err(RecordError::Damaged("the footer is too short"));
    };
    let Some(hash) = rest.strip_suffix(magic) else {
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
    let record = serde_json::from_slice(&json).map_err(RecordError::Json)?;
    Ok((record, json_start))
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

const FOOTER: u64 = 48;
/// Far above any honest record, so that a damaged length cannot make a reader allocate much.
const MAX_JSON: u64 = 1 << 20;
