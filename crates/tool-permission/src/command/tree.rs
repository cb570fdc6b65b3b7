//! A shell text after parsing.

/// Commands one after the other.
#[derive(Clone, Debug, Default)]
pub(super) struct List {
    pub(super) chains: Vec<Chain>,
}

/// Pipelines joined by `&&` and `||`.
#[derive(Clone, Debug)]
pub(super) struct Chain {
    pub(super) first: Pipeline,
    pub(super) rest: Vec<(Joint, Pipeline)>,
    pub(super) background: bool,
    /// The line of the text that it starts in, counted by the newlines of its own list.
    pub(super) line: usize,
}

/// What has to happen for the next pipeline to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Joint {
    And,
    Or,
}

/// Commands joined by `|`. None at all after a lone `!` or `time`.
#[derive(Clone, Debug)]
pub(super) struct Pipeline {
    pub(super) negated: bool,
    pub(super) commands: Vec<Command>,
}

#[derive(Clone, Debug)]
pub(super) enum Command {
    Simple(Simple),
    Compound(Compound, Vec<Redirect>),
}

/// Words that run a program, a builtin or a function, with what stands around them.
#[derive(Clone, Debug, Default)]
pub(super) struct Simple {
    pub(super) assignments: Vec<Assignment>,
    pub(super) words: Vec<Word>,
    pub(super) redirects: Vec<Redirect>,
}

#[derive(Clone, Debug)]
pub(super) enum Compound {
    Group(List),
    Subshell(List),
    /// Conditions with their bodies, and what runs when none holds.
    If(Vec<(List, List)>, Option<List>),
    /// `while` and `until`: the condition and the body.
    While(List, List),
    /// `for` and `select`: the variable, the words and the body.
    For(String, Vec<Word>, List),
    /// `for ((..))`: what its expressions run, and the body.
    Count(Vec<List>, List),
    Case(Word, Vec<(Vec<Word>, List)>),
    Function(String, Box<Command>),
    Coprocess(Box<Command>),
    /// `((..))`: what it runs.
    Arithmetic(Vec<List>),
    /// `[[ .. ]]`: its operands.
    Test(Vec<Word>),
}

#[derive(Clone, Debug)]
pub(super) struct Assignment {
    pub(super) name: String,
    /// What the subscript runs.
    pub(super) subscript: Vec<List>,
    pub(super) value: Value,
}

#[derive(Clone, Debug)]
pub(super) enum Value {
    Word(Word),
    Array(Vec<Word>),
}

/// A word before expansion. Without pieces it is no word.
#[derive(Clone, Debug, Default)]
pub(super) struct Word {
    pub(super) pieces: Vec<Piece>,
}

#[derive(Clone, Debug)]
pub(super) enum Piece {
    /// Characters that stood there without quotes.
    Plain(String),
    /// Characters that stood in quotes or behind a backslash. May be empty.
    Quoted(String),
    Expansion(Expansion),
}

/// A part of a word that only running can tell.
#[derive(Clone, Debug)]
pub(super) struct Expansion {
    /// As it was written.
    pub(super) spelled: String,
    pub(super) split: Split,
    /// The commands inside.
    pub(super) runs: Vec<List>,
}

/// What may become of an expansion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Split {
    /// It stays a part of one word.
    Never,
    /// It becomes any number of words.
    Fields,
    /// It is `$IFS`, a blank between two words.
    Blank,
}

#[derive(Clone, Debug)]
pub(super) struct Redirect {
    pub(super) descriptor: Descriptor,
    pub(super) operator: Operator,
    pub(super) target: Target,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Descriptor {
    Default,
    Number(String),
    Variable(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Read,
    Write,
    Append,
    Clobber,
    ReadWrite,
    WriteBoth,
    AppendBoth,
    CopyIn,
    CopyOut,
    HereDoc,
    HereString,
}

#[derive(Clone, Debug)]
pub(super) enum Target {
    Word(Word),
    /// The place of the body in [`Script::bodies`](super::parser::Script::bodies).
    Body(usize),
}

impl Word {
    pub(super) fn is_none(&self) -> bool {
        self.pieces.is_empty()
    }

    pub(super) fn plain(&mut self, char: char) {
        match self.pieces.last_mut() {
            Some(Piece::Plain(text)) => text.push(char),
            _ => {
                // Most words are no longer, and so need not grow.
                let mut text = String::with_capacity(16);
                text.push(char);
                self.pieces.push(Piece::Plain(text));
            }
        }
    }

    /// Starts quotes, which make a word even when they are empty.
    pub(super) fn quote(&mut self) {
        if !matches!(self.pieces.last(), Some(Piece::Quoted(_))) {
            self.pieces.push(Piece::Quoted(String::new()));
        }
    }

    pub(super) fn quoted(&mut self, char: char) {
        self.quote();
        if let Some(Piece::Quoted(text)) = self.pieces.last_mut() {
            text.push(char);
        }
    }

    pub(super) fn expansion(&mut self, spelled: &str, split: Split, runs: Vec<List>) {
        self.pieces.push(Piece::Expansion(Expansion {
            spelled: spelled.to_owned(),
            split,
            runs,
        }));
    }

    /// The commands inside.
    pub(super) fn runs(&self) -> impl Iterator<Item = &List> {
        self.pieces.iter().flat_map(|piece| match piece {
            Piece::Expansion(expansion) => expansion.runs.as_slice(),
            Piece::Plain(_) | Piece::Quoted(_) => &[],
        })
    }

    /// The commands inside, and nothing else of it.
    pub(super) fn into_runs(self) -> impl Iterator<Item = List> {
        self.pieces.into_iter().flat_map(|piece| match piece {
            Piece::Expansion(expansion) => expansion.runs,
            Piece::Plain(_) | Piece::Quoted(_) => Vec::new(),
        })
    }

    /// The text, if no part of it has to be expanded.
    pub(super) fn literal(&self) -> Option<String> {
        self.pieces
            .iter()
            .map(|piece| match piece {
                Piece::Plain(text) | Piece::Quoted(text) => Some(text.as_str()),
                Piece::Expansion(_) => None,
            })
            .collect()
    }

    /// The text that needs no expansion, with the rest left out.
    pub(super) fn known(&self) -> String {
        self.pieces
            .iter()
            .map(|piece| match piece {
                Piece::Plain(text) | Piece::Quoted(text) => text.as_str(),
                Piece::Expansion(_) => "",
            })
            .collect()
    }
}

impl Value {
    /// Its words: one, or those of the array.
    pub(super) fn words(&self) -> &[Word] {
        match self {
            Self::Word(word) => std::slice::from_ref(word),
            Self::Array(words) => words,
        }
    }
}

impl Operator {
    /// As it is written.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Read => "<",
            Self::Write => ">",
            Self::Append => ">>",
            Self::Clobber => ">|",
            Self::ReadWrite => "<>",
            Self::WriteBoth => "&>",
            Self::AppendBoth => "&>>",
            Self::CopyIn => "<&",
            Self::CopyOut => ">&",
            Self::HereDoc => "<<",
            Self::HereString => "<<<",
        }
    }
}
