//! Why a handler gave no output.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use crate::{Refusal, ToolFailure};

/// What a handler returns in place of an output.
///
/// `?` converts every error into it, and the conversion knows the two types of this crate: a
/// [`ToolFailure`] stays a failure that the model reads, a [`Refusal`] (from
/// [`Permission::assert`](crate::Permission::assert), say) stays that refusal, and everything else
/// becomes a defect, whose text no model reads. It is no `Error` itself, as `anyhow::Error` is
/// none, so that this one conversion can exist.
///
/// ```
/// use tool_core::{HandlerError, HandlerErrorKind, ToolFailure};
///
/// fn parse(text: &str) -> Result<u8, HandlerError> {
///     if text.is_empty() {
///         return Err(ToolFailure::new("say a number").into());
///     }
///     Ok(text.parse::<u8>()?)
/// }
///
/// assert!(matches!(parse("").unwrap_err().into_kind(), HandlerErrorKind::Failure(_)));
/// assert!(matches!(parse("x").unwrap_err().into_kind(), HandlerErrorKind::Defect(_)));
/// ```
pub struct HandlerError(HandlerErrorKind);

/// The sorts of [`HandlerError`].
#[derive(Debug)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a further sort must break every match"
)]
pub enum HandlerErrorKind {
    /// A deliberate failure that the model reads.
    Failure(ToolFailure),
    /// The call was refused while it ran.
    Refused(Refusal),
    /// A deliberate failure that could not be encoded. It is the result that is at fault.
    Unencoded(Arc<dyn Error + Send + Sync>),
    /// An error that nobody meant the model to read.
    Defect(Arc<dyn Error + Send + Sync>),
}

impl HandlerError {
    /// A defect from anything that converts to a boxed error, a text among them.
    pub fn defect(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::sort(error.into())
    }

    /// A failure that the model was meant to read and whose data could not be encoded, for that
    /// reason.
    pub fn unencoded(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(HandlerErrorKind::Unencoded(Arc::from(cause.into())))
    }

    /// Which sort it is.
    #[must_use]
    pub fn kind(&self) -> &HandlerErrorKind {
        &self.0
    }

    /// Which sort it is, with its value.
    #[must_use]
    pub fn into_kind(self) -> HandlerErrorKind {
        self.0
    }

    fn sort(error: Box<dyn Error + Send + Sync>) -> Self {
        let error = match error.downcast::<ToolFailure>() {
            Ok(failure) => return Self(HandlerErrorKind::Failure(*failure)),
            Err(error) => error,
        };
        match error.downcast::<Refusal>() {
            Ok(refusal) => Self(HandlerErrorKind::Refused(*refusal)),
            Err(error) => Self(HandlerErrorKind::Defect(Arc::from(error))),
        }
    }
}

impl<E: Error + Send + Sync + 'static> From<E> for HandlerError {
    fn from(error: E) -> Self {
        Self::sort(Box::new(error))
    }
}

impl fmt::Debug for HandlerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
