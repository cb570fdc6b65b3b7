//! What is kept while one text is read, across all the texts inside it.

use super::tree::{Piece, Word};
use super::variable;

/// The deepest nesting of everything that nests: groups, substitutions, quotes in them, texts that
/// a shell inside is given, wrappers in front of a command.
///
/// Chosen so that reading and judging stay far below half a megabyte of stack.
pub(super) const MOST_DEPTH: usize = 64;

/// The longest text that is read, in bytes.
pub(super) const MOST_BYTES: usize = 64 * 1024;

/// Why a text was not read to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stop(pub(super) &'static str);

/// Side facts of a text.
#[derive(Debug, Default)]
pub(super) struct Reading {
    depth: usize,
    /// The bodies of the here-documents.
    pub(super) bodies: Vec<Word>,
    /// Arithmetic looks at variables, whose values may hold a subscript with a substitution.
    pub(super) evaluates: bool,
    /// How many literal texts are a subscript with a substitution, harmless unless evaluated.
    pub(super) holding_code: usize,
    /// How many literal texts would run a command if another text put a bracket before them.
    pub(super) parts_of_code: usize,
    /// A literal text opens a bracket without closing it, or a subscript is evaluated that holds
    /// an expansion.
    pub(super) opens_code: bool,
    /// An unquoted `$IFS` is taken for a blank.
    pub(super) takes_ifs: bool,
    /// Variables that expansions set.
    pub(super) sets: Vec<String>,
    /// How many characters were read, also again.
    pub(super) steps: usize,
    /// What the text runs, but nobody can tell.
    pub(super) hidden: Option<Stop>,
    /// It uses what other shells read in another way.
    pub(super) only_bash: bool,
}

impl Reading {
    /// Starts in a text that lies this deep.
    pub(super) fn new(depth: usize) -> Self {
        Self {
            depth,
            ..Self::default()
        }
    }

    /// Goes one level down.
    pub(super) fn enter(&mut self) -> Result<(), Stop> {
        if self.depth >= MOST_DEPTH {
            return Err(Stop("it is nested too deep"));
        }
        self.depth += 1;
        Ok(())
    }

    /// Comes back from a level.
    pub(super) fn leave(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    /// Takes down what the literal text of a word may do later.
    pub(super) fn note_text(&mut self, word: &Word) {
        let text = word.known();
        if holds_code(&text) {
            self.holding_code += 1;
        } else if is_part_of_code(&text) {
            self.parts_of_code += 1;
        }
        // The bracket alone is most often a command.
        let is_command = matches!(word.pieces.as_slice(), [Piece::Plain(plain)] if plain == "[");
        self.opens_code = self.opens_code || (!is_command && opens(&text));
    }

    /// Takes down a name that arithmetic looks at and may set.
    pub(super) fn note_evaluated(&mut self, name: String) {
        self.evaluates = true;
        if variable::loads_code(&name) {
            self.sets.push(name);
        }
    }
}

/// Whether a text would run a command when it is evaluated: as arithmetic `a[$(cmd)]`, as an array
/// `($(cmd))`.
pub(super) fn holds_code(text: &str) -> bool {
    let opens = |(at, byte)| {
        let before = text.get(..at).unwrap_or_default();
        byte == b'[' || (byte == b'(' && !before.ends_with('$'))
    };
    let mut bytes = text.bytes().enumerate();
    let Some(at) = bytes.position(opens) else {
        return false;
    };
    is_part_of_code(text.get(at..).unwrap_or_default())
}

/// Whether a text would run a command when it is evaluated behind a bracket.
pub(super) fn is_part_of_code(text: &str) -> bool {
    text.contains("$(") || text.contains('`') || text.ends_with('$')
}

/// Whether a text opens a bracket and leaves it to another text to close it.
fn opens(text: &str) -> bool {
    text.rfind('[') > text.rfind(']')
}
