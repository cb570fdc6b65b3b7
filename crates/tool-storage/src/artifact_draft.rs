//! What is checked of an artifact before it is taken in.

use serde_json::Value;
use tool_core::{ArtifactDraft, ArtifactError, ArtifactErrorKind, ArtifactRef, Payload};

use crate::artifact_limits::ArtifactLimits;
use crate::clock::micros;

/// Refuses a draft that is wrong in itself. Nothing of it is repeated.
pub(crate) fn check(
    draft: &ArtifactDraft,
    bytes: u64,
    limits: &ArtifactLimits,
    now_us: u64,
) -> Result<(), ArtifactError> {
    let media_type = draft.media_type.as_deref();
    if media_type.is_some_and(|media_type| media_type.trim().is_empty()) {
        return Err(invalid("an artifact has a blank media type; leave it out"));
    }
    if draft.expires.is_some_and(|at| micros(at) <= now_us) {
        return Err(invalid("an artifact would end before it is put"));
    }
    let limit = limits.max_bytes.get();
    if bytes > limit {
        return Err(ArtifactError::of(
            ArtifactErrorKind::TooLarge,
            format!("an artifact of {bytes} bytes is over the {limit} bytes that all may have"),
        ));
    }
    Ok(())
}

/// Refuses JSON that could not be read back.
pub(crate) fn check_payload(payload: &Payload) -> Result<(), ArtifactError> {
    match payload {
        Payload::Json(value) if is_deeper(value, MAX_DEPTH) => Err(invalid(
            "an artifact holds JSON that nests deeper than 120 levels",
        )),
        _ => Ok(()),
    }
}

pub(crate) fn mint() -> Result<ArtifactRef, ArtifactError> {
    ArtifactRef::mint(getrandom::fill).map_err(|cause| {
        ArtifactError::of(ArtifactErrorKind::Io, "could not mint a reference").because(cause)
    })
}

pub(crate) fn invalid(detail: &'static str) -> ArtifactError {
    ArtifactError::of(ArtifactErrorKind::Invalid, detail)
}

fn is_deeper(value: &Value, levels: usize) -> bool {
    let Some(levels) = levels.checked_sub(1) else {
        return true;
    };
    match value {
        Value::Array(items) => items.iter().any(|item| is_deeper(item, levels)),
        Value::Object(members) => members.values().any(|item| is_deeper(item, levels)),
        _ => false,
    }
}

/// Below what `serde_json` reads, which is 128.
const MAX_DEPTH: usize = 120;
