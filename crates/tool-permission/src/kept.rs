//! What a state keeps: documents with a version, and times in milliseconds.

use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::ApprovalsError;

/// The version of every document that is written here.
pub(crate) const VERSION: u32 = 1;

/// How often a change is tried. Each failed attempt is somebody else's success.
pub(crate) const MOST_ATTEMPTS: usize = 256;

#[derive(Deserialize)]
struct Versioned {
    version: u32,
}

/// Reads a document, once its version is known to be this one.
pub(crate) fn document<T: DeserializeOwned>(text: &[u8]) -> Result<T, ApprovalsError> {
    let versioned: Versioned = serde_json::from_slice(text).map_err(ApprovalsError::Form)?;
    match versioned.version {
        VERSION => serde_json::from_slice(text).map_err(ApprovalsError::Form),
        other => Err(ApprovalsError::Version(other)),
    }
}

/// A time in whole milliseconds, the largest number where it is longer.
pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// Writes a time that may be missing in milliseconds.
pub(crate) fn serialize<S: Serializer>(
    lasts: &Option<Duration>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    lasts.map(millis).serialize(serializer)
}

/// Reads a time that may be missing, in milliseconds.
pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Duration>, D::Error> {
    let millis = Option::<u64>::deserialize(deserializer)?;
    Ok(millis.map(Duration::from_millis))
}
