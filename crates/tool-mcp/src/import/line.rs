//! The connection to a server that is there now, whichever it is.

use std::sync::{Arc, Mutex, PoisonError};

use super::call_error::CallError;
use super::connection::Connection;

/// The connection to a server that is there now. Empty while the server is away, so that calls
/// are refused at once and by name.
#[derive(Default)]
pub(crate) struct Line(Mutex<Option<Arc<Connection>>>);

impl Line {
    pub(crate) fn get(&self) -> Result<Arc<Connection>, CallError> {
        let held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        held.clone().ok_or(CallError::Away)
    }

    pub(crate) fn set(&self, connection: Option<Arc<Connection>>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = connection;
    }
}
