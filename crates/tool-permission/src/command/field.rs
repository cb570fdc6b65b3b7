//! From a word to the words that a command gets.

use super::brace::{self, Atom};
use super::reading::Stop;
use super::tree::{Split, Word};

/// One word that a command would run with, as far as it is known before.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct CommandWord {
    known: String,
    rest: Rest,
    shown: String,
    mark: Mark,
    bare: bool,
}

/// What follows the known beginning of a word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) enum Rest {
    /// Nothing: the word is known.
    #[default]
    Nothing,
    /// Any characters of this one word.
    Part,
    /// Any characters and any number of further words. If nothing is known before it, it may also
    /// be no word at all.
    Words,
}

/// What makes a word special beside its characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
enum Mark {
    #[default]
    None,
    /// It starts with an unquoted `~`, which becomes the home directory.
    Home,
    /// What is not known of it is the names of files.
    Glob,
}

impl CommandWord {
    /// The word, if it is known.
    #[must_use]
    pub fn known(&self) -> Option<&str> {
        self.is_known().then_some(self.known.as_str())
    }

    /// What the word starts with, as far as it is known.
    #[must_use]
    pub fn beginning(&self) -> &str {
        &self.known
    }

    /// The word for people: without its quotes, and what is not known as it was written.
    #[must_use]
    pub fn shown(&self) -> &str {
        &self.shown
    }

    pub(super) fn literal(text: impl Into<String>) -> Self {
        let known = text.into();
        Self {
            shown: known.clone(),
            known,
            ..Self::default()
        }
    }

    /// A word of which nothing is known, with what is shown for it.
    pub(super) fn unknown(shown: impl Into<String>, rest: Rest) -> Self {
        Self {
            shown: shown.into(),
            rest,
            ..Self::default()
        }
    }

    /// The word with its known beginning cut to so many bytes and the rest unknown.
    pub(super) fn cut(&self, at: usize, rest: Rest) -> Self {
        Self {
            known: self.known.get(..at).unwrap_or_default().to_owned(),
            rest,
            ..self.clone()
        }
    }

    /// What follows so many bytes of the known beginning.
    pub(super) fn after(&self, at: usize) -> Self {
        Self {
            known: self.known.get(at..).unwrap_or_default().to_owned(),
            shown: self.shown.get(at..).unwrap_or_default().to_owned(),
            rest: self.rest,
            mark: Mark::None,
            bare: false,
        }
    }

    pub(super) fn is_known(&self) -> bool {
        self.rest == Rest::Nothing
    }

    pub(super) fn rest(&self) -> Rest {
        self.rest
    }

    /// Whether it may turn out to be no word at all.
    pub(super) fn may_vanish(&self) -> bool {
        self.rest == Rest::Words && self.known.is_empty()
    }

    /// Whether it starts in the home directory.
    pub(super) fn is_home(&self) -> bool {
        self.mark == Mark::Home
    }

    /// Whether it was written without any quotes, so that an alias may stand for it.
    pub(super) fn is_bare(&self) -> bool {
        self.bare
    }

    /// Lets names of files be no word at all, as `nullglob` does.
    pub(super) fn forget_glob(&mut self) {
        if self.mark == Mark::Glob {
            self.known.clear();
            self.rest = Rest::Words;
        }
    }
}

/// The words that a word of a command becomes.
pub(super) fn fields(word: &Word) -> Result<Vec<CommandWord>, Stop> {
    let mut fields = Vec::new();
    for atoms in brace::expand(word)? {
        split(&atoms, &mut fields);
    }
    Ok(fields)
}

/// The one word that stands behind an equals sign or a redirect.
pub(super) fn single(word: &Word) -> CommandWord {
    let mut fields = Vec::new();
    let atoms = brace::atoms(word);
    split(&atoms, &mut fields);
    let braces = brace::may_expand(&atoms);
    match <[CommandWord; 1]>::try_from(fields) {
        Ok([field]) if !braces => field,
        Ok([field]) => CommandWord::unknown(field.shown, Rest::Part),
        Err(fields) => {
            let shown: Vec<&str> = fields.iter().map(CommandWord::shown).collect();
            CommandWord::unknown(shown.join(" "), Rest::Part)
        }
    }
}

/// The value of an assignment, which is neither split nor matched against names of files.
pub(super) fn value(word: &Word) -> CommandWord {
    match word.literal() {
        Some(text) if !text.starts_with('~') => CommandWord::literal(text),
        _ => {
            let mut shown = String::new();
            let atoms = brace::atoms(word);
            atoms.iter().for_each(|atom| show(atom, &mut shown));
            CommandWord::unknown(shown, Rest::Part)
        }
    }
}

fn split(atoms: &[Atom<'_>], fields: &mut Vec<CommandWord>) {
    let last_bracket = atoms
        .iter()
        .rposition(|atom| matches!(atom, Atom::Plain(']') | Atom::Quoted(']')));
    let mut field: Option<CommandWord> = None;
    for (at, atom) in atoms.iter().enumerate() {
        if let Atom::Expansion(expansion) = atom
            && expansion.split == Split::Blank
        {
            fields.extend(field.take());
            continue;
        }
        let starts = field.is_none();
        let field = field.get_or_insert_with(|| CommandWord {
            known: String::with_capacity(atoms.len()),
            shown: String::with_capacity(atoms.len()),
            bare: true,
            ..CommandWord::default()
        });
        show(atom, &mut field.shown);
        match *atom {
            Atom::Empty => field.bare = false,
            Atom::Quoted(char) => {
                field.bare = false;
                field.push(char);
            }
            Atom::Plain('~') if starts => match tilde(atoms.get(at + 1..).unwrap_or_default()) {
                Tilde::Home => {
                    field.push('~');
                    field.mark = Mark::Home;
                }
                Tilde::Other => field.hide(Rest::Part),
                Tilde::None => field.push('~'),
            },
            Atom::Plain('*' | '?') => {
                field.mark = Mark::Glob;
                field.hide(Rest::Words);
            }
            Atom::Plain('[') if last_bracket > Some(at) => {
                field.mark = Mark::Glob;
                field.hide(Rest::Words);
            }
            Atom::Plain(char) => field.push(char),
            Atom::Expansion(expansion) => {
                field.bare = false;
                field.hide(match expansion.split {
                    Split::Never => Rest::Part,
                    Split::Fields | Split::Blank => Rest::Words,
                });
            }
        }
    }
    fields.extend(field);
}

impl CommandWord {
    /// Adds a known character, unless it follows what is not known.
    fn push(&mut self, char: char) {
        if self.is_known() {
            self.known.push(char);
        }
    }

    fn hide(&mut self, rest: Rest) {
        if self.rest != Rest::Words {
            self.rest = rest;
        }
    }
}

enum Tilde {
    Home,
    /// The home of somebody else, or a folder of the shell.
    Other,
    None,
}

/// What a `~` at the start of a word means, from what follows it.
fn tilde(rest: &[Atom<'_>]) -> Tilde {
    let name = rest
        .iter()
        .take_while(|atom| !matches!(atom, Atom::Plain('/')));
    let mut empty = true;
    for atom in name {
        match atom {
            Atom::Plain(_) => empty = false,
            Atom::Expansion(expansion) if expansion.split == Split::Blank => break,
            _ => return Tilde::None,
        }
    }
    if empty { Tilde::Home } else { Tilde::Other }
}

fn show(atom: &Atom<'_>, shown: &mut String) {
    match atom {
        Atom::Plain(char) | Atom::Quoted(char) => shown.push(*char),
        Atom::Empty => {}
        Atom::Expansion(expansion) => shown.push_str(&expansion.spelled),
    }
}
