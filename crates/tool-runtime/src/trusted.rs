//! What was trusted of MCP servers, beyond one process.

use std::path::Path;
use std::sync::Arc;

use tool_mcp::Pins;
use tool_storage::DirState;

use crate::RuntimeError;
use crate::builder::KEPT;

/// What was trusted of MCP servers: that of every [`Runtime`](crate::Runtime) with the same state
/// folder. It blocks.
///
/// # Errors
/// [`RuntimeError`] when the folder cannot be opened.
pub fn pins_in(state: impl AsRef<Path>) -> Result<Pins, RuntimeError> {
    let kept = DirState::open(state.as_ref().join(KEPT)).map_err(RuntimeError::Store)?;
    Ok(Pins::new(Arc::new(kept)))
}
