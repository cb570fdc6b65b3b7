//! Who wrote a value, and who wrote the one before it.

/// The first line of a value: a mark that nothing else ever has, so that no two values are the same
/// bytes and whoever wrote one knows it again, and the mark of the value that it was written over,
/// so that whoever wrote that one learns that it was there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Marks {
    pub(crate) own: String,
    pub(crate) before: Option<String>,
}

impl Marks {
    /// The marks of a value that is written over another, or over nothing.
    pub(crate) fn over(before: Option<&str>) -> Result<Self, getrandom::Error> {
        let mut random = [0; 8];
        getrandom::fill(&mut random)?;
        Ok(Self {
            own: format!("{:016x}", u64::from_be_bytes(random)),
            before: before.filter(|before| is_mark(before)).map(str::to_owned),
        })
    }

    /// The marks ahead of a value.
    pub(crate) fn ahead_of(&self, value: &[u8]) -> Vec<u8> {
        let mut bytes = self.own.clone().into_bytes();
        if let Some(before) = &self.before {
            bytes.push(b' ');
            bytes.extend_from_slice(before.as_bytes());
        }
        bytes.push(b'\n');
        bytes.extend_from_slice(value);
        bytes
    }

    /// The marks, and the value behind them; `None` for what has none.
    pub(crate) fn split(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let line = bytes.get(..bytes.len().min(LONGEST))?;
        let end = line.iter().position(|byte| *byte == b'\n')?;
        let line = std::str::from_utf8(line.get(..end)?).ok()?;
        let (own, before) = match line.split_once(' ') {
            None => (line, None),
            Some((own, before)) => (own, Some(before)),
        };
        let is_sound = is_mark(own) && before.is_none_or(is_mark);
        let marks = Self {
            own: own.to_owned(),
            before: before.map(str::to_owned),
        };
        is_sound.then_some((marks, bytes.get(end + 1..)?))
    }
}

fn is_mark(text: &str) -> bool {
    text.len() == DIGITS && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

const DIGITS: usize = 16;
const LONGEST: usize = 2 * DIGITS + 2;
