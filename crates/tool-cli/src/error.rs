//! What can go wrong before and beside a call.

use std::io;
use std::path::PathBuf;

use thiserror::Error;
use tool_runtime::RuntimeError;

/// A command that could not do its work.
#[derive(Debug, Error)]
pub(crate) enum CliError {
    #[error("could not start")]
    Start {
        #[source]
        source: io::Error,
    },
    #[error("could not read {}", path.display())]
    Read {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("could not read standard input")]
    ReadInput {
        #[source]
        source: io::Error,
    },
    #[error("could not print")]
    Print {
        #[from]
        source: io::Error,
    },
    #[error("no folder for retained output is known; give one with --state")]
    NoState,
    #[error("settings have a limit that keeps nothing")]
    Limits {
        #[source]
        source: tool_runtime::storage::LimitsError,
    },
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
    #[error("could not encode the result")]
    Encode {
        #[from]
        source: serde_json::Error,
    },
    #[error("output {id} could not be read")]
    Output {
        id: String,
        #[source]
        source: tool_runtime::core::StoreError,
    },
    #[error("retained output could not be listed")]
    Outputs {
        #[source]
        source: tool_runtime::core::StoreError,
    },
}
