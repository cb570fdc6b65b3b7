//! The port behind which resources and prompts stand.

use serde_json::{Map, Value};
use tool_core::BoxFuture;

use super::{Completion, Offer, OfferError, OfferEvents, OfferKind, Watching};
use crate::serve::LogLevel;

/// Resources, templates, prompts and completion, for whoever serves them on.
///
/// Imported servers are one implementation; a host may write one of its own.
/// Everything that comes through here has been cleaned and bounded by the implementation.
///
/// # Cancel safety
/// Dropping a future gives the request up; a server that was asked is told.
pub trait Offerings: Send + Sync + 'static {
    /// Which kinds are offered at all, in a stable order.
    fn kinds(&self) -> Vec<OfferKind>;

    /// Everything of one kind, in a stable order: by server, then in the server's own order. A
    /// server that cannot list is left out and does not fail the others.
    fn list(&self, kind: OfferKind) -> BoxFuture<'_, Result<Vec<Offer>, OfferError>>;

    /// The result of `resources/read`, as the specification writes it.
    fn read<'a>(&'a self, uri: &'a str) -> BoxFuture<'a, Result<Map<String, Value>, OfferError>>;

    /// The result of `prompts/get`, for the name under which the prompt is listed here.
    fn prompt<'a>(
        &'a self,
        name: &'a str,
        arguments: Map<String, Value>,
    ) -> BoxFuture<'a, Result<Map<String, Value>, OfferError>>;

    /// The result of `completion/complete`.
    fn complete<'a>(
        &'a self,
        completion: &'a Completion,
    ) -> BoxFuture<'a, Result<Map<String, Value>, OfferError>>;

    /// Says that somebody wants to know when a resource changes, for as long as the value is held.
    /// Returns once that is so. The changes come as [events](Self::events).
    ///
    /// By default nothing has to be said, as everything is told anyway.
    fn watch<'a>(&'a self, uri: &'a str) -> BoxFuture<'a, Result<Watching, OfferError>> {
        let _ = uri;
        Box::pin(async { Ok(Watching::nothing()) })
    }

    /// Says that somebody wants log messages from that level on, for as long as the value is held.
    ///
    /// By default nothing has to be said, as everything is told anyway.
    fn want_logs(&self, level: LogLevel) -> BoxFuture<'_, Watching> {
        let _ = level;
        Box::pin(async { Watching::nothing() })
    }

    /// What happens from now on: lists that change, resources that change, log messages.
    fn events(&self) -> OfferEvents;
}
