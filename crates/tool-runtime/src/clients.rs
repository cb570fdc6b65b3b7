//! Tokens of clients, beyond one process.

use tool_mcp::ClientTokens;

use crate::{Place, RuntimeError};

/// The tokens of clients over HTTP that are kept in a state: those of every gateway with it.
///
/// # Errors
/// [`RuntimeError`] when the folder or the bucket cannot be used.
///
/// # Cancel safety
/// Dropping the future changes nothing.
pub async fn client_tokens_in(state: impl Into<Place>) -> Result<ClientTokens, RuntimeError> {
    Ok(ClientTokens::new(state.into().open()?.kept().await?))
}
