//! What was trusted, and cannot be told.

use thiserror::Error;
use tool_core::StateError;

/// What was trusted of a server could not be read or kept. Nothing of that server may be used
/// until it can.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PinError {
    /// The state is broken.
    #[error("what was trusted of server \"{server}\" could not be read or kept")]
    State {
        /// The server.
        server: String,
        /// Why.
        #[source]
        source: StateError,
    },
    /// What the state holds is not what was kept there.
    #[error("what was trusted of server \"{server}\" is not readable")]
    Form {
        /// The server.
        server: String,
        /// Why.
        #[source]
        source: serde_json::Error,
    },
    /// A later version of this program kept it.
    #[error("what was trusted of server \"{server}\" has version {version}, and 1 is known here")]
    Version {
        /// The server.
        server: String,
        /// The version.
        version: u64,
    },
    /// Others changed it again and again.
    #[error("what was trusted of server \"{server}\" is changed by others all the time; try again")]
    Busy {
        /// The server.
        server: String,
    },
}
