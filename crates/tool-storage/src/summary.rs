//! What is told of a retained output without reading it.

use std::time::SystemTime;

use tool_core::{CallId, SessionId};

use crate::clock::time;
use crate::record::Record;

/// A retained output, as an operator's list shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OutputSummary {
    /// The id to read it by.
    pub id: String,
    /// The wire name of the tool that produced it.
    pub tool: String,
    /// The call that produced it, where it has an id.
    pub call: Option<CallId>,
    /// The session that it belongs to, if any.
    pub session: Option<SessionId>,
    /// When it was retained.
    pub created: SystemTime,
    /// The bytes, in all.
    pub bytes: u64,
    /// The lines, in all. A trailing newline is none.
    pub lines: u64,
    /// The checksum of the bytes, as `xxh3-128:` and 32 hexadecimal digits. It tells damage, which
    /// [`ManagedOutputs::verify`](crate::ManagedOutputs::verify) looks for, and proves nothing else.
    pub digest: String,
}

/// A page of a list of outputs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OutputsPage {
    /// The outputs, the newest first.
    pub outputs: Vec<OutputSummary>,
    /// What the next page is listed after; `None` on the last.
    pub next: Option<String>,
}

impl From<&Record> for OutputSummary {
    fn from(record: &Record) -> Self {
        Self {
            id: record.id.clone(),
            tool: record.tool.clone(),
            call: record.call.clone(),
            session: record.session.clone(),
            created: time(record.created_us),
            bytes: record.bytes,
            lines: record.lines,
            digest: record.digest.clone(),
        }
    }
}
