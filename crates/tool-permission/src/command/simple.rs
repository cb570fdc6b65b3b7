//! Wrappers whose command follows options and a fixed number of operands.

use super::field::{CommandWord, Rest};
use super::options::{Scan, Spec};
use super::reading::Stop;
use super::wrapper::Unwrapped;

/// A wrapper whose words are options, a fixed number of operands, and the command.
pub(super) struct Simple {
    name: &'static str,
    spec: Spec,
    operands: usize,
    transparent: bool,
    /// Options with which nothing is run.
    lone: &'static [&'static str],
    /// Without a command it starts a shell.
    shell: bool,
}

/// The wrapper of that name.
pub(super) fn find(name: &str) -> Option<&'static Simple> {
    SIMPLE.iter().find(|simple| simple.name == name)
}

impl Simple {
    pub(super) fn unwrap(&self, words: &[CommandWord]) -> Result<Unwrapped, Stop> {
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
        if inner.is_empty() && self.shell {
            return Err(Stop("a shell reads its program from its input"));
        }
        Ok(Unwrapped {
            transparent: self.transparent,
            // Where `time` is a keyword depends on the shell and its version.
            in_shell: matches!(self.name, "command" | "builtin" | "time"),
            ..Unwrapped::words(inner)
        })
    }
}

/// Options that only print something.
pub(super) const INFORMING: &[&str] = &["--help", "--version"];

const SIMPLE: &[Simple] = &[
    Simple {
        name: "nohup",
        spec: Spec {
            long_flags: INFORMING_NAMES,
            ..Spec::NONE
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
            ..Spec::NONE
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
            ..Spec::NONE
        },
        operands: 1,
        ..TRANSPARENT
    },
    Simple {
        name: "setsid",
        spec: Spec {
            flags: "cfwhV",
            long_flags: &["ctty", "fork", "wait", "help", "version"],
            ..Spec::NONE
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
            ..Spec::NONE
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
            ..Spec::NONE
        },
        lone: &["-p", "-P", "-u", "--pid", "--pgid", "--uid", "-h", "-V"],
        ..TRANSPARENT
    },
    Simple {
        name: "command",
        spec: Spec {
            flags: "pvV",
            ..Spec::NONE
        },
        lone: &["-v", "-V"],
        ..TRANSPARENT
    },
    Simple {
        name: "exec",
        spec: Spec {
            flags: "cl",
            valued: "a",
            ..Spec::NONE
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
            ..Spec::NONE
        },
        lone: &["-L", "-C"],
        shell: true,
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
            ..Spec::NONE
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
            ..Spec::NONE
        },
        lone: &["-V"],
        ..OPEN
    },
    Simple {
        name: "taskset",
        spec: Spec {
            flags: "achpV",
            long_flags: &["all-tasks", "cpu-list", "pid", "help", "version"],
            ..Spec::NONE
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
            ..Spec::NONE
        },
        operands: 1,
        shell: true,
        ..OPEN
    },
    Simple {
        name: "pkexec",
        spec: Spec {
            long_flags: &["disable-internal-agent", "keep-cwd", "help", "version"],
            long_valued: &["user"],
            ..Spec::NONE
        },
        shell: true,
        ..OPEN
    },
    Simple {
        name: "ltrace",
        spec: Spec {
            flags: "bcCfhiLrStTV",
            valued: "aAeFlnopsuwx",
            long_flags: INFORMING_NAMES,
            ..Spec::NONE
        },
        lone: &["-h", "-V"],
        ..OPEN
    },
    Simple {
        name: "unshare",
        spec: Spec {
            flags: "CTUcfimnpruhV",
            valued: "GRSw",
            long_flags: &[
                "cgroup",
                "fork",
                "help",
                "ipc",
                "keep-caps",
                "kill-child",
                "map-auto",
                "map-current-user",
                "map-root-user",
                "mount",
                "mount-proc",
                "net",
                "pid",
                "time",
                "user",
                "uts",
                "version",
            ],
            long_valued: &["propagation", "root", "setgid", "setgroups", "setuid", "wd"],
            ..Spec::NONE
        },
        lone: &["-h", "-V"],
        shell: true,
        ..OPEN
    },
    Simple {
        name: "nsenter",
        spec: Spec {
            flags: "FZaehV",
            valued: "GStW",
            attached: "CTUimnpruw",
            long_flags: &[
                "all",
                "cgroup",
                "env",
                "follow-context",
                "help",
                "ipc",
                "mount",
                "net",
                "no-fork",
                "pid",
                "preserve-credentials",
                "root",
                "time",
                "user",
                "uts",
                "version",
                "wd",
            ],
            long_valued: &["setgid", "setuid", "target", "wdns"],
            ..Spec::NONE
        },
        lone: &["-h", "-V"],
        shell: true,
        ..OPEN
    },
    Simple {
        name: "fakeroot",
        spec: Spec {
            flags: "huv",
            valued: "bfils",
            long_flags: INFORMING_NAMES,
            ..Spec::NONE
        },
        lone: &["-h", "-v"],
        shell: true,
        ..OPEN
    },
    Simple {
        name: "gosu",
        operands: 1,
        ..OPEN
    },
    Simple {
        name: "su-exec",
        operands: 1,
        ..OPEN
    },
    Simple {
        name: "torsocks",
        ..OPEN
    },
    Simple {
        name: "proxychains",
        spec: PROXYCHAINS,
        ..OPEN
    },
    Simple {
        name: "proxychains4",
        spec: PROXYCHAINS,
        ..OPEN
    },
    Simple {
        name: "unbuffer",
        spec: Spec {
            flags: "p",
            ..Spec::NONE
        },
        ..OPEN
    },
    Simple {
        name: "xvfb-run",
        spec: Spec {
            flags: "ahl",
            valued: "efnpsw",
            long_flags: &["auto-servernum", "help", "listen-tcp"],
            long_valued: &[
                "auth-file",
                "error-file",
                "server-num",
                "server-args",
                "wait",
            ],
            ..Spec::NONE
        },
        lone: &["-h"],
        ..OPEN
    },
    Simple {
        name: "caffeinate",
        spec: Spec {
            flags: "dimsu",
            valued: "tw",
            ..Spec::NONE
        },
        ..OPEN
    },
];

const PROXYCHAINS: Spec = Spec {
    flags: "q",
    valued: "f",
    ..Spec::NONE
};

const INFORMING_NAMES: &[&str] = &["help", "version"];

/// Only the command inside needs an allow rule.
const TRANSPARENT: Simple = Simple {
    name: "",
    spec: Spec::NONE,
    operands: 0,
    transparent: true,
    lone: &[],
    shell: false,
};

/// The wrapper needs an allow rule of its own.
const OPEN: Simple = Simple {
    transparent: false,
    ..TRANSPARENT
};
