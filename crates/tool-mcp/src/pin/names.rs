//! The servers of which something is kept.

use std::collections::BTreeSet;

use tool_core::{Namespace, StateReading, StateVersion};

use super::records::{MOST_ATTEMPTS, SERVERS};
use super::{PinError, Pins};

impl Pins {
    /// Puts a server among those of which something is kept.
    pub(super) async fn name(&self, server: &Namespace) -> Result<(), PinError> {
        self.change_names(server, |names| names.insert(server.to_string()))
            .await
    }

    /// Takes a server from them.
    pub(super) async fn unname(&self, server: &Namespace) -> Result<(), PinError> {
        self.change_names(server, |names| names.remove(server.as_str()))
            .await
    }

    async fn change_names(
        &self,
        server: &Namespace,
        mut change: impl FnMut(&mut BTreeSet<String>) -> bool,
    ) -> Result<(), PinError> {
        let failed = |source| PinError::State {
            server: server.to_string(),
            source,
        };
        for _ in 0..MOST_ATTEMPTS {
            let (mut names, version) = self.names().await?;
            if !change(&mut names) {
                return Ok(());
            }
            let text = serde_json::to_vec(&names).map_err(|source| PinError::Form {
                server: server.to_string(),
                source,
            })?;
            let written = self.state.write(SERVERS, version.as_ref(), &text);
            if written.await.map_err(failed)?.is_some() {
                return Ok(());
            }
        }
        Err(PinError::Busy {
            server: server.to_string(),
        })
    }

    /// The names, and of which version they are.
    pub(super) async fn names(&self) -> Result<(BTreeSet<String>, Option<StateVersion>), PinError> {
        let all = || "*".to_owned();
        let reading = self.state.read(SERVERS, None).await;
        let reading = reading.map_err(|source| PinError::State {
            server: all(),
            source,
        })?;
        match reading {
            StateReading::Value(text, version) => {
                let names = serde_json::from_slice(&text).map_err(|source| PinError::Form {
                    server: all(),
                    source,
                })?;
                Ok((names, Some(version)))
            }
            StateReading::Absent | StateReading::Unchanged => Ok((BTreeSet::new(), None)),
        }
    }
}
