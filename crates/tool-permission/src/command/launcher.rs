//! Debuggers, tracers, sandboxes and runners of projects that start a command.

use super::field::{CommandWord, Rest};
use super::options::Spec;
use super::reading::Stop;
use super::runner::{filled, joined};
use super::shell::Dialect;
use super::simple::INFORMING;
use super::wrapper::{Inner, Unwrapped};

/// `bwrap`, whose options take several words: only what stands behind `--` is read.
pub(super) fn bwrap(words: &[CommandWord]) -> Result<Unwrapped, Stop> {
    behind_dashes(words, Stop("what a sandbox runs is not read"))
}

/// `gdb` and `lldb`. What they are told on their input they also run, so that they are opaque, but
/// the program is searched for what is denied.
pub(super) fn debugger(words: &[CommandWord]) -> Result<Unwrapped, Stop> {
    let marks = |word: &CommandWord| matches!(word.known(), Some("--args" | "-args" | "--"));
    let command = words.iter().position(marks);
    let command = command.and_then(|at| words.get(at + 1..));
    Ok(Unwrapped {
        hidden: Some(Stop("a debugger runs what it is told")),
        ..Unwrapped::words(command.unwrap_or_default().to_vec())
    })
}

/// `valgrind`, whose options have their values in the same word.
pub(super) fn valgrind(words: &[CommandWord]) -> Result<Unwrapped, Stop> {
    let options = words
        .iter()
        .take_while(|word| word.beginning().starts_with('-'))
        .count();
    let (own, command) = words.split_at_checked(options).unwrap_or_default();
    if own.iter().any(|word| word.rest() == Rest::Words) {
        return Err(Stop("an option is known only when running"));
    }
    Ok(Unwrapped::words(command.to_vec()))
}

/// `perf`, of which some subcommands run a command.
pub(super) fn perf(words: &[CommandWord]) -> Result<Unwrapped, Stop> {
    match words.split_first() {
        None => Ok(Unwrapped::default()),
        Some((word, behind)) => match word.known() {
            Some("record" | "top") => Ok(Unwrapped::words(PERF.scan(behind)?.operands)),
            Some(name @ ("stat" | "trace" | "mem" | "c2c")) => {
                let measures = matches!(name, "stat" | "trace");
                perf_part(PERF.scan(behind)?.operands, measures)
            }
            Some("annotate" | "diff" | "list" | "report" | "version" | "--version" | "--help") => {
                Ok(Unwrapped::default())
            }
            _ => Err(Stop("what a wrapper runs is not read")),
        },
    }
}

/// What stands behind a subcommand of `perf` that has a `record` of its own: the command that this
/// runs or, where the subcommand itself measures, the command at once.
fn perf_part(operands: Vec<CommandWord>, measures: bool) -> Result<Unwrapped, Stop> {
    let Some((first, behind)) = operands.split_first() else {
        return Ok(Unwrapped::default());
    };
    // Three letters are enough of either.
    let is = |name: &str| {
        let known = first.known();
        known.is_some_and(|text| text.len() > 2 && name.starts_with(text))
    };
    if is("record") {
        return Ok(Unwrapped::words(PERF.scan(behind)?.operands));
    }
    match (measures, is("report")) {
        (_, true) => Ok(Unwrapped::default()),
        (true, false) => Ok(Unwrapped::words(operands)),
        (false, false) => Err(Stop("what a wrapper runs is not read")),
    }
}

/// `entr`, which puts the name of a file in place of `/_`.
pub(super) fn entr(words: &[CommandWord]) -> Result<Unwrapped, Stop> {
    let scan = ENTR.scan(words)?;
    if scan.has(&["-s"]) {
        return Ok(Unwrapped::text(joined(&scan.operands), Dialect::Plain));
    }
    let words = scan.operands.iter();
    Ok(Unwrapped::words(
        words.map(|word| filled(word, "/_", Rest::Part)).collect(),
    ))
}

/// `hyperfine`, whose operands are texts for a shell.
pub(super) fn hyperfine(words: &[CommandWord]) -> Result<Unwrapped, Stop> {
    let scan = HYPERFINE.scan_all(words)?;
    let texts = ["-p", "--prepare", "-s", "--setup", "-c", "--cleanup"];
    let texts = scan.operands.iter().chain(scan.values(&texts));
    let inner = texts.map(|text| Inner::Text(text.clone(), Dialect::Plain));
    Ok(Unwrapped {
        inner: inner.collect(),
        ..Unwrapped::default()
    })
}

