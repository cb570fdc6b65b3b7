//! Aliases that a line defines.

use super::field::{CommandWord, Rest};
use super::reading::Stop;
use super::tree::{Command, Compound, List, Simple, Split, Word};

/// The aliases so far.
#[derive(Debug, Default)]
pub(super) struct Aliases {
    all: Vec<Alias>,
    /// The line in which the shell was told to expand them.
    expands_from: Option<usize>,
    /// Names that are being expanded, which stand for themselves meanwhile.
    open: Vec<String>,
}

#[derive(Debug)]
struct Alias {
    name: String,
    text: String,
    /// The line of its definition, if it is certain to have happened after that.
    line: Option<usize>,
    used: bool,
}

/// What a word in the place of a program stands for.
#[derive(Debug, Default)]
pub(super) struct Expanded {
    pub(super) texts: Vec<String>,
    /// It surely does not stand for itself.
    pub(super) certain: bool,
}

impl Aliases {
    /// Takes down the definitions of a call of `alias`.
    pub(super) fn define(
        &mut self,
        words: &[CommandWord],
        line: Option<usize>,
    ) -> Result<(), Stop> {
        for word in words.iter().skip(1) {
            let text = word
                .known()
                .ok_or(Stop("an alias is known only when running"))?;
            let Some((name, text)) = text.split_once('=') else {
                if text.starts_with('-') && text != "-p" {
                    return Err(Stop("an alias has an option"));
                }
                continue;
            };
            if REDEFINED.contains(&name) {
                return Err(Stop("a word that the shell needs is an alias"));
            }
            // What stands behind the alias might then mean something else.
            let odd = text.contains('#')
                || text.contains("<<")
                || text.ends_with([' ', '\t', '\n', '\\', ';', '&']);
            if odd || text.trim().is_empty() {
                return Err(Stop("an alias changes how its words are read"));
            }
            self.all.push(Alias {
                name: name.to_owned(),
                text: text.to_owned(),
                line,
                used: false,
            });
        }
        Ok(())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Takes down that the shell expands aliases from the line after this one.
    pub(super) fn switch_on(&mut self, line: usize) {
        self.expands_from.get_or_insert(line);
    }

    /// Takes down that some alias may be gone.
    pub(super) fn switch_off(&mut self) {
        self.expands_from = None;
    }

    /// What a program stands for that is called in that line.
    pub(super) fn expand(&mut self, program: &CommandWord, line: Option<usize>) -> Expanded {
        let Some(name) = program.known().filter(|_| program.is_bare()) else {
            return Expanded::default();
        };
        if self.open.iter().any(|open| open == name) {
            return Expanded::default();
        }
        let mut expanded = Expanded::default();
        let mut lines = Vec::new();
        for alias in self.all.iter_mut().filter(|alias| alias.name == name) {
            alias.used = true;
            expanded.texts.push(alias.text.clone());
            lines.push(alias.line);
        }
        expanded.certain = match (lines.as_slice(), self.expands_from, line) {
            ([Some(defined)], Some(on), Some(line)) => *defined < line && on < line,
            _ => false,
        };
        expanded
    }

    /// Leaves a name alone while its text is read.
    pub(super) fn open(&mut self, name: &str) {
        self.open.push(name.to_owned());
    }

    pub(super) fn close(&mut self) {
        self.open.pop();
    }

    /// The texts that nothing in the line stands for.
    pub(super) fn unused(&mut self) -> Vec<String> {
        let unused = self.all.drain(..).filter(|alias| !alias.used);
        unused.map(|alias| alias.text).collect()
    }
}

/// Puts words behind the last command of a text.
pub(super) fn append(list: &mut List, words: &[CommandWord]) -> Result<(), Stop> {
    let simple = last(list).ok_or(Stop("an alias does not end with a command"))?;
    for word in words {
        let mut tree = Word::default();
        tree.quote();
        word.beginning().chars().for_each(|char| tree.quoted(char));
        let split = match word.rest() {
            Rest::Nothing => None,
            Rest::Part => Some(Split::Never),
            Rest::Words => Some(Split::Fields),
        };
        if let Some(split) = split {
            if word.may_vanish() {
                tree = Word::default();
            }
            let behind = word.shown().strip_prefix(word.beginning());
            tree.expansion(behind.unwrap_or(word.shown()), split, Vec::new());
        }
        simple.words.push(tree);
    }
    Ok(())
}

fn last(list: &mut List) -> Option<&mut Simple> {
    let chain = list.chains.last_mut().filter(|chain| !chain.background)?;
    let pipeline = match chain.rest.last_mut() {
        Some((_, pipeline)) => pipeline,
        None => &mut chain.first,
    };
    match pipeline.commands.last_mut()? {
        Command::Simple(simple) => Some(simple),
        Command::Compound(Compound::Coprocess(command), _) => match &mut **command {
            Command::Simple(simple) => Some(simple),
            Command::Compound(..) => None,
        },
        Command::Compound(..) => None,
    }
}

/// Whether the shell relies on a word to mean what it does.
pub(super) fn is_needed(name: &str) -> bool {
    REDEFINED.contains(&name)
}

/// Words whose meaning is relied on when a line is read.
const REDEFINED: &[&str] = &[
    "cd", "pushd", "popd", "exit", "alias", "unalias", "shopt", "if", "then", "elif", "else", "fi",
    "for", "select", "while", "until", "do", "done", "case", "esac", "in", "function", "time",
    "coproc", "!", "{", "}", "[[", "]]",
];
