//! Programs and builtins that run the command among their words.

use super::field::{CommandWord, Rest};
use super::options::Spec;
use super::reading::Stop;
use super::simple::{self, INFORMING};
use super::{launcher, package, remote, runner, session, shell};

/// What a call of a wrapper runs.
#[derive(Debug, Default)]
pub(super) struct Unwrapped {
    pub(super) inner: Vec<Inner>,
    /// An allow of the inner command is enough.
    pub(super) transparent: bool,
    /// The inner command runs in the shell itself.
    pub(super) in_shell: bool,
    /// The folder that the inner command runs in.
    pub(super) folder: Option<CommandWord>,
    /// The inner command runs in a folder that nobody can tell.
    pub(super) elsewhere: bool,
    /// Variables that the inner command gets.
    pub(super) sets: Vec<CommandWord>,
    /// It also runs what nobody can tell.
    pub(super) hidden: Option<Stop>,
}

#[derive(Debug)]
pub(super) enum Inner {
    Words(Vec<CommandWord>),
    /// The text of a program for a shell.
    Text(CommandWord, shell::Dialect),
}

/// What a call runs, if the program is a wrapper.
pub(super) fn unwrap(name: &str, words: &[CommandWord]) -> Option<Result<Unwrapped, Stop>> {
    let behind = words.get(1..).unwrap_or_default();
    Some(match name {
        "env" => env(behind),
        "sudo" => sudo(behind),
        "find" => runner::find(behind),
        "xargs" => runner::xargs(behind),
        "flock" => runner::flock(behind),
        "watch" => runner::watch(behind),
        "script" => runner::script(behind),
        "su" => runner::su(behind),
        "parallel" => runner::parallel(behind),
        "busybox" | "toybox" => Ok(applet(behind)),
        "bwrap" => launcher::bwrap(behind),
        "gdb" | "lldb" => launcher::debugger(behind),
        "valgrind" => launcher::valgrind(behind),
        "perf" => launcher::perf(behind),
        "entr" => launcher::entr(behind),
        "hyperfine" => launcher::hyperfine(behind),
        "at" | "batch" | "crontab" => launcher::later(behind),
        "ssh" => remote::ssh(behind),
        "docker" | "docker-compose" | "nerdctl" | "podman" => remote::docker(behind),
        "kubectl" | "oc" => remote::kubectl(behind),
        "tmux" => session::tmux(behind),
        "screen" => session::screen(behind),
        unread if UNREAD.contains(&unread) || is_loader(unread) => match behind {
            [only] if INFORMING.iter().any(|option| only.known() == Some(*option)) => {
                Ok(Unwrapped::default())
            }
            _ => Err(Stop("what a wrapper runs is not read")),
        },
        _ => {
            let Some(simple) = simple::find(name) else {
                return package::unwrap(name, behind)
                    .or_else(|| launcher::project(name, behind))
                    .or_else(|| beside_others(name, words));
            };
            simple.unwrap(behind)
        }
    })
}

/// Whether a program is the loader of programs, which runs one that it is given.
fn is_loader(name: &str) -> bool {
    name.starts_with("ld-") && name.contains(".so") || name == "ld.so"
}

/// A wrapper under the name that it has where the system has one of its own.
fn beside_others(name: &str, words: &[CommandWord]) -> Option<Result<Unwrapped, Stop>> {
    let plain = name.strip_prefix('g')?;
    if !BESIDE.contains(&plain) {
        return None;
    }
    let unwrapped = unwrap(plain, words)?;
    Some(unwrapped.map(|unwrapped| Unwrapped {
        transparent: false,
        ..unwrapped
    }))
}

impl Unwrapped {
    /// A wrapper of these words. Without a word nothing is wrapped.
    pub(super) fn words(words: Vec<CommandWord>) -> Self {
        Self {
            inner: match words.is_empty() {
                true => Vec::new(),
                false => vec![Inner::Words(words)],
            },
            ..Self::default()
        }
    }

    /// A wrapper of a text.
    pub(super) fn text(text: CommandWord, dialect: shell::Dialect) -> Self {
        Self {
            inner: vec![Inner::Text(text, dialect)],
            ..Self::default()
        }
    }
}

fn applet(words: &[CommandWord]) -> Unwrapped {
    match words.first() {
        Some(first) if first.beginning().starts_with('-') => Unwrapped::default(),
        _ => Unwrapped::words(words.to_vec()),
    }
}

