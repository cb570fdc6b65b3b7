//! Brace expansion: `{a,b}` and `{1..3}`.

use super::reading::Stop;
use super::tree::{Expansion, Piece, Split, Word};

/// The smallest part of a word that is still to be expanded.
#[derive(Clone, Copy, Debug)]
pub(super) enum Atom<'w> {
    Plain(char),
    Quoted(char),
    /// Quotes around nothing.
    Empty,
    Expansion(&'w Expansion),
}

/// The words that a word becomes, at least one.
pub(super) fn expand(word: &Word) -> Result<Vec<Vec<Atom<'_>>>, Stop> {
    let atoms = atoms(word);
    if !atoms.iter().any(|atom| matches!(atom, Atom::Plain('{'))) {
        return Ok(vec![atoms]);
    }
    if may_expand(&atoms) && atoms.iter().any(grows) {
        return Err(Stop(
            "braces may make a variable of what stands beside them",
        ));
    }
    let Some(closing) = pair(&atoms) else {
        // bash expands some of these by rules that depend on where the odd brace stands.
        return match may_expand(&atoms) {
            true => Err(Stop("braces do not pair up")),
            false => Ok(vec![atoms]),
        };
    };
    let mut braces = Braces {
        atoms: &atoms,
        closing: &closing,
        left: MOST_ATOMS,
    };
    braces.expand(0, atoms.len(), 0)
}

/// Whether a part reads differently when other characters come to stand behind it.
fn grows(atom: &Atom<'_>) -> bool {
    match atom {
        Atom::Plain(char) => *char == '$',
        Atom::Expansion(expansion) => {
            expansion.split == Split::Blank && !expansion.spelled.ends_with('}')
        }
        Atom::Quoted(_) | Atom::Empty => false,
    }
}

/// Whether a word would be expanded.
pub(super) fn may_expand(atoms: &[Atom<'_>]) -> bool {
    let dots = atoms
        .iter()
        .zip(atoms.iter().skip(1))
        .any(|pair| matches!(pair, (Atom::Plain('.'), Atom::Plain('.'))));
    atoms.iter().any(|atom| matches!(atom, Atom::Plain('{')))
        && (dots || atoms.iter().any(|atom| matches!(atom, Atom::Plain(','))))
}

/// The parts of a word.
pub(super) fn atoms(word: &Word) -> Vec<Atom<'_>> {
    let mut atoms = Vec::new();
    for piece in &word.pieces {
        match piece {
            Piece::Plain(text) => atoms.extend(text.chars().map(Atom::Plain)),
            Piece::Quoted(text) if text.is_empty() => atoms.push(Atom::Empty),
            Piece::Quoted(text) => atoms.extend(text.chars().map(Atom::Quoted)),
            Piece::Expansion(expansion) => atoms.push(Atom::Expansion(expansion)),
        }
    }
    atoms
}

struct Braces<'w, 'a> {
    atoms: &'a [Atom<'w>],
    /// For an opening brace the place of its closing one.
    closing: &'a [Option<usize>],
    /// How many more atoms may be made.
    left: usize,
}

