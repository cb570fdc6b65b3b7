//! Who makes a request, and how it can be reached while that runs.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex};

use std::collections::HashSet;
use tool_core::Facts;

use super::LogLevel;
use super::asks::Asks;
use super::capabilities::Capabilities;
use super::outlet::Outlet;

/// Who makes a request, and how it can be reached while that runs.
#[derive(Clone)]
pub(crate) struct Client {
    pub(crate) facts: Facts,
    pub(crate) capabilities: Capabilities,
    pub(crate) outlet: Outlet,
    pub(crate) era: Era,
}

/// In which era a request was made.
#[derive(Clone)]
pub(crate) enum Era {
    /// With a handshake, which began what all its requests share.
    Handshake(Arc<Connection>),
    /// Without: a request is all there is.
    Stateless {
        /// Log messages from here on are wanted.
        log_level: Option<LogLevel>,
    },
}

/// What the requests of a client with a handshake share.
pub(crate) struct Connection {
    pub(crate) asks: Arc<Asks>,
    pub(crate) subscriptions: Subscriptions,
    log_level: AtomicU8,
}

/// Resources of which a client wants to know when they change.
pub(crate) type Subscriptions = Arc<Mutex<HashSet<String>>>;

impl Default for Connection {
    fn default() -> Self {
        Self {
            asks: Arc::default(),
            subscriptions: Arc::default(),
            log_level: AtomicU8::new(LogLevel::Info as u8),
        }
    }
}

impl Connection {
    pub(crate) fn set_log_level(&self, level: LogLevel) {
        self.log_level.store(level as u8, Ordering::Relaxed);
    }
}

impl Client {
    pub(crate) fn is_stateless(&self) -> bool {
        matches!(self.era, Era::Stateless { .. })
    }

    /// Whether the client wants log messages that grave.
    pub(crate) fn wants_log(&self, level: LogLevel) -> bool {
        match &self.era {
            Era::Handshake(connection) => {
                level as u8 >= connection.log_level.load(Ordering::Relaxed)
            }
            Era::Stateless { log_level } => log_level.is_some_and(|wanted| level >= wanted),
        }
    }
}
