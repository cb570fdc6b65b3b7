//! Options of a program whose operands are a command.

use super::field::{CommandWord, Rest};
use super::reading::Stop;

/// The options that a program knows. One that it does not know is never skipped by guess.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spec {
    /// Letters without a value.
    pub(super) flags: &'static str,
    /// Letters with a value, in the same word or the next.
    pub(super) valued: &'static str,
    /// Letters with a value only in the same word.
    pub(super) attached: &'static str,
    /// Names without a value, or with one behind `=`.
    pub(super) long_flags: &'static [&'static str],
    /// Names with a value, behind `=` or in the next word.
    pub(super) long_valued: &'static [&'static str],
    /// `-5` is an option.
    pub(super) numbers: bool,
}

/// The options of a call.
#[derive(Debug, Default)]
pub(super) struct Scan {
    options: Vec<(String, Option<CommandWord>)>,
    /// The words that are no options.
    pub(super) operands: Vec<CommandWord>,
}

impl Spec {
    /// No option at all.
    pub(super) const NONE: Self = Self {
        flags: "",
        valued: "",
        attached: "",
        long_flags: &[],
        long_valued: &[],
        numbers: false,
    };

    /// Takes options up to the first operand; all that follows are operands.
    pub(super) fn scan(&self, words: &[CommandWord]) -> Result<Scan, Stop> {
        let mut scan = Scan::default();
        let rest = self.options(words, &mut scan)?;
        scan.operands.extend_from_slice(rest);
        Ok(scan)
    }

    /// Takes options also between and behind the operands.
    pub(super) fn scan_all(&self, words: &[CommandWord]) -> Result<Scan, Stop> {
        let mut scan = Scan::default();
        let mut rest = words;
        loop {
            let before = rest.len();
            rest = self.options(rest, &mut scan)?;
            let ended = rest.len() < before
                && words
                    .get(words.len() - rest.len() - 1)
                    .is_some_and(|word| word.known() == Some("--"));
            match rest.split_first() {
                Some((operand, behind)) if !ended => {
                    scan.operands.push(operand.clone());
                    rest = behind;
                }
                _ => {
                    scan.operands.extend_from_slice(rest);
                    return Ok(scan);
                }
            }
        }
    }

    /// Takes the options at the start and gives the rest.
    fn options<'w>(
        &self,
        words: &'w [CommandWord],
        scan: &mut Scan,
    ) -> Result<&'w [CommandWord], Stop> {
        let mut rest = words;
        while let Some((word, behind)) = rest.split_first() {
            let text = word.beginning();
            if !text.starts_with('-') {
                // A word that is not known at all may be an option.
                return match text.is_empty() && !word.is_known() {
                    true => Err(HIDDEN),
                    false => Ok(rest),
                };
            }
            match word.known() {
                Some("-") => return Ok(rest),
                Some("--") => return Ok(behind),
                _ if word.rest() == Rest::Words => return Err(HIDDEN),
                _ => {}
            }
            let takes_next = match text.strip_prefix("--") {
                Some(long) => self.long(word, long, scan)?,
                None => self.short(word, scan)?,
            };
            rest = behind;
            if let Some(name) = takes_next {
                let (value, behind) = rest.split_first().ok_or(Stop("an option has no value"))?;
                if value.rest() == Rest::Words {
                    return Err(HIDDEN);
                }
                scan.options.push((name, Some(value.clone())));
                rest = behind;
            }
        }
        Ok(rest)
    }

    /// A word of letters; gives the option that takes the next word.
    fn short(&self, word: &CommandWord, scan: &mut Scan) -> Result<Option<String>, Stop> {
        let text = word.beginning();
        let digits = text.get(1..).unwrap_or_default();
        if self.numbers && word.is_known() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
            scan.options.push((text.to_owned(), None));
            return Ok(None);
        }
        for (at, letter) in text.char_indices().skip(1) {
            let name = format!("-{letter}");
            let end = at + letter.len_utf8();
            let value = word.after(end);
            let ends = end == text.len() && word.is_known();
            if self.flags.contains(letter) {
                scan.options.push((name, None));
            } else if self.attached.contains(letter) {
                scan.options.push((name, (!ends).then_some(value)));
                return Ok(None);
            } else if self.valued.contains(letter) {
                if ends {
                    return Ok(Some(name));
                }
                scan.options.push((name, Some(value)));
                return Ok(None);
            } else {
                return Err(STRANGE);
            }
        }
        match word.is_known() {
            true => Ok(None),
            false => Err(HIDDEN),
        }
    }

    /// A word that starts with `--`; gives the option that takes the next word.
    fn long(
        &self,
        word: &CommandWord,
        text: &str,
        scan: &mut Scan,
    ) -> Result<Option<String>, Stop> {
        let (name, value) = match text.split_once('=') {
            Some((name, _)) => (name, Some(word.after("--=".len() + name.len()))),
            None if word.is_known() => (text, None),
            None => return Err(HIDDEN),
        };
        let written = format!("--{name}");
        if self.long_valued.contains(&name) {
            if value.is_none() {
                return Ok(Some(written));
            }
        } else if !self.long_flags.contains(&name) {
            // Also the short forms of long names, which depend on the version.
            return Err(STRANGE);
        }
        scan.options.push((written, value));
        Ok(None)
    }
}

impl Scan {
    /// Whether one of the options was given.
    pub(super) fn has(&self, names: &[&str]) -> bool {
        self.options
            .iter()
            .any(|(name, _)| names.contains(&name.as_str()))
    }

    /// The last value of the options.
    pub(super) fn value(&self, names: &[&str]) -> Option<&CommandWord> {
        self.values(names).last()
    }

    /// All values of the options.
    pub(super) fn values(&self, names: &[&str]) -> impl Iterator<Item = &CommandWord> {
        self.options
            .iter()
            .filter(|(name, _)| names.contains(&name.as_str()))
            .filter_map(|(_, value)| value.as_ref())
    }
}

const HIDDEN: Stop = Stop("an option is known only when running");
const STRANGE: Stop = Stop("an option is not known");
