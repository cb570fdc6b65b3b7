//! How a server is reached.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

/// How a server is reached: what is run, or which URL is asked. A person who trusts a server
/// trusts this.
///
/// Of the environment it holds the names alone, as values may be secrets. Printing it shows what is
/// run in full, each word in quotes where it is not plain, as somebody has to read it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Launch {
    /// A child process.
    Process {
        /// The command.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// The names of the variables that it is given beside the usual ones.
        env: BTreeSet<String>,
        /// The folder that it runs in.
        cwd: Option<String>,
    },
    /// A server that is asked over HTTP.
    Http {
        /// Where.
        url: String,
        /// The names of the headers that it is sent beside the usual ones.
        headers: BTreeSet<String>,
    },
}

impl fmt::Display for Launch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Process {
                command,
                args,
                env,
                cwd,
            } => {
                write!(f, "{}", Word(command))?;
                for arg in args {
                    write!(f, " {}", Word(arg))?;
                }
                if let Some(cwd) = cwd {
                    write!(f, ", in {}", Word(cwd))?;
                }
                names(f, ", with the variables", env)
            }
            Self::Http { url, headers } => {
                write!(f, "{}", Word(url))?;
                names(f, ", with the headers", headers)
            }
        }
    }
}

fn names(f: &mut fmt::Formatter<'_>, what: &str, names: &BTreeSet<String>) -> fmt::Result {
    for (index, name) in names.iter().enumerate() {
        let before = if index == 0 { what } else { "," };
        write!(f, "{before} {}", Word(name))?;
    }
    Ok(())
}

/// A word that can be told from its neighbours, and that shows what cannot be seen.
struct Word<'a>(&'a str);

impl fmt::Display for Word<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@+%,~".contains(c);
        if !self.0.is_empty() && self.0.chars().all(plain) {
            f.write_str(self.0)
        } else {
            write!(f, "\"{}\"", self.0.escape_debug())
        }
    }
}
