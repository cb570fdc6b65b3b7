//! One running shell, from its start to the end of all that it started.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use process_wrap::tokio::{ChildWrapper, CommandWrap, KillOnDrop, ProcessGroup};
use tokio::io::AsyncReadExt;
use tokio::process::ChildStdout;
use tokio::time::error::Elapsed;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until, timeout, timeout_at};
use tool_core::{
    Context, Descendants, HandlerError, ProcessMark, Progress, StoreError, StoreErrorKind,
    ToolFailure,
};

use super::capture::{Capture, Captured};
use super::options::ShellOptions;

/// How long processes that the shell left behind may go on printing.
const GRACE: Duration = Duration::from_millis(250);
/// How long the end of the output is waited for once everything is killed.
const DRAIN: Duration = Duration::from_secs(5);
/// How long, from the deadline of the command on, its output may be on its way into the store.
const STORING: Duration = Duration::from_secs(5);
/// How often progress is reported at most.
const REPORT: Duration = Duration::from_millis(500);

/// A line that is to be run.
#[derive(Debug)]
pub(super) struct Spawn<'a> {
    pub(super) program: &'a Path,
    pub(super) line: &'a str,
    pub(super) cwd: &'a Path,
    pub(super) options: &'a ShellOptions,
    pub(super) timeout: Duration,
}

/// How it ended.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) exit_code: Option<i32>,
    pub(super) signal: Option<i32>,
    pub(super) timed_out: bool,
    pub(super) left_open: bool,
    pub(super) captured: Captured,
}

impl Spawn<'_> {
    /// Runs it to its end. Dropping the future kills all that it started.
    pub(super) async fn run(&self, cx: &Context) -> Result<Ended, HandlerError> {
        let deadline = Instant::now() + self.timeout;
        let (mut running, mut output) = self.start().map_err(not_started)?;
        let mut capture = Capture::new(cx, self.options.most_bytes());
        let watched = running
            .watch(&mut output, &mut capture, deadline, cx)
            .await?;

        running.kill_left().await;
        let closed = watched.closed || drain(&mut output, &mut capture).await?;
        let status = running.reap(watched.status).await;
        cx.progress(report(capture.bytes()));
        Ok(Ended {
            exit_code: status.and_then(|status| status.code()),
            signal: status.and_then(|status| status.signal()),
            timed_out: watched.timed_out,
            left_open: !closed,
            captured: capture.finish().await?,
        })
    }

    fn start(&self) -> io::Result<(Running, ChildStdout)> {
        let mark = ProcessMark::new()?;
        // One pipe for both, so that what is printed keeps its order.
        let (output, input) = io::pipe()?;
        let errors = input.try_clone()?;
        let mut command = CommandWrap::with_new(self.program, |command| {
            command
                // A line that begins with a dash is no option.
                .args(["-c", "--", self.line])
                .current_dir(self.cwd)
                .env_clear()
                .envs(self.options.environment())
                .env(ProcessMark::VARIABLE, mark.value(self.options.outer_mark()))
                .stdin(Stdio::null())
                .stdout(input)
                .stderr(errors);
        });
        command.wrap(ProcessGroup::leader()).wrap(KillOnDrop);
        let output = ChildStdout::from_std(OwnedFd::from(output).into())?;
        let child = command.spawn()?;
        // The command holds this side's ends of the pipe.
        drop(command);
        Ok((Running::new(child, mark), output))
    }
}

/// A shell that runs, and all that it started. Dropping it kills them, without a runtime too.
#[derive(Debug)]
struct Running {
    child: Box<dyn ChildWrapper>,
    descendants: Descendants,
    killed: bool,
}

struct Watched {
    status: Option<ExitStatus>,
    timed_out: bool,
    /// Everybody has closed the output.
    closed: bool,
}

impl Running {
    fn new(child: Box<dyn ChildWrapper>, mark: ProcessMark) -> Self {
        Self {
            descendants: Descendants::of(mark, child.id()),
            child,
            killed: false,
        }
    }