impl<'w> Braces<'w, '_> {
    fn expand(&mut self, from: usize, to: usize, depth: usize) -> Result<Vec<Vec<Atom<'w>>>, Stop> {
        if depth > MOST_DEPTH {
            return Err(Stop("braces are nested too deep"));
        }
        let mut words = vec![Vec::new()];
        let mut at = from;
        while at < to {
            let choices = match self.closing.get(at).copied().flatten() {
                Some(close) => self.choices(at, close, depth)?,
                None => None,
            };
            match choices {
                Some((choices, next)) => {
                    words = self.product(&words, &choices)?;
                    at = next;
                }
                None => {
                    let atom = self.atoms.get(at).copied();
                    self.spend(words.len())?;
                    words.iter_mut().for_each(|word| word.extend(atom));
                    at += 1;
                }
            }
        }
        Ok(words)
    }

    /// What a pair of braces stands for, and the place behind it. None if it stands for itself.
    #[expect(clippy::type_complexity, reason = "it is read in one place")]
    fn choices(
        &mut self,
        open: usize,
        close: usize,
        depth: usize,
    ) -> Result<Option<(Vec<Vec<Atom<'w>>>, usize)>, Stop> {
        let mut commas = Vec::new();
        let mut at = open + 1;
        while at < close {
            match (self.atoms.get(at), self.closing.get(at).copied().flatten()) {
                (_, Some(inner)) => at = inner,
                (Some(Atom::Plain(',')), None) => commas.push(at),
                _ => {}
            }
            at += 1;
        }
        if commas.is_empty() {
            let sequence = self.sequence(open + 1, close)?;
            return Ok(sequence.map(|words| (words, close + 1)));
        }
        let mut choices = Vec::new();
        let mut from = open + 1;
        for to in commas.into_iter().chain([close]) {
            choices.extend(self.expand(from, to, depth + 1)?);
            from = to + 1;
        }
        Ok(Some((choices, close + 1)))
    }

    /// `x..y` or `x..y..step` between numbers or letters.
    fn sequence(&mut self, from: usize, to: usize) -> Result<Option<Vec<Vec<Atom<'w>>>>, Stop> {
        let inside = self.atoms.get(from..to).unwrap_or_default();
        let text: Option<String> = inside
            .iter()
            .map(|atom| match atom {
                Atom::Plain(char) => Some(*char),
                _ => None,
            })
            .collect();
        let Some(text) = text else {
            return Ok(None);
        };
        let parts: Vec<&str> = text.split("..").collect();
        let (first, last, step) = match parts.as_slice() {
            [first, last] => (*first, *last, "1"),
            [first, last, step] => (*first, *last, *step),
            _ => return Ok(None),
        };
        let Ok(step) = step.parse::<i64>() else {
            return Ok(None);
        };
        let words = match (first.parse::<i64>(), last.parse::<i64>()) {
            (Ok(start), Ok(end)) => {
                let width = padding(first, last)?;
                range(start, end, step)?
                    .into_iter()
                    .map(|number| format!("{number:0width$}"))
                    .collect()
            }
            _ => match (letter(first), letter(last)) {
                // Between the cases of letters lie characters that mean something to the shell.
                (Some(start), Some(end))
                    if start.is_ascii_lowercase() == end.is_ascii_lowercase() =>
                {
                    range(i64::from(start), i64::from(end), step)?
                        .into_iter()
                        .filter_map(|code| u8::try_from(code).ok())
                        .map(|code| char::from(code).to_string())
                        .collect()
                }
                (Some(_), Some(_)) => return Err(Stop("a sequence mixes cases")),
                _ => return Ok(None),
            },
        };
        let words: Vec<String> = words;
        self.spend(words.iter().map(String::len).sum())?;
        Ok(Some(
            words
                .iter()
                .map(|word| word.chars().map(Atom::Plain).collect())
                .collect(),
        ))
    }

    fn product(
        &mut self,
        words: &[Vec<Atom<'w>>],
        choices: &[Vec<Atom<'w>>],
    ) -> Result<Vec<Vec<Atom<'w>>>, Stop> {
        let mut all = Vec::new();
        for word in words {
            for choice in choices {
                self.spend(1 + word.len() + choice.len())?;
                all.push(word.iter().chain(choice).copied().collect());
            }
        }
        Ok(all)
    }

    fn spend(&mut self, atoms: usize) -> Result<(), Stop> {
        self.left = self
            .left
            .checked_sub(atoms)
            .ok_or(Stop("braces make too many words"))?;
        Ok(())
    }
}

/// For each opening brace the place of the closing one. None if they do not pair up.
fn pair(atoms: &[Atom<'_>]) -> Option<Vec<Option<usize>>> {
    let mut closing = vec![None; atoms.len()];
    let mut open = Vec::new();
    for (at, atom) in atoms.iter().enumerate() {
        match atom {
            Atom::Plain('{') => open.push(at),
            Atom::Plain('}') => *closing.get_mut(open.pop()?)? = Some(at),
            _ => {}
        }
    }
    open.is_empty().then_some(closing)
}

/// How many digits each number of a sequence has at least.
fn padding(first: &str, last: &str) -> Result<usize, Stop> {
    let padded =
        |number: &str| number.len() > 1 && number.trim_start_matches(['-', '+']).starts_with('0');
    if !padded(first) && !padded(last) {
        return Ok(0);
    }
    if [first, last]
        .iter()
        .any(|number| number.starts_with(['-', '+']))
    {
        return Err(Stop("a sequence has signs and leading zeros"));
    }
    Ok(first.len().max(last.len()))
}

fn range(start: i64, end: i64, step: i64) -> Result<Vec<i64>, Stop> {
    let step = step.unsigned_abs().max(1);
    let count = start.abs_diff(end) / step;
    if count >= MOST_SEQUENCE {
        return Err(Stop("a sequence is too long"));
    }
    let numbers = (0..=count).filter_map(|at| match start <= end {
        true => start.checked_add_unsigned(at * step),
        false => start.checked_sub_unsigned(at * step),
    });
    Ok(numbers.collect())
}

fn letter(text: &str) -> Option<u8> {
    match text.as_bytes() {
        [byte] if byte.is_ascii_alphabetic() => Some(*byte),
        _ => None,
    }
}

const MOST_DEPTH: usize = 32;
const MOST_ATOMS: usize = 256 * 1024;
const MOST_SEQUENCE: u64 = 10_000;
