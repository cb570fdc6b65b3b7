//! Wrappers whose words need more than skipping options.

use super::field::{CommandWord, Rest};
use super::options::Spec;
use super::reading::Stop;
use super::shell::Dialect;
use super::wrapper::{Inner, Unwrapped};

/// `find` with actions that run something.
pub(super) fn find(words: &[CommandWord]) -> Result<Unwrapped, Stop> {
    let mut unwrapped = Unwrapped::default();
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        if !word.is_known() && may_run(word, rest.as_slice()) {
            return Err(Stop("find may run what is known only when running"));
        }
        let action = word.known().unwrap_or_default();
        if !matches!(action, "-exec" | "-execdir" | "-ok" | "-okdir") {
            continue;
        }
        let mut inner: Vec<CommandWord> = Vec::new();
        loop {
            let word = rest.next().ok_or(Stop("an action of find does not end"))?;
            let follows_path = inner.last().is_some_and(|last| last.shown() == "{}");
            match word.known() {
                Some(";") => break,
                Some("+") if follows_path => {
                    if let Some(last) = inner.last_mut() {
                        *last = CommandWord::unknown("{}", Rest::Words);
                    }
                    break;
                }
                _ => inner.push(filled(word, "{}", Rest::Part)),
            }
        }
        if inner.is_empty() {
            return Err(Stop("an action of find runs nothing"));
        }
        unwrapped.elsewhere = unwrapped.elsewhere || action.ends_with("dir");
        unwrapped.inner.push(Inner::Words(inner));
    }
    Ok(unwrapped)
}

/// Whether a word of `find` that is not known may be an action that runs something.
fn may_run(word: &CommandWord, behind: &[CommandWord]) -> bool {
    let acts = |start: &&str| {
        let text = word.beginning();
        start.starts_with(text) || text.starts_with(start)
    };
    // The names of files do not begin with a dash, unless somebody means them to.
    let expands = word.shown().contains(['$', '`']) || word.shown() == "{input}";
    match word.rest() {
        Rest::Words => expands,
        Rest::Nothing => false,
        Rest::Part => {
            let mut behind = behind.iter();
            let first = behind.next();
            ["-exec", "-ok"].iter().any(acts)
                && first.is_some_and(|word| !word.beginning().starts_with('-'))
                && behind.any(|word| matches!(word.known(), None | Some(";" | "+")))
        }
    }
}

/// `xargs`, which adds words from its input.
pub(super) fn xargs(words: &[CommandWord]) -> Result<Unwrapped, Stop> {
    let scan = XARGS.scan(words)?;
    if scan.has(&["--help", "--version"]) {
        return Ok(Unwrapped::default());
    }
    let mark = match scan.value(&["-I", "-J", "-i", "--replace"]) {
        Some(mark) => Some(mark.known().ok_or(Stop("a mark of xargs is not known"))?),
        None if scan.has(&["-i", "--replace"]) => Some("{}"),
        None => None,
    };
    let mut inner = scan.operands.clone();
    if inner.is_empty() {
        inner.push(CommandWord::literal("echo"));
    }
    match mark {
        Some("") => return Err(Stop("a mark of xargs is empty")),
        Some(mark) => inner
            .iter_mut()
            .for_each(|word| *word = filled(word, mark, Rest::Words)),
        None => inner.push(CommandWord::unknown("{input}", Rest::Words)),
    }
    Ok(Unwrapped {
        transparent: true,
        ..Unwrapped::words(inner)
    })
}

/// `flock`, whose command follows the file.
pub(super) fn flock(words: &[CommandWord]) -> Result<Unwrapped, Stop> {
    let scan = FLOCK.scan(words)?;
    let Some((file, command)) = scan.operands.split_first() else {
        return Ok(Unwrapped::default());
    };
    if file.rest() == Rest::Words {
        return Err(Stop("an operand may be several words"));
    }
    match command {
        [option, text, ..] if matches!(option.known(), Some("-c" | "--command")) => {
            Ok(Unwrapped::text(text.clone(), Dialect::Plain))
        }
        _ => Ok(Unwrapped::words(command.to_vec())),
    }
}

/// `watch`, which joins its words to a text for a shell.
pub(super) fn watch(words: &[CommandWord]) -> Result<Unwrapped, Stop> {
    let scan = WATCH.scan(words)?;
    if scan.has(&["-h", "-v", "--help", "--version"]) || scan.operands.is_empty() {
        return Ok(Unwrapped::default());
    }
    if scan.has(&["-x", "--exec"]) {
        return Ok(Unwrapped::words(scan.operands));
    }
    Ok(Unwrapped::text(joined(&scan.operands), Dialect::Plain))
}

/// `script`, which runs a text, or a shell.
pub(super) fn script(words: &[CommandWord]) -> Result<Unwrapped, Stop> {
    let scan = SCRIPT.scan_all(words)?;
    if scan.has(&["-h", "-V", "--help", "--version"]) {
        return Ok(Unwrapped::default());
    }
    match scan.value(&["-c", "--command"]) {
        Some(text) if scan.operands.len() <= 1 => Ok(Unwrapped::text(text.clone(), Dialect::Plain)),
        // Some versions take a command behind the file.
        _ => Err(Stop("script starts a shell")),
    }
}

