//! Who makes a request, and how it can be reached while that runs.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tool_core::Facts;

use super::LogLevel;
use super::asks::Asks;
use super::capabilities::Capabilities;
use super::held::Held;
use super::outlet::Outlet;
use super::shown_pages::ShownPages;
use crate::offerings::Watching;

/// Who makes a request, and how it can be reached while that runs.
#[derive(Clone)]
pub(crate) struct Client {
    pub(crate) facts: Facts,
    pub(crate) held: Held,
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
    /// Resources of which the client wants to know when they change.
    subscriptions: Mutex<HashMap<String, Vec<Watching>>>,
    pages: Mutex<ShownPages>,
    log_level: AtomicU8,
    /// Who is told of that level, once the client has said one.
    logs: Mutex<Vec<Watching>>,
}

impl Default for Connection {
    fn default() -> Self {
        Self {
            asks: Arc::default(),
            subscriptions: Mutex::default(),
            pages: Mutex::default(),
            log_level: AtomicU8::new(LogLevel::Info as u8),
            logs: Mutex::default(),
        }
    }
}

/// Resources to which one client can subscribe. More is no interest in any of them.
pub(crate) const MOST_SUBSCRIPTIONS: usize = 1_024;

impl Connection {
    /// Pages that the client was shown.
    pub(crate) fn pages(&self) -> MutexGuard<'_, ShownPages> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn subscribe(&self, uri: String, watching: Vec<Watching>) -> Result<(), String> {
        let mut subscriptions = self.subscriptions();
        if subscriptions.len() >= MOST_SUBSCRIPTIONS && !subscriptions.contains_key(&uri) {
            return Err(format!(
                "a client can subscribe to at most {MOST_SUBSCRIPTIONS} resources"
            ));
        }
        subscriptions.insert(uri, watching);
        Ok(())
    }

    pub(crate) fn unsubscribe(&self, uri: &str) {
        self.subscriptions().remove(uri);
    }

    pub(crate) fn is_subscribed(&self, uri: &str) -> bool {
        self.subscriptions().contains_key(uri)
    }

    /// Whether the client wants log messages that grave.
    pub(crate) fn wants_log(&self, level: LogLevel) -> bool {
        level as u8 >= self.log_level.load(Ordering::Relaxed)
    }

    fn subscriptions(&self) -> MutexGuard<'_, HashMap<String, Vec<Watching>>> {
        self.subscriptions
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn set_log_level(&self, level: LogLevel, told: Vec<Watching>) {
        self.log_level.store(level as u8, Ordering::Relaxed);
        *self.logs.lock().unwrap_or_else(PoisonError::into_inner) = told;
    }
}

impl Client {
    pub(crate) fn is_stateless(&self) -> bool {
        matches!(self.era, Era::Stateless { .. })
    }

    /// Whether the client wants log messages that grave.
    pub(crate) fn wants_log(&self, level: LogLevel) -> bool {
        match &self.era {
            Era::Handshake(connection) => connection.wants_log(level),
            Era::Stateless { log_level } => log_level.is_some_and(|wanted| level >= wanted),
        }
    }
}
