//! The one thing that a tool can run.

use std::any::Any;
use std::error::Error;
use std::pin::Pin;
use std::task::{Context as TaskContext, Poll};

use pin_project_lite::pin_project;
use serde_json::Value;

use crate::{Context, HandlerError, InvalidArguments, Output, PreliminaryError, Produced, Spoken};

/// Decodes input, runs, and encodes output. A tool has exactly one.
///
/// The steps are types, so that nothing runs undecoded: [`Prepared`] runs once, and what then runs
/// is a [`Running`], which encodes what it came to. All three may be one allocation.
/// Implement it for a codec of your own; closures go through
/// [`Tool::new`](crate::Tool::new) and [`Tool::dynamic`](crate::Tool::dynamic).
///
/// ```
/// use std::pin::Pin;
///
/// use serde_json::Value;
/// use tool_core::{Context, Executor, InvalidArguments, Prepared, Produced, Running, producing};
///
/// /// Gives back what it is given.
/// struct Echo;
///
/// struct Heard(Value);
///
/// impl Executor for Echo {
///     fn prepare(&self, input: &Value) -> Result<Box<dyn Prepared>, InvalidArguments> {
///         Ok(Box::new(Heard(input.clone())))
///     }
/// }
///
/// impl Prepared for Heard {
///     fn run<'a>(self: Box<Self>, _cx: Context) -> Pin<Box<dyn Running + 'a>>
///     where
///         Self: 'a,
///     {
///         producing(async move { Ok(Produced::value(self.0)) })
///     }
/// }
/// # let _ = Echo;
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot run as a tool",
    note = "build tools from closures with `Tool::new` or `Tool::dynamic`"
)]
pub trait Executor: Send + Sync {
    /// Decodes input that the tool's input schema accepts.
    ///
    /// # Errors
    /// Issues without supplied values, when the input still does not fit.
    fn prepare(&self, input: &Value) -> Result<Box<dyn Prepared + '_>, InvalidArguments>;

    /// Decodes arguments that may not be a value yet. Does what [`prepare`](Self::prepare) does
    /// with their value; override it to spare that value.
    ///
    /// # Errors
    /// As [`prepare`](Self::prepare).
    fn prepare_spoken(
        &self,
        input: &Spoken<'_>,
    ) -> Result<Box<dyn Prepared + '_>, InvalidArguments> {
        self.prepare(input.value())
    }

    /// Encodes an output that comes before the final one, by the codec of that. `None`, the
    /// default, where it is encoded by serde.
    fn encode_preliminary(&self, output: &dyn Any) -> Option<Result<Output, PreliminaryError>> {
        let _ = output;
        None
    }
}

/// Decoded input, ready to run once.
pub trait Prepared: Send {
    /// Begins to run the handler.
    fn run<'a>(self: Box<Self>, cx: Context) -> Pin<Box<dyn Running + 'a>>
    where
        Self: 'a;
}

/// A handler that runs while it is awaited, and then holds its output.
///
/// # Cancel safety
/// Dropping it cancels the handler at its next await. Whatever the handler holds must be given
/// back by its destructors.
pub trait Running: Future<Output = Result<(), HandlerError>> + Send {
    /// Encodes the output, once, after the handler came to its end.
    ///
    /// # Errors
    /// When the output has no JSON form, or when there is none; the call then ends as a defect.
    fn encode(self: Pin<&mut Self>) -> Result<Produced, Box<dyn Error + Send + Sync>>;
}

/// Runs a handler whose output needs no encoding any more.
pub fn producing<'a>(
    handler: impl Future<Output = Result<Produced, HandlerError>> + Send + 'a,
) -> Pin<Box<dyn Running + 'a>> {
    Box::pin(Producing {
        handler,
        produced: None,
    })
}

pin_project! {
    struct Producing<F> {
        #[pin]
        handler: F,
        produced: Option<Produced>,
    }
}

impl<F: Future<Output = Result<Produced, HandlerError>>> Future for Producing<F> {
    type Output = Result<(), HandlerError>;

    fn poll(self: Pin<&mut Self>, cx: &mut TaskContext<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let produced = this.handler.poll(cx);
        produced.map_ok(|produced| *this.produced = Some(produced))
    }
}

impl<F> Running for Producing<F>
where
    F: Future<Output = Result<Produced, HandlerError>> + Send,
{
    fn encode(self: Pin<&mut Self>) -> Result<Produced, Box<dyn Error + Send + Sync>> {
        self.project()
            .produced
            .take()
            .ok_or_else(|| NO_OUTPUT.into())
    }
}

pub(crate) const NO_OUTPUT: &str = "there is no output to encode";
