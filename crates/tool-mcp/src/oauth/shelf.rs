//! The records of logins in the state.

use std::sync::Arc;

use tool_core::{State, StateError, StateReading, StateVersion};

use super::LoginError;
use super::record::Record;

/// How often a change is tried. Each failed attempt is somebody else's success.
const MOST_ATTEMPTS: usize = 256;

/// The record of one server in the state.
#[derive(Clone)]
pub(crate) struct Shelf {
    state: Arc<dyn State>,
    server: String,
    key: String,
}

impl Shelf {
    pub(crate) fn new(state: Arc<dyn State>, server: &str) -> Self {
        Self {
            state,
            server: server.to_owned(),
            key: format!("mcp/login/{server}"),
        }
    }

    /// What is kept; an empty record where nothing is.
    pub(crate) async fn read(&self) -> Result<(Record, Option<StateVersion>), LoginError> {
        let read = self.state.read(&self.key, None).await;
        match read.map_err(|source| self.failed(source))? {
            StateReading::Absent | StateReading::Unchanged => Ok((Record::default(), None)),
            StateReading::Value(bytes, version) => {
                let bytes = secrecy::zeroize::Zeroizing::new(bytes);
                let record = Record::read(&bytes).ok_or_else(|| LoginError::Form {
                    server: self.server.clone(),
                })?;
                Ok((record, Some(version)))
            }
        }
    }

    /// Writes a record in place of one of that version. Whether it was still there.
    pub(crate) async fn write(
        &self,
        record: &Record,
        expected: Option<&StateVersion>,
    ) -> Result<bool, LoginError> {
        let bytes = record
            .write()
            .map_err(|error| self.failed(StateError::new(error)))?;
        let written = self.state.write(&self.key, expected, &bytes).await;
        Ok(written.map_err(|source| self.failed(source))?.is_some())
    }

    /// Changes what is kept, whoever else does so at the same time. Nothing is written where the
    /// change says that there is nothing to.
    pub(crate) async fn change(
        &self,
        mut change: impl FnMut(&mut Record) -> bool,
    ) -> Result<bool, LoginError> {
        for _ in 0..MOST_ATTEMPTS {
            let (mut record, version) = self.read().await?;
            if !change(&mut record) {
                return Ok(false);
            }
            if self.write(&record, version.as_ref()).await? {
                return Ok(true);
            }
        }
        Err(self.failed(StateError::new("others change it all the time")))
    }

    /// Takes away what is kept. `None` where that cannot be read; it is taken away all the same.
    pub(crate) async fn take(&self) -> Result<Option<Record>, LoginError> {
        for _ in 0..MOST_ATTEMPTS {
            let (record, version) = match self.read().await {
                Err(LoginError::Form { .. }) => {
                    self.replace(&Record::default()).await?;
                    return Ok(None);
                }
                read => read?,
            };
            let is_empty = record.grant.is_none() && record.registered.is_none();
            if is_empty || self.write(&Record::default(), version.as_ref()).await? {
                return Ok(Some(record));
            }
        }
        Err(self.failed(StateError::new("others change it all the time")))
    }

    /// Writes a record in place of whatever is there, readable or not.
    pub(crate) async fn replace(&self, record: &Record) -> Result<(), LoginError> {
        for _ in 0..MOST_ATTEMPTS {
            let read = self.state.read(&self.key, None).await;
            let version = match read.map_err(|source| self.failed(source))? {
                StateReading::Value(_, version) => Some(version),
                StateReading::Absent | StateReading::Unchanged => None,
            };
            if self.write(record, version.as_ref()).await? {
                return Ok(());
            }
        }
        Err(self.failed(StateError::new("others change it all the time")))
    }

    fn failed(&self, source: StateError) -> LoginError {
        LoginError::State {
            server: self.server.clone(),
            source,
        }
    }
}
