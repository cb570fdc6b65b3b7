//! What was trusted of MCP servers, beyond one process.

use tool_mcp::Pins;

use crate::{Place, RuntimeError};

/// What was trusted of MCP servers: that of every [`Runtime`](crate::Runtime) with the same state.
///
/// # Errors
/// [`RuntimeError`] when the folder or the bucket cannot be used.
///
/// # Cancel safety
/// Dropping the future changes nothing.
pub async fn pins_in(state: impl Into<Place>) -> Result<Pins, RuntimeError> {
    Ok(Pins::new(state.into().open()?.kept().await?))
}
