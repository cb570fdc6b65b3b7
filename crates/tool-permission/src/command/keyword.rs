//! Words of the grammar.

use super::parser::Parser;
use super::reading::Stop;

/// A word that is part of the grammar where a command starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keyword {
    If,
    Then,
    Elif,
    Else,
    Fi,
    For,
    Select,
    While,
    Until,
    Do,
    Done,
    Case,
    Esac,
    Function,
    Time,
    Coproc,
    Not,
    Open,
    Close,
    Test,
}

impl Parser<'_, '_> {
    /// The keyword that stands here.
    pub(super) fn keyword(&mut self) -> Option<Keyword> {
        let start = self.cursor.at();
        let mut text = String::new();
        while let Some(byte) = self.cursor.peek()
            && (byte.is_ascii_lowercase() || matches!(byte, b'!' | b'{' | b'}' | b'['))
            && text.len() <= LONGEST_KEYWORD
        {
            text.push(char::from(byte));
            self.cursor.bump();
        }
        let ends = self.at_word_end();
        self.cursor.back_to(start);
        ends.then(|| Keyword::of(&text)).flatten()
    }

    /// Takes this keyword if it stands here.
    pub(super) fn eat_keyword(&mut self, keyword: Keyword) -> bool {
        let found = self.keyword() == Some(keyword);
        if found {
            let length = keyword.as_str().len();
            for _ in 0..length {
                self.cursor.peek();
                self.cursor.bump();
            }
        }
        found
    }

    /// Takes this keyword, which must stand here.
    pub(super) fn expect_keyword(&mut self, keyword: Keyword) -> Result<(), Stop> {
        self.eat_keyword(keyword)
            .then_some(())
            .ok_or(Stop("a keyword is missing"))
    }
}

impl Keyword {
    fn of(text: &str) -> Option<Self> {
        ALL_KEYWORDS
            .iter()
            .copied()
            .find(|keyword| keyword.as_str() == text)
    }

    fn as_str(self) -> &'static str {
        match self {
            Self::If => "if",
            Self::Then => "then",
            Self::Elif => "elif",
            Self::Else => "else",
            Self::Fi => "fi",
            Self::For => "for",
            Self::Select => "select",
            Self::While => "while",
            Self::Until => "until",
            Self::Do => "do",
            Self::Done => "done",
            Self::Case => "case",
            Self::Esac => "esac",
            Self::Function => "function",
            Self::Time => "time",
            Self::Coproc => "coproc",
            Self::Not => "!",
            Self::Open => "{",
            Self::Close => "}",
            Self::Test => "[[",
        }
    }

    /// Whether it ends a list.
    pub(super) fn closes(self) -> bool {
        matches!(
            self,
            Self::Then
                | Self::Elif
                | Self::Else
                | Self::Fi
                | Self::Do
                | Self::Done
                | Self::Esac
                | Self::Close
        )
    }

    /// Whether it begins a command that can be the body of a function.
    pub(super) fn opens(self) -> bool {
        matches!(
            self,
            Self::If
                | Self::For
                | Self::Select
                | Self::While
                | Self::Until
                | Self::Case
                | Self::Open
                | Self::Test
        )
    }
}

const LONGEST_KEYWORD: usize = "function".len();

const ALL_KEYWORDS: &[Keyword] = &[
    Keyword::If,
    Keyword::Then,
    Keyword::Elif,
    Keyword::Else,
    Keyword::Fi,
    Keyword::For,
    Keyword::Select,
    Keyword::While,
    Keyword::Until,
    Keyword::Do,
    Keyword::Done,
    Keyword::Case,
    Keyword::Esac,
    Keyword::Function,
    Keyword::Time,
    Keyword::Coproc,
    Keyword::Not,
    Keyword::Open,
    Keyword::Close,
    Keyword::Test,
];
