//! Arguments that do not fit a tool.

use std::fmt;

/// Why the arguments of a call were refused: at most ten issues, none with a supplied value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidArguments {
    issues: Vec<Issue>,
    more: usize,
}

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
        /// What cannot be held, as a clause.
        what: &'static str,
    },
    /// A key stands twice in one object.
    DuplicateKey {
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
    },
    /// A value that breaks another rule of the schema.
    Constraint {
        /// JSON pointer of the value.
        path: String,
        /// The keyword that says so, and what it asks for where that is short.
        rule: String,
    },
}

impl InvalidArguments {
    /// The most issues that are kept.
    pub const MAX_ISSUES: usize = 10;

    /// Keeps the first ten issues and counts the rest.
    pub fn new(issues: impl IntoIterator<Item = Issue>) -> Self {
        let mut issues = issues.into_iter();
        let kept: Vec<_> = issues.by_ref().take(Self::MAX_ISSUES).collect();
        Self {
            issues: kept,
            more: issues.count(),
        }
    }

    /// The issues, at most ten.
    #[must_use]
    pub fn issues(&self) -> &[Issue] {
        &self.issues
    }
}

impl fmt::Display for InvalidArguments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, issue) in self.issues.iter().enumerate() {
            if index > 0 {
                f.write_str("; ")?;
            }
            issue.fmt(f)?;
        }
        if self.more > 0 {
            write!(f, "; and {} more", self.more)?;
        }
        Ok(())
    }
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
            Self::Unrepresentable { what } => f.write_str(what),
            Self::DuplicateKey { key } => write!(f, "key {} stands twice", quoted(key)),
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
            Self::NotAllowed { path, allowed } => {
                write!(f, "expected one of {}{}", allowed.join(", "), At(path))
            }
            Self::Constraint { path, rule } => write!(f, "{rule}{}", At(path)),
        }
    }
}

/// Quotes a key that came from outside.
fn quoted(key: &str) -> String {
    format!("\"{}\"", shown(key, 80))
}

/// Text that came from outside: escaped, and cut when it is long. A path holds such keys.
fn shown(text: &str, most: usize) -> String {
    let mut shown: String = text
        .chars()
        .take(most)
        .flat_map(char::escape_debug)
        .collect();
    if text.chars().nth(most).is_some() {
        shown.push('…');
    }
    shown
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