fn env(words: &[CommandWord]) -> Result<Unwrapped, Stop> {
    let mut words = words.to_vec();
    let mut unwrapped = Unwrapped {
        transparent: true,
        ..Unwrapped::default()
    };
    // `-S` puts words in place of itself, which may begin with options again.
    for _ in 0..MOST_SPLITS {
        let scan = ENV.scan(&words)?;
        if scan.has(INFORMING) {
            return Ok(Unwrapped::default());
        }
        if let Some(folder) = scan.value(&["-C", "--chdir"]) {
            unwrapped.folder = Some(folder.clone());
        }
        let split: Vec<_> = scan.values(&["-S", "--split-string"]).collect();
        if let [text] = split.as_slice() {
            let text = text.known().ok_or(Stop("env splits what is not known"))?;
            let mut next = split_string(text)?;
            next.extend(scan.operands);
            words = next;
            continue;
        }
        if !split.is_empty() {
            return Err(Stop("env splits more than one text"));
        }
        let mut operands = scan.operands.as_slice();
        if let [dash, behind @ ..] = operands
            && dash.known() == Some("-")
        {
            operands = behind;
        }
        let (sets, inner) = assignments(operands)?;
        unwrapped.sets = sets;
        unwrapped.inner = Unwrapped::words(inner).inner;
        return Ok(unwrapped);
    }
    Err(Stop("env splits a text too often"))
}

/// The words of a text for `env -S`, without what it would expand.
fn split_string(text: &str) -> Result<Vec<CommandWord>, Stop> {
    if text.contains(['\\', '$', '#', '"', '\'']) {
        return Err(Stop("env splits a text with quotes"));
    }
    let words = text.split([' ', '\t', '\n', '\r', '\x0b', '\x0c']);
    Ok(words
        .filter(|word| !word.is_empty())
        .map(CommandWord::literal)
        .collect())
}

/// The assignments at the start, and what follows them.
fn assignments(words: &[CommandWord]) -> Result<(Vec<CommandWord>, Vec<CommandWord>), Stop> {
    let count = words
        .iter()
        .take_while(|word| word.beginning().contains('='))
        .count();
    let (sets, inner) = words.split_at_checked(count).unwrap_or((words, &[]));
    if sets.iter().any(|word| word.rest() == Rest::Words) {
        return Err(Stop("an assignment may be several words"));
    }
    Ok((sets.to_vec(), inner.to_vec()))
}

fn sudo(words: &[CommandWord]) -> Result<Unwrapped, Stop> {
    let scan = SUDO.scan(words)?;
    let edits = [
        "-e",
        "--edit",
        "-K",
        "--remove-timestamp",
        "-v",
        "--validate",
    ];
    if scan.has(&edits) || scan.has(&["-V", "--version", "--help"]) {
        return Ok(Unwrapped::default());
    }
    let (sets, inner) = assignments(&scan.operands)?;
    let login = scan.has(&["-i", "--login"]);
    if inner.is_empty() && (login || scan.has(&["-s", "--shell"])) {
        return Err(Stop("a shell reads its program from its input"));
    }
    Ok(Unwrapped {
        folder: scan.value(&["-D", "--chdir"]).cloned(),
        elsewhere: login || scan.has(&["-R", "--chroot"]),
        sets,
        ..Unwrapped::words(inner)
    })
}

/// Wrappers that are too rare to read their options.
const UNREAD: &[&str] = &[
    "abduco",
    "capsh",
    "chrt",
    "cpulimit",
    "dtach",
    "faketime",
    "firejail",
    "i386",
    "linux32",
    "linux64",
    "numactl",
    "nsjail",
    "prlimit",
    "proot",
    "rlwrap",
    "rr",
    "runuser",
    "setarch",
    "setpriv",
    "socat",
    "systemd-run",
    "x86_64",
];

const BESIDE: &[&str] = &[
    "env", "find", "nice", "nohup", "stdbuf", "time", "timeout", "xargs",
];

const MOST_SPLITS: usize = 8;

const ENV: Spec = Spec {
    flags: "i0v",
    valued: "uCS",
    long_flags: &[
        "ignore-environment",
        "null",
        "debug",
        "block-signal",
        "default-signal",
        "ignore-signal",
        "list-signal-handling",
        "help",
        "version",
    ],
    long_valued: &["unset", "chdir", "split-string"],
    ..Spec::NONE
};

const SUDO: Spec = Spec {
    flags: "ABbEeHiKklNnPSsVv",
    valued: "aCcDghpRrTtUu",
    long_flags: &[
        "askpass",
        "background",
        "bell",
        "edit",
        "help",
        "list",
        "login",
        "no-update",
        "non-interactive",
        "preserve-env",
        "preserve-groups",
        "remove-timestamp",
        "reset-timestamp",
        "set-home",
        "shell",
        "stdin",
        "validate",
        "version",
    ],
    long_valued: &[
        "chdir",
        "chroot",
        "close-from",
        "command-timeout",
        "group",
        "host",
        "other-user",
        "prompt",
        "role",
        "type",
        "user",
    ],
    ..Spec::NONE
};
