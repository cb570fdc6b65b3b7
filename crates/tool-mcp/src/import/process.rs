//! A server's process and all that it starts.

use std::io;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use process_wrap::tokio::{ChildWrapper, CommandWrap, KillOnDrop};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::time::{Instant, timeout_at};

#[cfg(unix)]
use tool_core::{Descendants, ProcessMark};

use super::{ServerConfig, environment};

/// A server's process, everything in its process group, and what it started beside that. Dropping
/// it kills all of them.
pub(crate) struct Process {
    child: Box<dyn ChildWrapper>,
    #[cfg(unix)]
    descendants: Descendants,
    /// Set once all were killed or swept; the number of the group may be somebody else's after that.
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
        #[cfg(unix)]
        let mark = ProcessMark::new()?;
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
        #[cfg(unix)]
        {
            let outer = std::env::var_os(ProcessMark::VARIABLE);
            command.env(ProcessMark::VARIABLE, mark.value(outer.as_deref()));
        }
        let mut command = CommandWrap::from(command);
        command.wrap(KillOnDrop);
        #[cfg(unix)]
        command.wrap(process_wrap::tokio::ProcessGroup::leader());
        let child = command.spawn()?;

        // From here on a failure drops the process, which ends it.
        let mut process = Self {
            #[cfg(unix)]
            descendants: Descendants::of(mark, child.id()),
            child,
            gone: false,
        };
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

    /// Waits until the server's own process has ended, and ends what it left, in its group and
    /// elsewhere.
    ///
    /// # Cancel safety
    /// Dropping the future changes nothing: what is left is ended later.
    pub(crate) async fn ended(&mut self) -> String {
        let status = self.child.inner_mut().wait().await;
        #[cfg(unix)]
        {
            self.descendants.is_reaped();
            if !self.gone {
                // The table of processes is read where that may take its time, and ahead of the
                // group: who has lost its parent can be told by its mark only.
                let descendants = self.descendants.clone();
                let _ = tokio::task::spawn_blocking(move || descendants.kill()).await;
                self.kill_group();
            }
        }
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
        if !self.gone {
            #[cfg(unix)]
            self.descendants.kill();
            self.kill_group();
        }
    }

    fn kill_group(&mut self) {
        self.gone = true;
        // Fails when nobody is left in the group, which is what is wanted.
        let _ = self.child.start_kill();
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
