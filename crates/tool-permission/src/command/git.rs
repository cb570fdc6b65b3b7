//! The options of git before its subcommand.

use super::field::{CommandWord, Rest};

/// A call of git, as far as its own options go.
#[derive(Debug, Default)]
pub(super) struct Call {
    /// How many words stand before the subcommand. None if that cannot be told.
    pub(super) skipped: Option<usize>,
    /// The folders that it changes to, one after the other.
    pub(super) folders: Vec<CommandWord>,
    /// Texts of aliases that run in a shell.
    pub(super) aliases: Vec<CommandWord>,
    /// A setting may name a program.
    pub(super) names_program: bool,
    /// An option is not known, so that the subcommand isn't either.
    pub(super) strange: bool,
}

/// Reads the options behind the program.
pub(super) fn call(words: &[CommandWord]) -> Call {
    let mut call = Call::default();
    let mut at = 1;
    while let Some(word) = words.get(at) {
        let text = word.beginning();
        if !text.starts_with('-') {
            // An unknown word may be an option or the subcommand; rules judge it as it stands.
            call.skipped = word.is_known().then_some(at);
            return call;
        }
        if word.rest() == Rest::Words {
            call.strange = true;
            return call;
        }
        at += match text.split_once('=') {
            Some(("--config-env" | "--exec-path", _)) => {
                call.names_program = true;
                1
            }
            Some((name, _)) if VALUED.contains(&name) => 1,
            Some(_) => {
                call.strange = true;
                return call;
            }
            None if !word.is_known() => {
                call.strange = true;
                return call;
            }
            None if FLAGS.contains(&text) => 1,
            None if VALUED.contains(&text) || matches!(text, "-c" | "-C" | "--config-env") => {
                let Some(value) = words
                    .get(at + 1)
                    .filter(|value| value.rest() != Rest::Words)
                else {
                    call.strange = true;
                    return call;
                };
                if text == "-c"
                    && let Some(alias) = alias(value)
                {
                    call.aliases.push(alias);
                }
                match text {
                    "-C" => call.folders.push(value.clone()),
                    "-c" if !names_program(value) => {}
                    "-c" | "--config-env" => call.names_program = true,
                    _ => {}
                }
                2
            }
            None => {
                call.strange = true;
                return call;
            }
        };
    }
    call
}

/// The text that an alias runs in a shell.
fn alias(setting: &CommandWord) -> Option<CommandWord> {
    let (key, value) = setting.beginning().split_once('=')?;
    let is_alias = key.to_ascii_lowercase().starts_with("alias.");
    (is_alias && value.starts_with('!')).then(|| setting.after(key.len() + "=!".len()))
}

/// Whether a setting can name a program, or load settings that do.
pub(super) fn names_program(setting: &CommandWord) -> bool {
    let text = setting.beginning();
    let key = match (text.split_once('='), setting.is_known()) {
        (Some((key, _)), _) => key,
        (None, true) => text,
        (None, false) => return true,
    };
    let key = key.to_ascii_lowercase();
    let (Some((section, _)), Some((_, name))) = (key.split_once('.'), key.rsplit_once('.')) else {
        return true;
    };
    SECTIONS.contains(&section) || NAMES.contains(&name)
}

/// Sections of which any setting may name a program.
const SECTIONS: &[&str] = &[
    "alias",
    "browser",
    "credential",
    "difftool",
    "filter",
    "include",
    "includeif",
    "instaweb",
    "man",
    "merge",
    "mergetool",
    "pager",
    "protocol",
    "sendemail",
    "trailer",
    "url",
    "web",
];

/// Last parts of settings that name a program, in any section.
const NAMES: &[&str] = &[
    "alternaterefscommand",
    "askpass",
    "browser",
    "cmd",
    "command",
    "difffilter",
    "driver",
    "editor",
    "external",
    "fsmonitor",
    "gitproxy",
    "helper",
    "hookspath",
    "packobjectshook",
    "pager",
    "process",
    "program",
    "proxy",
    "receivepack",
    "sshcommand",
    "templatedir",
    "textconv",
    "update",
    "uploadpack",
    "vcs",
];

const FLAGS: &[&str] = &[
    "-p",
    "-P",
    "--paginate",
    "--no-pager",
    "--no-replace-objects",
    "--no-lazy-fetch",
    "--no-optional-locks",
    "--no-advice",
    "--bare",
    "--literal-pathspecs",
    "--glob-pathspecs",
    "--noglob-pathspecs",
    "--icase-pathspecs",
    "--exec-path",
    "--html-path",
    "--man-path",
    "--info-path",
    "-v",
    "--version",
    "-h",
    "--help",
];

const VALUED: &[&str] = &[
    "--git-dir",
    "--work-tree",
    "--namespace",
    "--super-prefix",
    "--attr-source",
    "--list-cmds",
];
