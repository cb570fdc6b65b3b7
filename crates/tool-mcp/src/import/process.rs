//! A server's process and all that it starts.

use std::io;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use process_wrap::tokio::{ChildWrapper, CommandWrap, KillOnDrop};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::time::{Instant, timeout_at};

use super::{ServerConfig, environment};

/// A server's process and everything in its process group. Dropping it kills all of them.
pub(crate) struct Process {
    child: Box<dyn ChildWrapper>,
    /// Set once the group was killed or swept; its number may be somebody else's after that.
    gone: bool,
}

/// The ends of a server's standard streams.
pub(crate) struct Streams {
    pub(crate) stdin: ChildStdin,
    pub(crate) stdout: ChildStdout,
    pub(crate) stderr: ChildStderr,
}

impl Process {
    /// Starts a server in a process group of its own.
    pub(crate) fn start(server: &ServerConfig, base: &Path) -> io::Result<(Self, Streams)> {
        let mut words = server.words();
        let mut command = Command::new(words.next().unwrap_or_default());
        command
            .args(words)
            .env_clear()
            .envs(environment::allowed())
            .envs(&server.env)
            .current_dir(match &server.cwd {
                Some(cwd) => base.join(cwd),
                None => base.to_owned(),
            })
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut command = CommandWrap::from(command);
        command.wrap(KillOnDrop);
        #[cfg(unix)]
        command.wrap(process_wrap::tokio::ProcessGroup::leader());
        let child = command.spawn()?;

        // From here on a failure drops the process, which ends it.
        let mut process = Self { child, gone: false };
        let child = process.child.inner_mut();
        let (stdin, stdout, stderr) = (
            child.stdin().take(),
            child.stdout().take(),
            child.stderr().take(),
        );
        let (Some(stdin), Some(stdout), Some(stderr)) = (stdin, stdout, stderr) else {
            return Err(io::Error::other("a standard stream is missing"));
        };
        let streams = Streams {
            stdin,
            stdout,
            stderr,
        };
        Ok((process, streams))
    }

    /// Waits until the server's own process has ended, and ends what it left in its group.
    ///
    /// # Cancel safety
    /// Dropping the future changes nothing.
    pub(crate) async fn ended(&mut self) -> String {
        let status = self.child.inner_mut().wait().await;
        self.kill();
        match status {
            Ok(status) => describe(status),
            Err(_) => "ended".to_owned(),
        }
    }

    /// Ends the process within `patience`, of which a server that was told by the end of its
    /// stdin gets most. Its stdin must be closed already.
    pub(crate) async fn end(mut self, patience: Duration) {
        let start = Instant::now();
        if timeout_at(start + patience * 3 / 5, self.ended())
            .await
            .is_ok()
        {
            return;
        }
        #[cfg(unix)]
        {
            // It may just have ended; then there is nobody to tell.
            let _ = self.child.signal(SIGTERM);
            if timeout_at(start + patience * 9 / 10, self.ended())
                .await
                .is_ok()
            {
                return;
            }
        }
        self.kill();
        // Reaped, so that it is gone when this returns.
        let _ = timeout_at(start + patience, self.child.inner_mut().wait()).await;
    }

    fn kill(&mut self) {
        if !std::mem::replace(&mut self.gone, true) {
            // Fails when nobody is left in the group, which is what is wanted.
            let _ = self.child.start_kill();
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The same number on every Unix.
#[cfg(unix)]
const SIGTERM: i32 = 15;

fn describe(status: ExitStatus) -> String {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return format!("was ended by signal {signal}");
    }
    match status.code() {
        Some(code) => format!("exited with status {code}"),
        None => "ended".to_owned(),
    }
}
