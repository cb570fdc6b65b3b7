//! Why a call did not run, or was stopped while it ran.

use std::borrow::Cow;
use std::fmt;

use crate::{Bound, ColumnMismatch, ComponentFault, InvalidArguments, ResumeFault, shown};

/// A call that was refused. Nothing else of its batch is touched.
///
/// A refusal has two texts. [`Display`](fmt::Display) is what the model reads: it names what to do
/// next and holds no path of the host, no supplied value and no detail of a checker's outage.
/// [`operator`](Self::operator) is what the operator reads.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Refusal {
    /// No tool of that name was ever in the request's snapshot.
    Unknown {
        /// The name that was called.
        name: String,
        /// Names that are near, nearest first, at most three.
        nearest: Vec<String>,
    },
    /// A tool of that name exists but was withdrawn from this request.
    Unavailable {
        /// The name that was called.
        name: String,
    },
    /// The arguments are not JSON or do not fit the tool.
    InvalidArguments(InvalidArguments),
    /// Policy said no, or nobody was there to ask.
    Denied(Denial),
    /// A person said no.
    Declined {
        /// What the person wants the model to read.
        note: Option<String>,
    },
    /// A person said no and stopped what the call belongs to. A batch or turn begins no further
    /// call after it.
    Stopped {
        /// What the person wants the model to read.
        note: Option<String>,
    },
    /// The question that a check-in asks could not be put, and nobody was asked.
    Component {
        /// What is wrong with what it shows.
        fault: ComponentFault,
        /// What is wrong with the store, for the operator.
        operator: Option<String>,
    },
    /// An artifact that an argument names cannot be had.
    Artifact {
        /// What is wrong with each argument, for the model.
        issues: Vec<String>,
        /// What is wrong with the store, for the operator.
        operator: Option<String>,
    },
    /// A credential that the tool needs cannot be had.
    Credential {
        /// The service, as the tool declared it.
        service: String,
        /// Why, for the operator.
        operator: String,
    },
    /// The output is larger than the tool's author lets a model read.
    Ceiling {
        /// The size, in characters.
        chars: usize,
        /// The most, in characters.
        max_chars: usize,
        /// Arguments that make the output smaller.
        narrow_by: Vec<String>,
    },
    /// The text of the result is over the bound, and the tool wants it refused then.
    TooLong {
        /// Its bytes.
        bytes: usize,
        /// Its lines.
        lines: usize,
        /// The most of both.
        bound: Bound,
        /// Arguments that make it shorter.
        narrow_by: Vec<String>,
    },
    /// Columns of the result hold something else than the tool declares.
    Columns {
        /// The columns, with counts and types.
        mismatches: Vec<ColumnMismatch>,
    },
    /// A suspended call cannot be resumed like this.
    Resume {
        /// Why not.
        fault: ResumeFault,
    },
    /// The way by which the call came cannot do what the tool declares.
    Door {
        /// The declaration that it cannot honour.
        declaration: &'static str,
    },
    /// The request that brought the call was turned away, and the call did not begin.
    Request {
        /// Why, as whoever sent it was told.
        because: String,
    },
}

/// The sort of a [`Refusal`], for tables and logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RefusalKind {
    /// See [`Refusal::Unknown`].
    Unknown,
    /// See [`Refusal::Unavailable`].
    Unavailable,
    /// See [`Refusal::InvalidArguments`].
    InvalidArguments,
    /// See [`Refusal::Denied`].
    Denied,
    /// See [`Refusal::Declined`].
    Declined,
    /// See [`Refusal::Stopped`].
    Stopped,
    /// See [`Refusal::Component`].
    Component,
    /// See [`Refusal::Artifact`].
    Artifact,
    /// See [`Refusal::Credential`].
    Credential,
    /// See [`Refusal::Ceiling`].
    Ceiling,
    /// See [`Refusal::TooLong`].
    TooLong,
    /// See [`Refusal::Columns`].
    Columns,
    /// See [`Refusal::Resume`].
    Resume,
    /// See [`Refusal::Door`].
    Door,
    /// See [`Refusal::Request`].
    Request,
}

/// A denial by policy.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Denial {
    /// What was asked for: `shell`, `write` or a tool's name.
    pub action: String,
    /// The reason that the rule's author wrote for the model.
    pub reason: Option<String>,
    /// The rule, outage or absence that decided, for the operator.
    pub operator: String,
}

impl Denial {
    /// A denial of an action, with the text that the operator reads.
    pub fn new(action: impl Into<String>, operator: impl Into<String>) -> Self {
        Self {
            action: action.into(),
            reason: None,
            operator: operator.into(),
        }
    }

    /// Adds the reason that the model reads.
    #[must_use]
    pub fn reason(mut self, reason: Option<String>) -> Self {
        self.reason = reason;
        self
    }
}

impl Refusal {
    /// Which sort it is.
    #[must_use]
    pub fn kind(&self) -> RefusalKind {
        match self {
            Self::Unknown { .. } => RefusalKind::Unknown,
            Self::Unavailable { .. } => RefusalKind::Unavailable,
            Self::InvalidArguments(_) => RefusalKind::InvalidArguments,
            Self::Denied(_) => RefusalKind::Denied,
            Self::Declined { .. } => RefusalKind::Declined,
            Self::Stopped { .. } => RefusalKind::Stopped,
            Self::Component { .. } => RefusalKind::Component,
            Self::Artifact { .. } => RefusalKind::Artifact,
            Self::Credential { .. } => RefusalKind::Credential,
            Self::Ceiling { .. } => RefusalKind::Ceiling,
            Self::TooLong { .. } => RefusalKind::TooLong,
            Self::Columns { .. } => RefusalKind::Columns,
            Self::Resume { .. } => RefusalKind::Resume,
            Self::Door { .. } => RefusalKind::Door,
            Self::Request { .. } => RefusalKind::Request,
        }
    }

