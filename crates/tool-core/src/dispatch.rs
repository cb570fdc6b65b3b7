//! Calls that a tool makes while it runs.

use serde_json::Value;

use crate::{BoxFuture, Settlement};

/// Calls other tools from inside a handler, through the same pipeline as any other call.
pub trait Dispatch: Send + Sync {
    /// Whether a tool of that wire name is there.
    fn has(&self, name: &str) -> bool;

    /// Calls a tool and waits for its settlement. An inner call cannot suspend and cannot call
    /// further tools itself.
    ///
    /// # Cancel safety
    /// Dropping the future cancels the inner call.
    fn call(&self, name: String, arguments: Value) -> BoxFuture<'static, Settlement>;
}
