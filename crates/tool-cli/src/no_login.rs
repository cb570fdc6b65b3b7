//! `tool login` and `tool logout` of a build that cannot.

use std::process::ExitCode;

use crate::args::Common;
use crate::error::CliError;

/// Says that this build cannot log in.
#[expect(clippy::unused_async, reason = "builds that can wait for a person")]
pub(crate) async fn login(_common: &Common, _server: &str) -> Result<ExitCode, CliError> {
    Err(CliError::NoLogins)
}

/// Says that this build cannot log out.
#[expect(clippy::unused_async, reason = "builds that can wait for the state")]
pub(crate) async fn logout(_common: &Common, _server: &str) -> Result<ExitCode, CliError> {
    Err(CliError::NoLogins)
}