    /// What the operator reads.
    #[must_use]
    pub fn operator(&self) -> String {
        match self {
            Self::Denied(denial) => {
                format!("{} denied: {}", shown(&denial.action), denial.operator)
            }
            Self::Artifact {
                issues,
                operator: Some(operator),
            } => {
                format!("{}: {operator}", issues.join("; "))
            }
            Self::Component {
                fault,
                operator: Some(operator),
            } => {
                format!("check-in could not be asked, as {fault}: {operator}")
            }
            Self::Credential { service, operator } => {
                format!("credential for {service}: {operator}")
            }
            other => other.to_string(),
        }
    }
}

impl RefusalKind {
    /// Every kind there is, for tables that must leave none out.
    pub fn all() -> impl Iterator<Item = Self> {
        std::iter::successors(Some(Self::Unknown), |kind| kind.next())
    }

    /// The kind that follows, so that whoever adds one has to say where it stands.
    fn next(self) -> Option<Self> {
        Some(match self {
            Self::Unknown => Self::Unavailable,
            Self::Unavailable => Self::InvalidArguments,
            Self::InvalidArguments => Self::Denied,
            Self::Denied => Self::Declined,
            Self::Declined => Self::Stopped,
            Self::Stopped => Self::Component,
            Self::Component => Self::Artifact,
            Self::Artifact => Self::Credential,
            Self::Credential => Self::Ceiling,
            Self::Ceiling => Self::TooLong,
            Self::TooLong => Self::Columns,
            Self::Columns => Self::Resume,
            Self::Resume => Self::Door,
            Self::Door => Self::Request,
            Self::Request => return None,
        })
    }

    /// One word, stable across versions.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Unavailable => "unavailable",
            Self::InvalidArguments => "invalid_arguments",
            Self::Denied => "denied",
            Self::Declined => "declined",
            Self::Stopped => "stopped",
            Self::Component => "component",
            Self::Artifact => "artifact",
            Self::Credential => "credential",
            Self::Ceiling => "ceiling",
            Self::TooLong => "too_long",
            Self::Columns => "columns",
            Self::Resume => "resume",
            Self::Door => "door",
            Self::Request => "request",
        }
    }
}

impl fmt::Display for RefusalKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { name, nearest } => {
                write!(f, "there is no tool \"{}\"", shown(name))?;
                match nearest.as_slice() {
                    [] => Ok(()),
                    names => write!(f, "; did you mean {}?", names.join(" or ")),
                }
            }
            Self::Unavailable { name } => {
                write!(
                    f,
                    "tool \"{}\" is not available in this request",
                    shown(name)
                )
            }
            Self::InvalidArguments(invalid) => invalid.fmt(f),
            Self::Denied(denial) => {
                write!(f, "permission for {} was denied", shown(&denial.action))?;
                match &denial.reason {
                    Some(reason) => write!(f, ": {reason}"),
                    None => f.write_str("; calling again will not change that"),
                }
            }
            Self::Declined { note: Some(note) } => write!(f, "the user declined: {note}"),
            Self::Declined { note: None } => f.write_str("the user declined this call"),
            Self::Stopped { note: Some(note) } => {
                write!(f, "the user declined this call and stopped: {note}")
            }
            Self::Stopped { note: None } => f.write_str("the user declined this call and stopped"),
            Self::Component { fault, .. } => write!(
                f,
                "the user could not be asked whether to go on, as {fault}; the tool did not run"
            ),
            Self::Artifact { issues, .. } => f.write_str(&issues.join("; ")),
            Self::Credential { service, .. } => {
                write!(
                    f,
                    "access to {} could not be obtained; continue without it",
                    shown(service)
                )
            }
            Self::Ceiling {
                chars,
                max_chars,
                narrow_by,
            } => {
                write!(
                    f,
                    "the result has {chars} characters and the most is {max_chars}; no data was returned"
                )?;
                narrower(f, narrow_by)
            }
            Self::TooLong {
                bytes,
                lines,
                bound,
                narrow_by,
            } => {
                write!(
                    f,
                    "the result has {bytes} bytes in {lines} lines and the most is {} bytes in {} \
                     lines; no data was returned",
                    bound.bytes(),
                    bound.lines()
                )?;
                narrower(f, narrow_by)
            }
            Self::Columns { mismatches } => {
                f.write_str(
                    "the result was withheld, as columns hold something else than declared: ",
                )?;
                for (index, mismatch) in mismatches.iter().enumerate() {
                    let ColumnMismatch {
                        column,
                        expected,
                        got,
                        wrong,
                        rows,
                    } = mismatch;
                    let separator = if index > 0 { "; " } else { "" };
                    write!(
                        f,
                        "{separator}{}: expected {expected}, got {got} in {wrong} of {rows} rows",
                        shown(column)
                    )?;
                }
                Ok(())
            }
            Self::Resume { fault } => {
                write!(
                    f,
                    "the approval cannot be used, as {fault}; make the call again"
                )
            }
            Self::Door { declaration } => {
                write!(
                    f,
                    "this tool declares {declaration}, which cannot be honoured here"
                )
            }
            Self::Request { because } => write!(f, "the request was turned away: {because}"),
        }
    }
}

impl std::error::Error for Refusal {}

/// A name that came from outside, escaped and cut when it is long.
fn shown(name: &str) -> Cow<'_, str> {
    shown::shown(name, 100)
}

/// How to get a result that is smaller.
fn narrower(f: &mut fmt::Formatter<'_>, narrow_by: &[String]) -> fmt::Result {
    match narrow_by {
        [] => f.write_str("; ask for less"),
        names => write!(f, "; narrow it by {}", names.join(", ")),
    }
}
