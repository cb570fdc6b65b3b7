//! Logins to MCP servers, beyond one process.

use std::sync::Arc;

use tool_core::State;
use tool_mcp::Logins;

use crate::{Place, RuntimeError};

/// The logins to MCP servers: those of every [`Runtime`](crate::Runtime) with the same state.
///
/// # Errors
/// [`RuntimeError`] when the folder or the bucket cannot be used.
///
/// # Cancel safety
/// Dropping the future changes nothing.
pub async fn logins_in(state: impl Into<Place>) -> Result<Logins, RuntimeError> {
    Ok(logins(state.into().open()?.kept().await?))
}

pub(crate) fn logins(kept: Arc<dyn State>) -> Logins {
    Logins::new(kept).client_name("tool")
}
