//! Subcommands of git that run a command that stands among their words.

use super::field::{CommandWord, Rest};
use super::reading::Stop;
use super::shell::Dialect;
use super::wrapper::{Inner, Unwrapped};

/// What a call runs, from the subcommand on, and whether a program is named that git runs later.
pub(super) fn runs(words: &[CommandWord]) -> Result<(Unwrapped, bool), Stop> {
    let mut unwrapped = Unwrapped::default();
    let Some((subcommand, behind)) = words.split_first() else {
        return Ok((unwrapped, false));
    };
    let Some(subcommand) = subcommand.known() else {
        return Ok((unwrapped, false));
    };
    match subcommand {
        "bisect" if behind.first().and_then(CommandWord::known) == Some("run") => {
            unwrapped = Unwrapped::words(behind.get(1..).unwrap_or_default().to_vec());
        }
        "submodule" => {
            let each = |word: &CommandWord| word.known() == Some("foreach");
            if let Some(at) = behind.iter().position(each) {
                let command = behind.get(at + 1..).unwrap_or_default();
                let quiet = |word: &&CommandWord| {
                    matches!(word.known(), Some("--recursive" | "-q" | "--quiet" | "--"))
                };
                let options = command.iter().take_while(quiet).count();
                let command = command.get(options..).unwrap_or_default();
                unwrapped.inner.extend(foreach(command));
                unwrapped.elsewhere = true;
            }
        }
        _ => {}
    }
    let mut names_program = false;
    let texts = texts_of(subcommand);
    let programs = programs_of(subcommand);
    for (at, word) in behind.iter().enumerate() {
        let text = word.beginning();
        if text == "--" && word.is_known() {
            break;
        }
        let next = || behind.get(at + 1).cloned();
        let flags = flags_of(subcommand);
        if let Some(value) = value_of(word, texts, flags, next) {
            unwrapped.inner.push(Inner::Text(value, Dialect::Plain));
        }
        if value_of(word, programs, flags, next).is_some() {
            names_program = true;
        }
    }
    if subcommand == "config" {
        names_program = names_program || sets_program(behind);
    }
    Ok((unwrapped, names_program))
}

/// A command for each submodule: one word is a text for a shell, several are a command.
fn foreach(command: &[CommandWord]) -> Option<Inner> {
    match command {
        [] => None,
        [text] => Some(Inner::Text(text.clone(), Dialect::Plain)),
        words => Some(Inner::Words(words.to_vec())),
    }
}

/// The value of a word that is one of the options, if it is one. git also takes the beginning of a
/// long name, and letters in one word.
fn value_of(
    word: &CommandWord,
    options: &[&str],
    flags: &str,
    next: impl Fn() -> Option<CommandWord>,
) -> Option<CommandWord> {
    let text = word.beginning();
    let in_next = || next().unwrap_or_else(|| CommandWord::unknown("", Rest::Words));
    if text.starts_with("--") {
        let (name, value) = match text.split_once('=') {
            Some((name, _)) => (name, Some(word.after(name.len() + 1))),
            None => (text, None),
        };
        let named =
            name.len() > "--".len() && options.iter().any(|option| option.starts_with(name));
        return named.then(|| value.unwrap_or_else(in_next));
    }
    let letters = text.strip_prefix('-')?;
    let (at, letter) = letters
        .char_indices()
        .find(|(_, letter)| !flags.contains(*letter))?;
    let short =
        |option: &&&str| option.strip_prefix('-') == letters.get(at..at + letter.len_utf8());
    options.iter().find(short)?;
    let end = 1 + at + letter.len_utf8();
    match end == text.len() && word.is_known() {
        true => Some(in_next()),
        false => Some(word.after(end)),
    }
}

/// Options whose value is a text for a shell.
fn texts_of(subcommand: &str) -> &'static [&'static str] {
    match subcommand {
        "rebase" => &["--exec", "-x"],
        "difftool" => &["--extcmd", "-x"],
        "filter-branch" => &[
            "--setup",
            "--env-filter",
            "--tree-filter",
            "--index-filter",
            "--parent-filter",
            "--msg-filter",
            "--commit-filter",
            "--tag-name-filter",
        ],
        _ => &[],
    }
}

/// Options whose value names a program, here or on another machine.
fn programs_of(subcommand: &str) -> &'static [&'static str] {
    match subcommand {
        "clone" => &["--upload-pack", "-u", "--config", "-c", "--template"],
        "init" => &["--template"],
        "fetch" | "pull" => &["--upload-pack"],
        "ls-remote" | "fetch-pack" => &["--upload-pack", "--exec"],
        "push" | "send-pack" => &["--receive-pack", "--exec"],
        "archive" => &["--exec", "--remote"],
        "grep" => &["--open-files-in-pager", "-O"],
        "send-email" => &["--smtp-server", "--sendmail-cmd", "--to-cmd", "--cc-cmd"],
        "instaweb" => &["--httpd", "--browser", "-d", "-b"],
        "daemon" => &["--access-hook"],
        _ => &[],
    }
}

/// Whether `git config` sets, or may set, what names a program.
fn sets_program(words: &[CommandWord]) -> bool {
    let is = |word: &CommandWord, names: &[&str]| {
        let known = word.known();
        known.is_some_and(|text| names.contains(&text))
    };
    let reads = words.iter().any(|word| is(word, READING));
    if reads || words.first().is_some_and(|word| is(word, &["get", "list"])) {
        return false;
    }
    // A section gets the name of another, with all that stands in it.
    let renames =
        |word: &CommandWord| word.beginning().starts_with("--ren") || is(word, &["rename-section"]);
    if words.iter().any(renames) {
        return true;
    }
    let end = words.iter().position(|word| is(word, &["--"]));
    let end = end.unwrap_or(words.len());
    let operands: Vec<_> = words
        .iter()
        .enumerate()
        .filter(|(at, word)| *at > end || !word.beginning().starts_with('-'))
        .map(|(_, word)| word)
        .collect();
    // Of one word it only shows the value.
    let keyed = |word: &&&CommandWord| !word.is_known() || word.beginning().contains('.');
    operands.len() > 1
        && operands
            .iter()
            .filter(keyed)
            .any(|word| super::git::names_program(word))
}

/// Options with which `git config` only shows.
const READING: &[&str] = &[
    "--get",
    "--get-all",
    "--get-regexp",
    "--get-urlmatch",
    "--get-color",
    "--get-colorbool",
    "--list",
    "-l",
];

/// Letters without a value, which may stand before one that names a program.
fn flags_of(subcommand: &str) -> &'static str {
    match subcommand {
        "rebase" => "fikmnqrv",
        "clone" => "46lnqsv",
        "difftool" => "dgy",
        "grep" => "EFGHILPWachilnopqrvwz",
        _ => "",
    }
}
