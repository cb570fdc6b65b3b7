//! Being told to end.

use std::process::ExitCode;

/// Waits until the program is told to end, and gives the status to end with: by Ctrl-C, and where
/// there are such signals, by that to terminate and by a terminal that is closed.
///
/// Whoever waits must drop what runs, for nothing is to outlive the program. From the first wait on
/// these signals no longer end it by themselves.
pub(crate) async fn told_to_end() -> ExitCode {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let (Ok(mut terminate), Ok(mut hang_up)) = (
            signal(SignalKind::terminate()),
            signal(SignalKind::hangup()),
        ) {
            return tokio::select! {
                _ = tokio::signal::ctrl_c() => ended_by(SIGINT),
                _ = terminate.recv() => ended_by(SIGTERM),
                _ = hang_up.recv() => ended_by(SIGHUP),
            };
        }
    }
    let _ = tokio::signal::ctrl_c().await;
    ended_by(SIGINT)
}

/// The status that a shell gives to a program that a signal ended.
fn ended_by(signal: u8) -> ExitCode {
    ExitCode::from(128 + signal)
}

#[cfg(unix)]
const SIGHUP: u8 = 1;
const SIGINT: u8 = 2;
#[cfg(unix)]
const SIGTERM: u8 = 15;
