//! The connection to a server that is there now, whichever it is.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tool_core::Digest;

use super::call_error::CallError;
use super::connection::Connection;

/// The connection to a server that is there now. Empty while the server is away, so that calls
/// are refused at once and by name.
#[derive(Default)]
pub(crate) struct Line {
    connection: Mutex<Option<Arc<Connection>>>,
    /// The tools that may be called now, where that is decided by what was trusted.
    callable: Mutex<Option<HashMap<String, Digest>>>,
}

impl Line {
    pub(crate) fn get(&self) -> Result<Arc<Connection>, CallError> {
        let held = self
            .connection
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        held.clone().ok_or(CallError::Away)
    }

    pub(crate) fn set(&self, connection: Option<Arc<Connection>>) {
        let mut held = self
            .connection
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *held = connection;
    }

    /// Sets which tools may be called from now on, whatever was listed before.
    pub(crate) fn admit(&self, tools: Option<HashMap<String, Digest>>) {
        *self.callable.lock().unwrap_or_else(PoisonError::into_inner) = tools;
    }

    /// Whether a tool may be called now that was this when it was registered.
    pub(crate) fn admits(&self, name: &str, digest: &Digest) -> bool {
        let callable = self.callable.lock().unwrap_or_else(PoisonError::into_inner);
        let callable = callable.as_ref().and_then(|callable| callable.get(name));
        callable == Some(digest)
    }
}
