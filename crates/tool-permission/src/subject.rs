//! What a pattern is matched against.

use std::fmt;

use unicode_normalization::UnicodeNormalization;

use crate::Pattern;

/// A name, the words of a command, or a path, as patterns see it.
///
/// A part that is not known before the command runs is one [`Symbol::Unknown`].
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Subject {
    dialect: Dialect,
    spelling: Spelling,
    rooted: bool,
    symbols: Vec<Symbol>,
}

/// How far two spellings of a path may differ and still name one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Spelling {
    /// Not at all.
    Exact,
    /// A letter and its accent may be one character or two.
    Composed,
    /// In case as well.
    Caseless,
}

/// Which of the three readings of a pattern holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Dialect {
    Name,
    Words,
    Path,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Symbol {
    /// One character. Between words a blank is the border.
    Char(char),
    /// A blank inside a word, which only wildcards match.
    Blank,
    /// The border before an unknown word that may turn out to be no word at all.
    Loose,
    /// Any run of characters and words, also none.
    Unknown,
}

impl Dialect {
    /// Whether `?` matches the character.
    pub(crate) fn is_one(self, char: char) -> bool {
        match self {
            Self::Name => true,
            Self::Words => char != ' ',
            Self::Path => char != '/',
        }
    }
}

impl Subject {
    /// A name, compared as it is.
    pub(crate) fn name(name: &str) -> Self {
        Self::of(Dialect::Name, name)
    }

    /// A path, compared as it is.
    pub(crate) fn path(path: &str) -> Self {
        Self::of(Dialect::Path, path)
    }

    /// A path, compared with that tolerance.
    pub(crate) fn spelled(path: &str, spelling: Spelling) -> Self {
        Self {
            spelling,
            ..Self::of(Dialect::Path, &spelling.fold(path))
        }
    }

    /// Leaves it to patterns that start at the root of the file system.
    pub(crate) fn root(&mut self) {
        self.rooted = true;
    }

    /// Words that are all known.
    pub(crate) fn words<W: AsRef<str>>(words: impl IntoIterator<Item = W>) -> Self {
        let mut subject = Self::no_words();
        for (at, word) in words.into_iter().enumerate() {
            if at > 0 {
                subject.push_border();
            }
            subject.push_text(word.as_ref());
        }
        subject
    }

    /// A command without a word yet, to be built up by the `push` methods.
    pub(crate) fn no_words() -> Self {
        Self::of(Dialect::Words, "")
    }

    /// Adds the border between two words.
    pub(crate) fn push_border(&mut self) {
        self.symbols.push(Symbol::Char(' '));
    }

    /// Adds the border before a word that may expand to no word at all, such as an unquoted `$X`.
    pub(crate) fn push_loose_border(&mut self) {
        self.symbols.push(Symbol::Loose);
    }

    /// Adds known text to the last word, or to a path.
    pub(crate) fn push_text(&mut self, text: &str) {
        let words = self.dialect == Dialect::Words;
        self.symbols.extend(text.chars().map(|char| match char {
            ' ' if words => Symbol::Blank,
            char => Symbol::Char(char),
        }));
    }

    /// Adds a part that only running can tell.
    pub(crate) fn push_unknown(&mut self) {
        self.symbols.push(Symbol::Unknown);
    }

    /// An empty subject of that reading, to be built up by the `push` methods.
    pub(crate) fn empty(dialect: Dialect) -> Self {
        Self::of(dialect, "")
    }

    /// Adds a character, a blank as the border between two words.
    pub(crate) fn push_char(&mut self, char: char) {
        self.symbols.push(Symbol::Char(char));
    }

    /// The subject without the words that may turn out to be none, if there are any.
    pub(crate) fn without_loose(&self) -> Option<Self> {
        if !self.symbols.contains(&Symbol::Loose) {
            return None;
        }
        let mut symbols = Vec::with_capacity(self.symbols.len());
        let mut rest = self.symbols.iter().copied().peekable();
        while let Some(symbol) = rest.next() {
            match symbol {
                // What follows is the word itself.
                Symbol::Loose => drop(rest.next_if_eq(&Symbol::Unknown)),
                other => symbols.push(other),
            }
        }
        Some(Self {
            symbols,
            ..self.clone()
        })
    }

    pub(crate) fn dialect(&self) -> Dialect {
        self.dialect
    }

    pub(crate) fn spelling(&self) -> Spelling {
        self.spelling
    }

    /// Whether the pattern may be tried on it at all.
    pub(crate) fn admits(&self, pattern: &Pattern) -> bool {
        !self.rooted || pattern.as_str().starts_with('/')
    }

    pub(crate) fn symbols(&self) -> impl Iterator<Item = Symbol> {
        self.symbols.iter().copied()
    }

    /// The symbols before the first that is not known.
    pub(crate) fn head(&self) -> &[Symbol] {
        let unknown = self.symbols.iter().position(|symbol| !symbol.is_known());
        let end = unknown.unwrap_or(self.symbols.len());
        self.symbols.get(..end).unwrap_or_default()
    }

    /// The symbols after the last that is not known, last one first.
    pub(crate) fn tail(&self) -> Vec<Symbol> {
        let backwards = self.symbols.iter().rev().copied();
        backwards.take_while(|symbol| symbol.is_known()).collect()
    }

    /// Whether no part of it is unknown.
    pub(crate) fn is_known(&self) -> bool {
        self.symbols.iter().all(|symbol| symbol.is_known())
    }

    fn of(dialect: Dialect, text: &str) -> Self {
        Self {
            dialect,
            spelling: Spelling::Exact,
            rooted: false,
            symbols: text.chars().map(Symbol::Char).collect(),
        }
    }
}

impl Spelling {
    /// One text for all spellings that count as the same.
    pub(crate) fn fold(self, text: &str) -> String {
        match self {
            Self::Exact => text.to_owned(),
            Self::Composed => text.nfc().collect(),
            // By way of upper case, which unites letters that have two lower cases.
            Self::Caseless => text
                .nfd()
                .flat_map(char::to_uppercase)
                .flat_map(char::to_lowercase)
                .nfc()
                .collect(),
        }
    }
}

impl Symbol {
    fn is_known(self) -> bool {
        matches!(self, Self::Char(_) | Self::Blank)
    }
}

impl fmt::Debug for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Subject({:?}, {} symbols)",
            self.dialect,
            self.symbols.len()
        )
    }
}
