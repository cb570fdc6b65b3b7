//! Programs that keep terminals: `tmux` and `screen`.

use super::field::{CommandWord, Rest};
use super::options::Spec;
use super::reading::Stop;
use super::shell::Dialect;
use super::wrapper::Unwrapped;

/// `tmux`: what a new session, window or pane runs. What is typed into one is not read.
pub(super) fn tmux(words: &[CommandWord]) -> Result<Unwrapped, Stop> {
    let scan = TMUX.scan(words)?;
    if scan.has(&["-c", "-f"]) {
        return Err(Stop("an option of tmux names what runs"));
    }
    let Some((subcommand, behind)) = scan.operands.split_first() else {
        return Ok(Unwrapped::default());
    };
    // A semicolon begins a further command, and a format may run a text.
    let more = |word: &CommandWord| {
        word.rest() == Rest::Words || word.shown().ends_with(';') || word.shown().contains("#(")
    };
    if behind.iter().any(more) {
        return Err(Stop("what tmux runs is not read"));
    }
    match subcommand.known() {
        Some(name) if SHOWING.contains(&name) => Ok(Unwrapped::default()),
        Some(name) if OPENING.contains(&name) => {
            let operands = PANE.scan(behind)?.operands;
            Ok(Unwrapped {
                elsewhere: true,
                ..match operands.as_slice() {
                    [text] => Unwrapped::text(text.clone(), Dialect::Plain),
                    _ => Unwrapped::words(operands),
                }
            })
        }
        _ => Err(Stop("what tmux runs is not read")),
    }
}

/// `screen`: what a new window runs.
pub(super) fn screen(words: &[CommandWord]) -> Result<Unwrapped, Stop> {
    if let [only] = words
        && matches!(
            only.known(),
            Some("-ls" | "-list" | "-wipe" | "-v" | "--help")
        )
    {
        return Ok(Unwrapped::default());
    }
    let scan = SCREEN.scan(words)?;
    if scan.has(&["-X", "-c"]) {
        return Err(Stop("what screen runs is not read"));
    }
    let attaches = scan.has(&["-r", "-R", "-x", "-D"]) || (scan.has(&["-d"]) && !scan.has(&["-m"]));
    match attaches {
        true => Ok(Unwrapped::default()),
        false => Ok(Unwrapped {
            elsewhere: true,
            ..Unwrapped::words(scan.operands)
        }),
    }
}

/// Commands of tmux that run nothing.
const SHOWING: &[&str] = &[
    "attach",
    "attach-session",
    "capture-pane",
    "capturep",
    "detach",
    "detach-client",
    "has",
    "has-session",
    "kill-pane",
    "kill-server",
    "kill-session",
    "kill-window",
    "list-panes",
    "list-sessions",
    "list-windows",
    "ls",
    "lsp",
    "lsw",
    "rename-session",
    "rename-window",
    "resize-pane",
    "select-pane",
    "select-window",
];

/// Commands of tmux whose operands are a command, or one text for a shell.
const OPENING: &[&str] = &[
    "new",
    "new-session",
    "new-window",
    "neww",
    "respawn-pane",
    "respawn-window",
    "respawnp",
    "respawnw",
    "split-window",
    "splitw",
];

const TMUX: Spec = Spec {
    flags: "2CDlNuUvV",
    valued: "cfLST",
    ..Spec::NONE
};

const PANE: Spec = Spec {
    flags: "AabDdEhIkPSvXZ",
    valued: "ceFflnpstxy",
    ..Spec::NONE
};

const SCREEN: Spec = Spec {
    flags: "aAdDilLmMOqrRUx",
    valued: "ceEhpsStTX",
    ..Spec::NONE
};
