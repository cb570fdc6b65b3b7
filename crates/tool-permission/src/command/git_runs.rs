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
        if let Some(value) = value_of(word, texts, next) {
            unwrapped.inner.push(Inner::Text(value, Dialect::Plain));
        }
        if value_of(word, programs, next).is_some() {
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

/// The value of a word that is one of the options, if it is one.
fn value_of(
    word: &CommandWord,
    options: &[&str],
    next: impl Fn() -> Option<CommandWord>,
) -> Option<CommandWord> {
    let text = word.beginning();
    for option in options {
        let Some(rest) = text.strip_prefix(option) else {
            continue;
        };
        let long = option.starts_with("--");
        match rest.chars().next() {
            None if word.is_known() => {
                return Some(next().unwrap_or_else(|| CommandWord::unknown("", Rest::Words)));
            }
            Some('=') if long => return Some(word.after(option.len() + 1)),
            Some(_) | None if !long => return Some(word.after(option.len())),
            _ => {}
        }
    }
    None
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
        "fetch" | "pull" | "ls-remote" | "fetch-pack" => &["--upload-pack"],
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
    let reads = |word: &CommandWord| {
        let text = word.beginning();
        ["--get", "--list", "get", "list"]
            .iter()
            .any(|read| text.starts_with(read))
            || text == "-l"
    };
    if words.first().is_some_and(reads) || words.iter().any(reads) {
        return false;
    }
    let operands: Vec<_> = words
        .iter()
        .filter(|word| !word.beginning().starts_with('-'))
        .collect();
    // Of one word it only shows the value.
    let keyed = |word: &&&CommandWord| !word.is_known() || word.beginning().contains('.');
    operands.len() > 1
        && operands
            .iter()
            .filter(keyed)
            .any(|word| super::git::names_program(word))
}
