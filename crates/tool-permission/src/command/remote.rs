//! Programs that run a command on another machine or in a container.

use super::field::{CommandWord, Rest};
use super::options::{Scan, Spec};
use super::reading::Stop;
use super::runner::joined;
use super::shell::Dialect;
use super::simple::INFORMING;
use super::wrapper::Unwrapped;

/// `ssh`, which hands its words to the shell of another machine as one text.
pub(super) fn ssh(words: &[CommandWord]) -> Result<Unwrapped, Stop> {
    let before = SSH.scan(words)?;
    if before.has(&["-V"]) {
        return Ok(Unwrapped::default());
    }
    let Some((host, behind)) = before.operands.split_first() else {
        return Ok(Unwrapped::default());
    };
    if host.rest() == Rest::Words {
        return Err(Stop("an operand may be several words"));
    }
    // Options may also stand behind the host.
    let after = SSH.scan(behind)?;
    for scan in [&before, &after] {
        let names = |word: &CommandWord| {
            let text = word.beginning().to_ascii_lowercase();
            !word.is_known() || NAMING.iter().any(|name| text.contains(name))
        };
        if scan.has(&["-F", "-I"]) || scan.values(&["-o"]).any(names) {
            return Err(Stop("an option of ssh may name a program"));
        }
        if scan.has(&["-Q", "-O", "-G"]) {
            return Ok(Unwrapped::default());
        }
    }
    if after.operands.is_empty() {
        return match before.has(&["-N"]) || after.has(&["-N"]) {
            true => Ok(Unwrapped::default()),
            false => Err(Stop("a shell reads its program from its input")),
        };
    }
    Ok(Unwrapped {
        elsewhere: true,
        ..Unwrapped::text(joined(&after.operands), Dialect::Plain)
    })
}

/// `docker` and those that take its words: `exec` and `run`, also of `compose`.
pub(super) fn docker(words: &[CommandWord]) -> Result<Unwrapped, Stop> {
    docker_in(words, false)
}

/// The words of `docker`, or of a part of it that has subcommands of its own. No part has a
/// further part.
fn docker_in(words: &[CommandWord], nested: bool) -> Result<Unwrapped, Stop> {
    let Scan { operands, .. } = match DOCKER.scan(words) {
        Ok(scan) if scan.has(INFORMING) => return Ok(Unwrapped::default()),
        scan => scan?,
    };
    let Some((subcommand, behind)) = operands.split_first() else {
        return Ok(Unwrapped::default());
    };
    match subcommand.known() {
        None => Err(Stop("what a container runs is known only when running")),
        Some("compose" | "container") if nested => Err(UNREAD),
        Some("compose" | "container") => docker_in(behind, true),
        Some("exec" | "run" | "create") => {
            let scan = CONTAINER.scan(behind)?;
            if scan.has(&["--entrypoint"]) {
                return Err(Stop("an option says what a container runs"));
            }
            let Some((container, command)) = scan.operands.split_first() else {
                return Ok(Unwrapped::default());
            };
            if container.rest() == Rest::Words {
                return Err(Stop("an operand may be several words"));
            }
            Ok(Unwrapped {
                elsewhere: true,
                ..Unwrapped::words(command.to_vec())
            })
        }
        Some(_) => Ok(Unwrapped::default()),
    }
}

/// `kubectl`, where a command stands behind `--`.
pub(super) fn kubectl(words: &[CommandWord]) -> Result<Unwrapped, Stop> {
    let runs = |word: &CommandWord| {
        let known = word.known();
        known.is_none_or(|text| matches!(text, "exec" | "run" | "debug"))
    };
    if !words.iter().any(runs) {
        return Ok(Unwrapped::default());
    }
    let end = words.iter().position(|word| word.known() == Some("--"));
    let (own, command) = words
        .split_at_checked(end.unwrap_or(words.len()))
        .unwrap_or_default();
    if own.iter().any(|word| word.rest() == Rest::Words) {
        return Err(Stop("an option is known only when running"));
    }
    match command.split_first() {
        Some((_, command)) if !command.is_empty() => Ok(Unwrapped {
            elsewhere: true,
            ..Unwrapped::words(command.to_vec())
        }),
        // An older form has the command behind the pod.
        _ => Err(UNREAD),
    }
}

const UNREAD: Stop = Stop("what a container runs is not read");

/// What the names of those settings of ssh hold that run a program, load a library or read more
/// settings.
const NAMING: &[&str] = &[
    "command",
    "include",
    "pkcs11provider",
    "securitykeyprovider",
    "xauthlocation",
];

const SSH: Spec = Spec {
    flags: "46AaCfGgKkMNnqsTtVvXxYy",
    valued: "BbcDEeFIiJLlmOoPpQRSWw",
    ..Spec::NONE
};

const DOCKER: Spec = Spec {
    flags: "Dv",
    valued: "cHlfp",
    long_flags: &["debug", "tls", "tlsverify", "help", "version"],
    long_valued: &[
        "config",
        "context",
        "host",
        "log-level",
        "file",
        "project-name",
        "project-directory",
        "profile",
        "env-file",
    ],
    ..Spec::NONE
};

const CONTAINER: Spec = Spec {
    flags: "ditPqTI",
    valued: "aehlmpuvwc",
    long_flags: &[
        "detach",
        "init",
        "interactive",
        "no-deps",
        "no-TTY",
        "oom-kill-disable",
        "privileged",
        "publish-all",
        "quiet",
        "read-only",
        "rm",
        "service-ports",
        "tty",
        "help",
        "build",
    ],
    long_valued: &[
        "add-host",
        "cap-add",
        "cap-drop",
        "cpus",
        "device",
        "dns",
        "entrypoint",
        "env",
        "env-file",
        "expose",
        "gpus",
        "hostname",
        "ipc",
        "label",
        "memory",
        "mount",
        "name",
        "network",
        "pid",
        "platform",
        "publish",
        "pull",
        "restart",
        "runtime",
        "security-opt",
        "shm-size",
        "stop-timeout",
        "tmpfs",
        "ulimit",
        "user",
        "userns",
        "volume",
        "volumes-from",
        "workdir",
    ],
    ..Spec::NONE
};