/// `su`, which runs a text, or a shell.
pub(super) fn su(words: &[CommandWord]) -> Result<Unwrapped, Stop> {
    let scan = SU.scan_all(words)?;
    if scan.has(&["-h", "-V", "--help", "--version"]) {
        return Ok(Unwrapped::default());
    }
    let dialect = match scan.value(&["-s", "--shell"]) {
        None => Some(Dialect::Plain),
        Some(shell) => shell.known().map(base_name).and_then(Dialect::of),
    };
    let dash = |word: &&CommandWord| word.known() != Some("-");
    let texts = ["-c", "--command", "--session-command"];
    match (scan.value(&texts), dialect) {
        (Some(text), Some(dialect)) if scan.operands.iter().filter(dash).count() <= 1 => {
            Ok(Unwrapped {
                elsewhere: true,
                ..Unwrapped::text(text.clone(), dialect)
            })
        }
        _ => Err(Stop("su starts a shell")),
    }
}

/// `parallel`, which makes texts for a shell from its words and from lists or its input.
pub(super) fn parallel(words: &[CommandWord]) -> Result<Unwrapped, Stop> {
    let scan = PARALLEL.scan(words)?;
    if scan.has(&["--help", "--version"]) {
        return Ok(Unwrapped::default());
    }
    let lists = |word: &CommandWord| word.beginning().starts_with(":::");
    let command: Vec<&CommandWord> = scan
        .operands
        .iter()
        .take_while(|word| !lists(word))
        .collect();
    if command.is_empty() {
        return Err(Stop("parallel runs what its input says"));
    }
    let mut inner = Vec::new();
    for word in command {
        let text = word
            .known()
            .ok_or(Stop("parallel runs what is not known"))?;
        if !text.bytes().all(is_inert) {
            return Err(Stop("parallel runs a text with operators"));
        }
        let parts = text.split_ascii_whitespace().map(CommandWord::literal);
        inner.extend(parts.map(|part| filled(&part, "{", Rest::Words)));
    }
    inner.push(CommandWord::unknown("{input}", Rest::Words));
    Ok(Unwrapped::words(inner))
}

/// The last part of a path.
pub(super) fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// A word in which something is put in place of the mark.
pub(super) fn filled(word: &CommandWord, mark: &str, rest: Rest) -> CommandWord {
    match word.beginning().find(mark) {
        Some(at) => word.cut(at, rest),
        None => word.clone(),
    }
}

/// Words joined by blanks, as a text for a shell.
pub(super) fn joined(words: &[CommandWord]) -> CommandWord {
    let known: Option<Vec<&str>> = words.iter().map(CommandWord::known).collect();
    match known {
        Some(words) => CommandWord::literal(words.join(" ")),
        None => {
            let shown: Vec<&str> = words.iter().map(CommandWord::shown).collect();
            CommandWord::unknown(shown.join(" "), Rest::Part)
        }
    }
}

/// Whether a character means nothing to a shell.
fn is_inert(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b" ./:=@%+,_-{}#".contains(&byte)
}

const XARGS: Spec = Spec {
    flags: "0rtpxo",
    valued: "adEILnPsJRS",
    attached: "eil",
    long_flags: &[
        "null",
        "no-run-if-empty",
        "verbose",
        "interactive",
        "exit",
        "open-tty",
        "show-limits",
        "eof",
        "replace",
        "max-lines",
        "help",
        "version",
    ],
    long_valued: &[
        "arg-file",
        "delimiter",
        "max-args",
        "max-procs",
        "max-chars",
        "process-slot-var",
    ],
    numbers: false,
};

const FLOCK: Spec = Spec {
    flags: "sxeunoFhV",
    valued: "wE",
    attached: "",
    long_flags: &[
        "shared",
        "exclusive",
        "unlock",
        "nonblock",
        "nb",
        "close",
        "no-fork",
        "verbose",
        "help",
        "version",
    ],
    long_valued: &["timeout", "wait", "conflict-exit-code"],
    numbers: false,
};

const WATCH: Spec = Spec {
    flags: "bcCdegtxwrhv",
    valued: "nq",
    attached: "",
    long_flags: &[
        "beep",
        "color",
        "no-color",
        "differences",
        "errexit",
        "chgexit",
        "no-title",
        "exec",
        "precise",
        "no-wrap",
        "no-rerun",
        "help",
        "version",
    ],
    long_valued: &["interval", "equexit"],
    numbers: false,
};

const SCRIPT: Spec = Spec {
    flags: "aefqhV",
    valued: "cEIBOTmo",
    attached: "t",
    long_flags: &[
        "append", "return", "flush", "force", "quiet", "timing", "help", "version",
    ],
    long_valued: &[
        "command",
        "echo",
        "log-in",
        "log-out",
        "log-io",
        "log-timing",
    ],
    numbers: false,
};

const SU: Spec = Spec {
    flags: "flmpPhV",
    valued: "cgGsw",
    attached: "",
    long_flags: &[
        "login",
        "preserve-environment",
        "fast",
        "pty",
        "help",
        "version",
    ],
    long_valued: &[
        "command",
        "session-command",
        "group",
        "supp-group",
        "shell",
        "whitelist-environment",
    ],
    numbers: false,
};

const PARALLEL: Spec = Spec {
    flags: "0kuXmtv",
    valued: "jPNnLsaI",
    attached: "",
    long_flags: &[
        "null",
        "keep-order",
        "ungroup",
        "group",
        "bar",
        "progress",
        "eta",
        "dry-run",
        "verbose",
        "will-cite",
        "no-run-if-empty",
        "line-buffer",
        "lb",
        "help",
        "version",
    ],
    long_valued: &[
        "jobs",
        "max-procs",
        "max-args",
        "max-replace-args",
        "delay",
        "timeout",
        "retries",
        "halt",
        "joblog",
        "arg-file",
        "load",
        "memfree",
    ],
    numbers: false,
};