    /// Reads the output until the leader has ended and the output is closed, or the time is over.
    async fn watch(
        &mut self,
        output: &mut ChildStdout,
        capture: &mut Capture,
        deadline: Instant,
        cx: &Context,
    ) -> Result<Watched, HandlerError> {
        let mut watched = Watched {
            status: None,
            timed_out: false,
            closed: false,
        };
        // A store that hangs must not hang the command too.
        let stored_by = deadline + STORING;
        let mut deadline = deadline;
        let mut buffer = vec![0; 64 * 1024];
        let mut reports = interval(REPORT);
        reports.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut reported = 0;
        while watched.status.is_none() || !watched.closed {
            tokio::select! {
                read = output.read(&mut buffer), if !watched.closed => {
                    let bytes = buffer.get(..read?).unwrap_or_default();
                    timeout_at(stored_by, capture.push(bytes)).await.map_err(not_stored)??;
                    watched.closed = bytes.is_empty();
                }
                // The leader alone: what it left behind is not waited for.
                status = self.child.inner_mut().wait(), if watched.status.is_none() => {
                    watched.status = Some(status?);
                    self.descendants.is_reaped();
                    deadline = deadline.min(Instant::now() + GRACE);
                }
                () = sleep_until(deadline) => {
                    watched.timed_out = watched.status.is_none();
                    break;
                }
                _ = reports.tick() => {
                    if capture.bytes() != reported {
                        reported = capture.bytes();
                        cx.progress(report(reported));
                    }
                }
            }
        }
        Ok(watched)
    }

    /// Kills all that is left, the table of processes being read where that may take its time.
    async fn kill_left(&mut self) {
        // Before the group: who has lost its parent can be told by its mark only.
        let descendants = self.descendants.clone();
        // Dropped meanwhile, the table is read once more.
        let _ = tokio::task::spawn_blocking(move || descendants.kill()).await;
        self.kill_group();
        self.killed = true;
    }

    fn kill_group(&mut self) {
        // Nobody may be left in it, which is no error. The number of a group is not given out again
        // while it has members, and after that only when all other numbers have had their turn.
        let _ = self.child.start_kill();
    }

    /// The status of the leader, and those of the group that became children of this process.
    async fn reap(&mut self, status: Option<ExitStatus>) -> Option<ExitStatus> {
        let reaped = timeout(DRAIN, self.child.wait()).await;
        status.or_else(|| reaped.ok()?.ok())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.killed {
            return;
        }
        self.descendants.kill();
        self.kill_group();
    }
}

fn not_stored(_: Elapsed) -> StoreError {
    StoreError::new(
        StoreErrorKind::Io,
        "the store did not take the output of the command in time",
    )
}

fn not_started(error: io::Error) -> HandlerError {
    match error.kind() {
        io::ErrorKind::ArgumentListTooLong => ToolFailure::new(
            "the command is too long for the system; write it to a file and run that",
        )
        .because(error)
        .into(),
        _ => error.into(),
    }
}

/// Reads what is left of the output, and whether that was its end. Only reading is given up: what was
/// read is text that the store gets.
async fn drain(output: &mut ChildStdout, capture: &mut Capture) -> Result<bool, HandlerError> {
    let until = Instant::now() + DRAIN;
    let mut buffer = vec![0; 64 * 1024];
    // A process out of reach may print on and on, and then there is always something to read.
    while Instant::now() < until {
        let Ok(read) = timeout_at(until, output.read(&mut buffer)).await else {
            break;
        };
        let bytes = buffer.get(..read?).unwrap_or_default();
        if bytes.is_empty() {
            return Ok(true);
        }
        capture.push(bytes).await?;
    }
    Ok(false)
}

fn report(bytes: u64) -> Progress {
    Progress::new()
        .done(bytes as f64)
        .message(format!("{bytes} bytes of output"))
}
