//! Why nobody could be logged in.

use tool_core::StateError;

/// Why nobody could be logged in or out. The text is for operators and holds no secret.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoginError {
    /// It is no server to log in to, or is not configured as one.
    #[error("server {server} {reason}")]
    NotOffered {
        /// The configured name of the server.
        server: String,
        /// Why, as a clause that follows on the name.
        reason: String,
    },
    /// Going on would not be safe. Nothing was sent that is secret.
    #[error("logging in to server {server} is not safe: {reason}")]
    Unsafe {
        /// The configured name of the server.
        server: String,
        /// What is wrong.
        reason: String,
    },
    /// The server, or whom it names to log in at, could not be reached or did not answer as it
    /// should. Another attempt may succeed.
    #[error("logging in to server {server} failed: {reason}")]
    Unreachable {
        /// The configured name of the server.
        server: String,
        /// What went wrong.
        reason: String,
    },
    /// The authorization server, or whoever was asked, said no.
    #[error("logging in to server {server} was refused: {reason}")]
    Refused {
        /// The configured name of the server.
        server: String,
        /// In which words.
        reason: String,
    },
    /// What is kept of logins could not be read or written.
    #[error("the login of server {server} could not be kept or read")]
    State {
        /// The configured name of the server.
        server: String,
        /// What went wrong.
        #[source]
        source: StateError,
    },
    /// What is kept of a login was written by something else.
    #[error(
        "what is kept of the login of server {server} cannot be read by this version; log out and in again"
    )]
    Form {
        /// The configured name of the server.
        server: String,
    },
}
