//! One line of the log.

use ecow::EcoString;
use serde::{Serialize, Serializer};
use tool_core::Digest;

/// One line, its members in the order of their names. What is absent stays absent.
#[derive(Debug, Default, Serialize)]
pub(super) struct Line {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) agent: Option<EcoString>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) answers: Vec<Answer>,
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "digest")]
    pub(super) arguments: Option<Digest>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) call: Option<EcoString>,
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "digest")]
    pub(super) definition: Option<Digest>,
    pub(super) duration_ms: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) kind: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) lost: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) message: Option<EcoString>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<EcoString>,
    pub(super) outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) principal: Option<EcoString>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) repairs: Option<usize>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) retained: Vec<Kept>,
    pub(super) rulings: Vec<Ruled>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) run: Option<EcoString>,
    pub(super) seq: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) server: Option<EcoString>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) session: Option<EcoString>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) shown_bytes: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tenant: Option<EcoString>,
    pub(super) time_ms: u64,
    pub(super) tool: EcoString,
}

/// What policy decided.
#[derive(Debug, Serialize)]
pub(super) struct Ruled {
    pub(super) action: EcoString,
    pub(super) decision: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) rule: Option<EcoString>,
}

/// What somebody who was asked answered.
#[derive(Debug, Serialize)]
pub(super) struct Answer {
    pub(super) approved: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) by: Option<EcoString>,
    pub(super) gate: EcoString,
}

/// A retained output.
#[derive(Debug, Serialize)]
pub(super) struct Kept {
    pub(super) bytes: u64,
    pub(super) id: EcoString,
}

#[expect(clippy::ref_option, reason = "the form that serde asks for")]
fn digest<S: Serializer>(digest: &Option<Digest>, serializer: S) -> Result<S::Ok, S::Error> {
    match digest {
        Some(digest) => serializer.collect_str(digest),
        None => serializer.serialize_none(),
    }
}
