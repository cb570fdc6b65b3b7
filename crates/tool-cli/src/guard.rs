//! What ends the processes of a gateway when the gateway itself no longer can.
//!
//! A program that is killed by force does nothing any more, so somebody else has to be there. A
//! command that may start processes is therefore three processes, each the child of the one before:
//!
//! 1. the *front*, whom the client started. It passes signals on and hands the status back.
//! 2. the *guard*, in a process group of its own, so that what is sent to the group of the program
//!    spares it.
//! 3. the *gateway*, which does the work, in the group and on the streams of the front.
//!
//! Front and guard are subreapers: whoever below them loses its parent becomes their child, in
//! whatever session, group or environment it is. So each of them can kill all that is below it, and
//! does when the one below it has ended. The guard also does when the front has. Whichever of the
//! three dies, and if front and gateway die together, one is left that knows of everything. If front
//! and guard do, the gateway ends as if it was told to, which ends what a call or a server has in its
//! group. Of all three at once nobody is left.
//!
//! A guard above each command was the other way; it would cost a process and a start for each call,
//! stand between every stream and its reader, and have to be asked for by every host.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode};
use std::task::Poll;
use std::time::{Duration, Instant};

use rustix::process::{
    Pid, Signal, WaitOptions, WaitStatus, getpid, getppid, kill_process, set_child_subreaper,
    set_parent_process_death_signal, setpgid, wait,
};
use rustix::stdio::{dup2_stderr, dup2_stdin, dup2_stdout};
use tokio::signal::unix::{SignalKind, signal};

/// The first argument of a guard; the second is the number of its parent.
const GUARD: &str = "__guard";
/// The first argument of a gateway; the second is the number of its parent.
const GUARDED: &str = "__guarded";

/// What may be sent to a program from outside, and is passed on.
const PASSED_ON: [Signal; 6] = [
    Signal::TERM,
    Signal::INT,
    Signal::HUP,
    Signal::QUIT,
    Signal::USR1,
    Signal::USR2,
];
/// How long killed processes are waited for. Those of another user cannot be killed at all.
const PATIENCE: Duration = Duration::from_secs(5);

/// Which of the three processes this one is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Front,
    Guard { parent: i32 },
    Gateway { parent: i32 },
}

impl Role {
    /// Reads the role off the command line and takes it away there.
    pub(crate) fn take(words: &mut Vec<OsString>) -> Self {
        let parent = words.get(2).and_then(|word| word.to_str()?.parse().ok());
        let role = match (words.get(1).and_then(|word| word.to_str()), parent) {
            (Some(GUARD), Some(parent)) => Self::Guard { parent },
            (Some(GUARDED), Some(parent)) => Self::Gateway { parent },
            _ => return Self::Front,
        };
        words.drain(1..3);
        role
    }

    /// Makes the gateway end with its guard. From here on it may start processes.
    pub(crate) fn bind(self) -> io::Result<()> {
        match self {
            Self::Gateway { parent } => follow(parent),
            Self::Front | Self::Guard { .. } => Ok(()),
        }
    }
}

/// Runs a command line below a guard, and gives the status that it ended with.
pub(crate) fn front(words: &[OsString]) -> io::Result<ExitCode> {
    stand(words, GUARD, None, None)
}

/// Runs a command line as the guard that a front has started.
pub(crate) fn guard(words: &[OsString], parent: i32) -> io::Result<ExitCode> {
    // Another process group is in the background of a terminal; the gateway stays where it was. A
    // group that was made outside of a container has no number to come back to.
    let group = Row::read("self").map(|row| row.group).filter(|id| *id > 0);
    if group.is_some() {
        setpgid(None, None)?;
    }
    stand(words, GUARDED, group, Some(parent))
}

/// Starts the next process, and stays until it has ended and nothing is left of it.
fn stand(
    words: &[OsString],
    next: &str,
    group: Option<i32>,
    parent: Option<i32>,
) -> io::Result<ExitCode> {
    set_child_subreaper(Some(getpid()))?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build()?;
    let status = runtime.block_on(async {
        // All of them before anything is started: until then they just end this process.
        let mut signals = Signals::new()?;
        if let Some(parent) = parent {
            follow(parent)?;
        }
        let child = start(words, next, group)?;
        let_go_of_streams()?;
        watch(&mut signals, child, parent).await
    });
    end_descendants();
    Ok(match status? {
        Some(status) => code(status),
        None => ExitCode::FAILURE,
    })
}

