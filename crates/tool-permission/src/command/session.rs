//! Programs that keep terminals: `tmux` and `screen`.

use super::field::{CommandWord, Rest};
use super::options::Spec;
use super::reading::Stop;
use super::shell::Dialect;
use super::wrapper::{Inner, Unwrapped};

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
        Some("detach" | "detach-client") => {
            let scan = DETACH.scan(behind)?;
            let inner = scan.values(&["-E"]);
            let inner = inner.map(|text| Inner::Text(text.clone(), Dialect::Plain));
            Ok(Unwrapped {
                elsewhere: true,
                inner: inner.collect(),
                ..Unwrapped::default()
            })
        }
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
    // `-R` starts a session where there is none, and `-m` beside `-d` or `-D` always.
    let or_starts = scan.has(&["-R"]);
    let detaches = scan.has(&["-d", "-D"]) && !scan.has(&["-m"]);
    if !or_starts && (detaches || scan.has(&["-r", "-x"])) {
        return Ok(Unwrapped::default());
    }
    let mut unwrapped = Unwrapped {
        elsewhere: true,
        ..Unwrapped::words(scan.operands.clone())
    };
    // The first operand may be the session that `-R` looks for.
    if or_starts
        && let Some((first, behind)) = scan.operands.split_first()
        && !behind.is_empty()
    {
        if first.rest() == Rest::Words {
            return Err(Stop("an operand may be several words"));
        }
        unwrapped.inner.push(Inner::Words(behind.to_vec()));
    }
    Ok(unwrapped)
}

/// Commands of tmux that run nothing.
const SHOWING: &[&str] = &[
    "attach",
    "attach-session",
    "capture-pane",
    "capturep",
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

/// `-E` names what runs in place of the client.
const DETACH: Spec = Spec {
    flags: "aP",
    valued: "Est",
    ..Spec::NONE
};

const SCREEN: Spec = Spec {
    flags: "aAdDilLmMOqrRUx",
    valued: "ceEhpsStTX",
    ..Spec::NONE
};
