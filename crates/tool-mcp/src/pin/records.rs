//! The records of servers in the state.

use tool_core::{Namespace, StateReading, StateVersion};

use super::record::Record;
use super::{PinError, Pins};

/// How often a change is tried. Each failed attempt is somebody else's success.
pub(super) const MOST_ATTEMPTS: usize = 256;
/// The key of the names of all servers.
pub(super) const SERVERS: &str = "mcp/pins";

impl Pins {
    /// Changes what is kept of a server; several times where others change it meanwhile.
    pub(super) async fn change<T>(
        &self,
        server: &Namespace,
        mut change: impl FnMut(&mut Record) -> T,
    ) -> Result<T, PinError> {
        let failed = |source| PinError::State {
            server: server.to_string(),
            source,
        };
        let key = key(server);
        for _ in 0..MOST_ATTEMPTS {
            let (record, version) = self.record(server).await?;
            let fresh = is_fresh(record.as_ref());
            if fresh {
                // Ahead of the write: what is kept is named, whenever this ends.
                self.name(server).await?;
            }
            let (before, mut after) = match record {
                None => (None, Record::new()),
                Some(record) => (Some(encoded(server, &record)?), record),
            };
            let told = change(&mut after);
            let after = encoded(server, &after)?;
            if before.as_ref() == Some(&after) {
                return Ok(told);
            }
            let written = self.state.write(&key, version.as_ref(), &after);
            if written.await.map_err(failed)?.is_some() {
                if fresh {
                    // Whoever forgot it before may have taken the name back in between.
                    self.name(server).await?;
                }
                return Ok(told);
            }
        }
        Err(PinError::Busy {
            server: server.to_string(),
        })
    }

    /// What is kept of a server.
    pub(super) async fn record(
        &self,
        server: &Namespace,
    ) -> Result<(Option<Record>, Option<StateVersion>), PinError> {
        let reading = self.state.read(&key(server), None).await;
        let reading = reading.map_err(|source| PinError::State {
            server: server.to_string(),
            source,
        })?;
        match reading {
            StateReading::Value(text, version) => {
                Ok((Some(Record::read(server, &text)?), Some(version)))
            }
            StateReading::Absent | StateReading::Unchanged => Ok((None, None)),
        }
    }
}

/// Whether nothing is kept of a server.
pub(super) fn is_fresh(record: Option<&Record>) -> bool {
    record.is_none_or(Record::is_empty)
}

fn key(server: &Namespace) -> String {
    format!("{SERVERS}/{server}")
}

fn encoded(server: &Namespace, record: &Record) -> Result<Vec<u8>, PinError> {
    serde_json::to_vec(record).map_err(|source| PinError::Form {
        server: server.to_string(),
        source,
    })
}
