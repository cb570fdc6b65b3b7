//! Why a question could not be shown.

use std::error::Error;
use std::fmt;

/// Why the component of a check-in could not be shown: what is wrong with the artifact in which it
/// finds what it is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ComponentFault {
    /// It is named by something that is no text, or by a blank one.
    Shape,
    /// There is no store here that could have it.
    NoStore,
    /// It is not there: missing, expired or another caller's.
    Unresolved,
    /// The store could not tell, or did not in time.
    Store,
}

impl fmt::Display for ComponentFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Shape => "the artifact to be shown is named by no text",
            Self::NoStore => "no artifacts can be shown here",
            Self::Unresolved => "the artifact to be shown is not there",
            Self::Store => "the artifact to be shown could not be looked up",
        })
    }
}

impl Error for ComponentFault {}
