//! The one thing that a tool can run.

use std::error::Error;

use serde_json::Value;

use crate::{BoxFuture, Context, HandlerError, InvalidArguments, Produced};

/// Decodes input, runs, and encodes output. A tool has exactly one.
///
/// The three steps are three types, so that nothing runs undecoded and nothing is shown unencoded.
/// Implement it for a codec of your own; closures go through
/// [`Tool::new`](crate::Tool::new) and [`Tool::dynamic`](crate::Tool::dynamic).
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot run as a tool",
    note = "build tools from closures with `Tool::new` or `Tool::dynamic`"
)]
pub trait Executor: Send + Sync {
    /// Decodes input that the tool's input schema accepts.
    ///
    /// # Errors
    /// Issues without supplied values, when the input still does not fit.
    fn prepare(&self, input: &Value) -> Result<Box<dyn Prepared>, InvalidArguments>;
}

/// Decoded input, ready to run once.
pub trait Prepared: Send {
    /// Runs the handler.
    ///
    /// # Cancel safety
    /// Dropping the future cancels the handler at its next await. Whatever it holds must be given
    /// back by its destructors.
    fn run(
        self: Box<Self>,
        cx: Context,
    ) -> BoxFuture<'static, Result<Box<dyn Finished>, HandlerError>>;
}

/// Output that is not yet encoded.
pub trait Finished: Send {
    /// Encodes the output.
    ///
    /// # Errors
    /// When the output has no JSON form; the call then ends as a defect.
    fn encode(self: Box<Self>) -> Result<Produced, Box<dyn Error + Send + Sync>>;
}

impl Finished for Produced {
    fn encode(self: Box<Self>) -> Result<Produced, Box<dyn Error + Send + Sync>> {
        Ok(*self)
    }
}
