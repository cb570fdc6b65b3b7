//! One thing that is wrong with arguments.

use std::fmt;

use crate::shown::shown;

/// One thing that is wrong with the arguments of a call.
///
/// Issues carry paths, names of keys and names of types; never a value that was supplied.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Issue {
    /// The text is not JSON.
    Syntax {
        /// The 1-based line.
        line: usize,
        /// The 1-based column.
        column: usize,
        /// The text ends before the JSON does.
        truncated: bool,
    },
    /// The text cannot be held as JSON data: a lone surrogate, a number out of range or nesting
    /// that is too deep.
    Unrepresentable {
        /// JSON pointer of the place; empty for nesting.
        path: String,
        /// What cannot be held.
        what: Unrepresentable,
    },
    /// A key stands twice in one object.
    DuplicateKey {
        /// JSON pointer of the object.
        path: String,
        /// The key.
        key: String,
    },
    /// The arguments are no object.
    NotObject {
        /// The type that was supplied.
        got: &'static str,
    },
    /// A required key is missing.
    Missing {
        /// JSON pointer of the object.
        path: String,
        /// The key.
        key: String,
    },
    /// A key that the schema does not know.
    UnknownKey {
        /// JSON pointer of the object.
        path: String,
        /// The key.
        key: String,
        /// The known key that is nearest, if one is near.
        nearest: Option<String>,
    },
    /// A value of another type than the schema says.
    Type {
        /// JSON pointer of the value.
        path: String,
        /// The types that the schema takes.
        expected: String,
        /// The type that was supplied.
        got: &'static str,
    },
    /// A value that is none of those allowed.
    NotAllowed {
        /// JSON pointer of the value.
        path: String,
        /// The allowed values, as JSON, at most ten of them.
        allowed: Vec<String>,
        /// The allowed value that is nearest, as JSON, if one is near.
        nearest: Option<String>,
    },
    /// A value that breaks another rule of the schema.
    Constraint {
        /// JSON pointer of the value.
        path: String,
        /// The keyword that says so, and what it asks for where that is short.
        rule: String,
    },
    /// Text that stands for a value, and more than one value would fit.
    Ambiguous {
        /// JSON pointer of the text.
        path: String,
    },
}

/// What JSON can spell and data cannot hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Unrepresentable {
    /// A number that is not finite, or an integer of more than 64 bits.
    Number,
    /// An escape that is half of a character.
    Surrogate,
    /// Nesting of more than 128 levels.
    Depth,
}

impl fmt::Display for Issue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax {
                line,
                column,
                truncated: true,
            } => write!(
                f,
                "the arguments end too early, at line {line} column {column}; send the whole JSON object"
            ),
            Self::Syntax {
                line,
                column,
                truncated: false,
            } => write!(
                f,
                "the arguments are not JSON, at line {line} column {column}; send one JSON object"
            ),
            Self::Unrepresentable { path, what } => write!(f, "{what}{}", At(path)),
            Self::DuplicateKey { path, key } => {
                write!(f, "key {} stands twice{}", quoted(key), Within(path))
            }
            Self::NotObject { got } => {
                write!(f, "expected an object with the arguments, got {got}")
            }
            Self::Missing { path, key } => {
                write!(f, "missing key {}{}", quoted(key), Within(path))
            }
            Self::UnknownKey { path, key, nearest } => {
                write!(f, "unknown key {}{}", quoted(key), Within(path))?;
                match nearest {
                    Some(nearest) => write!(f, " (did you mean {}?)", quoted(nearest)),
                    None => Ok(()),
                }
            }
            Self::Type {
                path,
                expected,
                got,
            } => {
                write!(f, "expected {expected}{}, got {got}", At(path))
            }
            Self::NotAllowed {
                path,
                allowed,
                nearest,
            } => {
                f.write_str("expected one of ")?;
                for (index, value) in allowed.iter().enumerate() {
                    let separator = if index > 0 { ", " } else { "" };
                    write!(f, "{separator}{}", Cut(value))?;
                }
                write!(f, "{}", At(path))?;
                match nearest {
                    Some(nearest) => write!(f, " (did you mean {}?)", Cut(nearest)),
                    None => Ok(()),
                }
            }
            Self::Constraint { path, rule } => write!(f, "{rule}{}", At(path)),
            Self::Ambiguous { path } => write!(
                f,
                "the text{} can be read in more than one way; send the value itself",
                At(path)
            ),
        }
    }
}

impl fmt::Display for Unrepresentable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Number => "a number is out of range",
            Self::Surrogate => "an escape is a lone surrogate, which is no character",
            Self::Depth => "the arguments are nested deeper than 128 levels",
        })
    }
}

/// Quotes a key that came from outside.
fn quoted(key: &str) -> String {
    format!("\"{}\"", shown(key, 80))
}

/// The most characters of an allowed value that are shown.
const MOST_OF_VALUE: usize = 200;

/// A value of a schema's author: as it is, and cut when it is long.
struct Cut<'a>(&'a str);

impl fmt::Display for Cut<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.char_indices().nth(MOST_OF_VALUE) {
            None => f.write_str(self.0),
            Some((end, _)) => write!(f, "{}…", self.0.get(..end).unwrap_or_default()),
        }
    }
}

/// The most characters of a path that are shown.
const MOST_OF_PATH: usize = 200;

struct At<'a>(&'a str);
struct Within<'a>(&'a str);

impl fmt::Display for At<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            Ok(())
        } else {
            write!(f, " at {}", shown(self.0, MOST_OF_PATH))
        }
    }
}

impl fmt::Display for Within<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            Ok(())
        } else {
            write!(f, " in {}", shown(self.0, MOST_OF_PATH))
        }
    }
}