/// `poetry run` and the like, if it is one: the words behind the subcommand are a command.
pub(super) fn project(name: &str, words: &[CommandWord]) -> Option<Result<Unwrapped, Stop>> {
    let (_, subcommand, operands) = PROJECT.iter().find(|(program, ..)| *program == name)?;
    let (first, behind) = words.split_first()?;
    if !first.is_known() && subcommand.starts_with(first.beginning()) {
        return Some(Err(Stop("a subcommand is known only when running")));
    }
    if first.known() != Some(*subcommand) {
        return first
            .beginning()
            .starts_with('-')
            .then(|| lone_option(words));
    }
    let behind = match behind.split_first() {
        Some((dashes, behind)) if dashes.known() == Some("--") => behind,
        Some((option, _)) if option.beginning().starts_with('-') => {
            return Some(Err(Stop("an option is not known")));
        }
        _ => behind,
    };
    if behind
        .iter()
        .take(operands + 1)
        .any(|word| word.rest() == Rest::Words)
    {
        return Some(Err(Stop("an operand may be several words")));
    }
    let command = behind.get(*operands..).unwrap_or_default();
    Some(Ok(Unwrapped::words(command.to_vec())))
}

/// Options before the subcommand, of which only those that inform are known.
fn lone_option(words: &[CommandWord]) -> Result<Unwrapped, Stop> {
    let informs = |word: &CommandWord| {
        let known = word.known();
        known.is_some_and(|text| INFORMING.contains(&text) || matches!(text, "-V" | "-h" | "-v"))
    };
    match words {
        [only] if informs(only) => Ok(Unwrapped::default()),
        _ => Err(Stop("an option is not known")),
    }
}

/// `crontab`, `at` and `batch`, which run later what they read.
pub(super) fn later(words: &[CommandWord]) -> Result<Unwrapped, Stop> {
    match words {
        [only] if matches!(only.known(), Some("-l" | "-V" | "--help" | "--version")) => {
            Ok(Unwrapped::default())
        }
        _ => Err(Stop("commands are read that run later")),
    }
}

fn behind_dashes(words: &[CommandWord], otherwise: Stop) -> Result<Unwrapped, Stop> {
    if let [only] = words
        && INFORMING.iter().any(|option| only.known() == Some(*option))
    {
        return Ok(Unwrapped::default());
    }
    let end = words.iter().position(|word| word.known() == Some("--"));
    let (own, command) = end
        .and_then(|at| Some((words.get(..at)?, words.get(at + 1..)?)))
        .ok_or(otherwise)?;
    if command.is_empty() || own.iter().any(|word| word.rest() == Rest::Words) {
        return Err(otherwise);
    }
    Ok(Unwrapped {
        elsewhere: true,
        inner: vec![Inner::Words(command.to_vec())],
        ..Unwrapped::default()
    })
}

/// Program, subcommand, and how many operands stand before the command.
const PROJECT: &[(&str, &str, usize)] = &[
    ("bundle", "exec", 0),
    ("direnv", "exec", 1),
    ("hatch", "run", 0),
    ("pdm", "run", 0),
    ("pipenv", "run", 0),
    ("poetry", "run", 0),
    ("rye", "run", 0),
];

const PERF: Spec = Spec {
    flags: "adgqsvi",
    valued: "CFeoprt",
    ..Spec::NONE
};

/// Without those that put something into the texts, or name another shell.
const HYPERFINE: Spec = Spec {
    flags: "NhiV",
    valued: "Mcmnprsuw",
    long_flags: &["help", "ignore-failure", "show-output", "version"],
    long_valued: &[
        "cleanup",
        "command-name",
        "export-csv",
        "export-json",
        "export-markdown",
        "max-runs",
        "min-runs",
        "prepare",
        "runs",
        "setup",
        "warmup",
    ],
    ..Spec::NONE
};

const ENTR: Spec = Spec {
    flags: "acdnprsxz",
    ..Spec::NONE
};
