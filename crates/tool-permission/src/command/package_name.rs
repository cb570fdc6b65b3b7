//! The program that a word for a runner of packages stands for.

use super::field::CommandWord;
use super::reading::Stop;

/// What the word of the program names.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Names {
    Program,
    /// A package of npm, which may have a version behind `@`.
    Npm,
    /// The same without the `create-` that it starts with.
    Creator,
    /// A package of Python, which may have a version or extras.
    Python,
    /// A program, or a file of Python that may also be read from elsewhere.
    Script,
}

impl Names {
    /// The words of the program that the word stands for.
    pub(super) fn program(self, word: &CommandWord) -> Result<Vec<CommandWord>, Stop> {
        let Some(text) = word.known() else {
            return Ok(vec![word.clone()]);
        };
        let python = matches!(self, Self::Python | Self::Script);
        if python && (text == "-" || text.contains("://")) {
            return Err(ELSEWHERE);
        }
        if python && text.ends_with(".py") {
            return Ok(vec![CommandWord::literal("python"), word.clone()]);
        }
        let (name, version) = match self {
            Self::Program | Self::Script => return Ok(vec![word.clone()]),
            Self::Npm | Self::Creator => {
                // The first character may be the `@` of a scope.
                let behind = text.char_indices().skip(1).find(|(_, sign)| *sign == '@');
                text.split_at_checked(behind.map_or(text.len(), |(at, _)| at))
            }
            Self::Python => text.split_at_checked(text.find(VERSION).unwrap_or(text.len())),
        }
        .unwrap_or((text, ""));
        let path = name.starts_with(['.', '/']);
        let scoped = name.starts_with('@') && name.matches('/').count() == 1;
        let odd = version.contains([':', '/'])
            || name.contains(':')
            || name.is_empty()
            || name == "-"
            || name.contains('/') && !path && !scoped;
        if odd {
            return Err(ELSEWHERE);
        }
        let creator = match name.split_once('/') {
            _ if self != Self::Creator => name.to_owned(),
            Some((scope, name)) if scoped => format!("{scope}/create-{name}"),
            _ if name.starts_with('@') => format!("{name}/create"),
            _ => format!("create-{name}"),
        };
        Ok(vec![CommandWord::literal(creator)])
    }
}

const ELSEWHERE: Stop = Stop("where a package comes from is not read");

/// What stands between the name of a package of Python and its version.
const VERSION: [char; 7] = ['@', '=', '<', '>', '~', '!', '['];
