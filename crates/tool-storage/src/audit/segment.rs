//! A file of an audit log, as its index has it.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::ledger::Entry;

/// A file of an audit log, as its index has it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AuditSegment {
    /// Which entry of the index it is, from 1: no other file of any gateway ever has this number.
    pub number: u64,
    /// The id of the gateway's folder, which is random.
    pub folder: String,
    /// The name of the file in that folder.
    pub name: String,
    /// Whether it is written yet.
    pub state: AuditSegmentState,
    /// When it was begun.
    pub opened: SystemTime,
    /// When the first and the last call were made that have a line in it, once it is closed.
    pub calls: Option<(SystemTime, SystemTime)>,
    /// How many lines it has, once it is closed. One that was torn in the end is one.
    pub lines: Option<u64>,
    /// How many bytes it has, once it is closed.
    pub bytes: Option<u64>,
    /// The digest of these bytes, as `sha-256:` and 64 hexadecimal digits.
    pub digest: Option<String>,
    /// The seal of the entry of this folder that was closed before it, where there is one.
    pub before: Option<String>,
}

/// Whether a file of an audit log is written yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AuditSegmentState {
    /// It is written, as far as the index knows.
    Open,
    /// It was closed by whoever wrote it.
    Closed,
    /// Whoever wrote it was killed; a later start in its folder closed it with what was there.
    Abandoned,
}

impl AuditSegmentState {
    /// `open`, `closed` or `abandoned`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Closed => "closed",
            Self::Abandoned => "abandoned",
        }
    }
}

impl From<&Entry> for AuditSegment {
    fn from(entry: &Entry) -> Self {
        let sealed = entry.sealed.as_ref();
        let contents = sealed.map(|sealed| &sealed.contents);
        let calls = contents.and_then(|it| Some((time(it.first_ms?), time(it.last_ms?))));
        Self {
            number: entry.number,
            folder: entry.folder.clone(),
            name: entry.name.clone(),
            state: match sealed {
                None => AuditSegmentState::Open,
                Some(sealed) if sealed.is_abandoned => AuditSegmentState::Abandoned,
                Some(_) => AuditSegmentState::Closed,
            },
            opened: time(entry.opened_ms()),
            calls,
            lines: contents.map(|it| it.lines),
            bytes: contents.map(|it| it.bytes),
            digest: contents.map(|it| it.digest.clone()),
            before: sealed.and_then(|sealed| sealed.before.clone()),
        }
    }
}

fn time(millis: u64) -> SystemTime {
    let after = UNIX_EPOCH.checked_add(Duration::from_millis(millis));
    after.unwrap_or(UNIX_EPOCH)
}