/// The status of the child, or nothing when the parent has ended before it.
async fn watch(
    signals: &mut Signals,
    child: Pid,
    parent: Option<i32>,
) -> io::Result<Option<WaitStatus>> {
    loop {
        let sent = signals.next().await;
        if parent.is_some_and(|parent| !is_parent(parent)) {
            return Ok(None);
        }
        if sent != Signal::CHILD {
            // It may just have ended; its number is not given out again before it is reaped here.
            let _ = kill_process(child, sent);
            continue;
        }
        // One signal may stand for many: those that were left behind end here as well.
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((ended, status))) if ended == child => return Ok(Some(status)),
                Ok(Some(_)) | Err(rustix::io::Errno::INTR) => {}
                Ok(None) => break,
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// This program once more, one role further, on the same streams.
fn start(words: &[OsString], next: &str, group: Option<i32>) -> io::Result<Pid> {
    let mut command = Command::new(std::env::current_exe()?);
    if let Some(name) = words.first() {
        command.arg0(name);
    }
    command
        .arg(next)
        .arg(getpid().as_raw_nonzero().to_string())
        .args(words.iter().skip(1));
    if let Some(group) = group {
        command.process_group(group);
    }
    Ok(Pid::from_child(&command.spawn()?))
}

/// Whoever waits for the end of a stream must not wait for this process.
fn let_go_of_streams() -> io::Result<()> {
    let null = fs::File::options()
        .read(true)
        .write(true)
        .open("/dev/null")?;
    dup2_stdin(&null)?;
    dup2_stdout(&null)?;
    dup2_stderr(&null)?;
    Ok(())
}

/// Has this process told when its parent ends, which may have happened already.
fn follow(parent: i32) -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::TERM))?;
    if is_parent(parent) {
        Ok(())
    } else {
        Err(io::Error::other(
            "the process that started this one is gone",
        ))
    }
}

fn is_parent(pid: i32) -> bool {
    getppid().is_some_and(|parent| parent.as_raw_nonzero().get() == pid)
}

/// Kills all that is below this process. Only children are killed, whose numbers cannot mean
/// anybody else; theirs become its children by that.
fn end_descendants() {
    let deadline = Instant::now() + PATIENCE;
    while Instant::now() < deadline {
        match wait(WaitOptions::NOHANG) {
            Ok(Some(_)) | Err(rustix::io::Errno::INTR) => continue,
            // There are none.
            Err(_) => return,
            Ok(None) => {}
        }
        for child in children() {
            let _ = kill_process(child, Signal::KILL);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn children() -> Vec<Pid> {
    let own = getpid().as_raw_nonzero().get();
    let Ok(processes) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    let names = processes.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    names
        .filter_map(|name| {
            let pid = Pid::from_raw(name.parse().ok()?)?;
            Row::read(&name)
                .is_some_and(|row| row.parent == own)
                .then_some(pid)
        })
        .collect()
}

/// The status that a shell gives to what ended like that.
fn code(status: WaitStatus) -> ExitCode {
    let code = status
        .exit_status()
        .or_else(|| Some(128 + status.terminating_signal()?));
    code.and_then(|code| u8::try_from(code).ok())
        .map_or(ExitCode::FAILURE, ExitCode::from)
}

/// A row of the table of processes.
struct Row {
    parent: i32,
    group: i32,
}

impl Row {
    fn read(pid: &str) -> Option<Self> {
        let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
        // The second field is the name in parentheses, which may hold anything.
        let rest = stat.rsplit(|byte| *byte == b')').next()?;
        let mut fields = std::str::from_utf8(rest).ok()?.split_ascii_whitespace();
        // The state is the third field, the parent the fourth, the group the fifth.
        Some(Self {
            parent: fields.nth(1)?.parse().ok()?,
            group: fields.next()?.parse().ok()?,
        })
    }
}

/// The signals that this process is sent.
struct Signals(Vec<(Signal, tokio::signal::unix::Signal)>);

impl Signals {
    fn new() -> io::Result<Self> {
        let kinds = PASSED_ON.into_iter().chain([Signal::CHILD]);
        let streams = kinds.map(|kind| Ok((kind, signal(SignalKind::from_raw(kind.as_raw()))?)));
        streams.collect::<io::Result<_>>().map(Self)
    }

    async fn next(&mut self) -> Signal {
        std::future::poll_fn(|cx| {
            for (kind, stream) in &mut self.0 {
                if stream.poll_recv(cx).is_ready() {
                    return Poll::Ready(*kind);
                }
            }
            Poll::Pending
        })
        .await
    }
}
