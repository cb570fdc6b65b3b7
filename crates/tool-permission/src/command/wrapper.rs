//! Programs and builtins that run the command among their words.

use super::field::{CommandWord, Rest};
use super::options::{Scan, Spec};
use super::reading::Stop;
use super::{runner, shell};

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
}

#[derive(Debug)]
pub(super) enum Inner {
    Words(Vec<CommandWord>),
    /// The text of a program for a shell.
    Text(CommandWord, shell::Dialect),
}

/// A wrapper whose words are options, a fixed number of operands, and the command.
struct Simple {
    name: &'static str,
    spec: Spec,
    operands: usize,
    transparent: bool,
    /// Options with which nothing is run.
    lone: &'static [&'static str],
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
        _ => {
            let wrapper = SIMPLE.iter().find(|wrapper| wrapper.name == name)?;
            wrapper.unwrap(behind)
        }
    })
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

impl Simple {
    fn unwrap(&self, words: &[CommandWord]) -> Result<Unwrapped, Stop> {
        let Scan { operands, .. } = match self.spec.scan(words) {
            Ok(scan) if scan.has(self.lone) || scan.has(INFORMING) => {
                return Ok(Unwrapped::default());
            }
            scan => scan?,
        };
        let own = operands.get(..self.operands).unwrap_or(&operands);
        if own.iter().any(|operand| operand.rest() == Rest::Words) {
            return Err(Stop("an operand may be several words"));
        }
        let inner = operands.get(self.operands..).unwrap_or_default().to_vec();
        Ok(Unwrapped {
            transparent: self.transparent,
            in_shell: matches!(self.name, "command" | "builtin"),
            ..Unwrapped::words(inner)
        })
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

const INFORMING: &[&str] = &["--help", "--version"];

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
    ..NONE
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
    ..NONE
};

const NONE: Spec = Spec {
    flags: "",
    valued: "",
    attached: "",
    long_flags: &[],
    long_valued: &[],
    numbers: false,
};

const SIMPLE: &[Simple] = &[
    Simple {
        name: "nohup",
        spec: Spec {
            long_flags: INFORMING_NAMES,
            ..NONE
        },
        ..TRANSPARENT
    },
    Simple {
        name: "nice",
        spec: Spec {
            valued: "n",
            long_flags: INFORMING_NAMES,
            long_valued: &["adjustment"],
            numbers: true,
            ..NONE
        },
        ..TRANSPARENT
    },
    Simple {
        name: "timeout",
        spec: Spec {
            flags: "vpf",
            valued: "ks",
            long_flags: &[
                "preserve-status",
                "foreground",
                "verbose",
                "help",
                "version",
            ],
            long_valued: &["kill-after", "signal"],
            ..NONE
        },
        operands: 1,
        ..TRANSPARENT
    },
    Simple {
        name: "setsid",
        spec: Spec {
            flags: "cfwhV",
            long_flags: &["ctty", "fork", "wait", "help", "version"],
            ..NONE
        },
        lone: &["-h", "-V"],
        ..TRANSPARENT
    },
    Simple {
        name: "stdbuf",
        spec: Spec {
            valued: "ioe",
            long_flags: INFORMING_NAMES,
            long_valued: &["input", "output", "error"],
            ..NONE
        },
        ..TRANSPARENT
    },
    Simple {
        name: "ionice",
        spec: Spec {
            flags: "thV",
            valued: "cnpPu",
            long_flags: &["ignore", "help", "version"],
            long_valued: &["class", "classdata", "pid", "pgid", "uid"],
            ..NONE
        },
        lone: &["-p", "-P", "-u", "--pid", "--pgid", "--uid", "-h", "-V"],
        ..TRANSPARENT
    },
    Simple {
        name: "command",
        spec: Spec {
            flags: "pvV",
            ..NONE
        },
        lone: &["-v", "-V"],
        ..TRANSPARENT
    },
    Simple {
        name: "exec",
        spec: Spec {
            flags: "cl",
            valued: "a",
            ..NONE
        },
        ..TRANSPARENT
    },
    Simple {
        name: "builtin",
        ..OPEN
    },
    Simple {
        name: "doas",
        spec: Spec {
            flags: "Lns",
            valued: "aCu",
            ..NONE
        },
        lone: &["-L", "-C"],
        ..OPEN
    },
    Simple {
        name: "strace",
        spec: Spec {
            flags: "cCdfhiknNqrtTvVwxyYzZAD",
            valued: "abeEIoOpPsSuUX",
            long_flags: &[
                "follow-forks",
                "summary-only",
                "summary",
                "quiet",
                "help",
                "version",
            ],
            long_valued: &["trace", "output", "string-limit", "attach", "env", "user"],
            ..NONE
        },
        lone: &["-h", "-V"],
        ..OPEN
    },
    Simple {
        name: "time",
        spec: Spec {
            flags: "apqvV",
            valued: "fo",
            long_flags: &[
                "append",
                "portability",
                "quiet",
                "verbose",
                "help",
                "version",
            ],
            long_valued: &["format", "output"],
            ..NONE
        },
        lone: &["-V"],
        ..OPEN
    },
    Simple {
        name: "taskset",
        spec: Spec {
            flags: "achpV",
            long_flags: &["all-tasks", "cpu-list", "pid", "help", "version"],
            ..NONE
        },
        operands: 1,
        lone: &["-p", "--pid", "-h", "-V"],
        ..OPEN
    },
    Simple {
        name: "chroot",
        spec: Spec {
            long_flags: &["skip-chdir", "help", "version"],
            long_valued: &["groups", "userspec"],
            ..NONE
        },
        operands: 1,
        ..OPEN
    },
    Simple {
        name: "pkexec",
        spec: Spec {
            long_flags: &["disable-internal-agent", "keep-cwd", "help", "version"],
            long_valued: &["user"],
            ..NONE
        },
        ..OPEN
    },
];

const INFORMING_NAMES: &[&str] = &["help", "version"];

/// Only the command inside needs an allow rule.
const TRANSPARENT: Simple = Simple {
    name: "",
    spec: NONE,
    operands: 0,
    transparent: true,
    lone: &[],
};

/// The wrapper needs an allow rule of its own.
const OPEN: Simple = Simple {
    transparent: false,
    ..TRANSPARENT
};
