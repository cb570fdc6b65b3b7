//! Tools whose input and output are Rust types.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::coded::Coded;
use crate::serde_codec::{SerdeDecoder, SerdeEncoder};
use crate::{
    BoxFuture, Content, Context, Decoder, Encoder, HandlerError, Problem, ProblemKind, Schema,
    Tool, ToolFailure, ToolKind, projection,
};

type Handler<I, O> =
    Arc<dyn Fn(I, Context) -> BoxFuture<'static, Result<O, HandlerError>> + Send + Sync>;

/// A tool that still knows the types of its input and output.
///
/// Made by [`Tool::new`]; becomes a [`Tool`] by `into()`, which registering does by itself. Only
/// the projections and a direct [`call`](Self::call) need the types.
pub struct TypedTool<I, O> {
    pub(crate) tool: Tool,
    handler: Handler<I, O>,
}

impl<I, O> TypedTool<I, O>
where
    I: Send + 'static,
    O: Send + 'static,
{
    pub(crate) fn new<F, Fut>(description: String, handler: F) -> Self
    where
        I: DeserializeOwned + JsonSchema,
        O: Serialize + JsonSchema,
        F: Fn(I, Context) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<O, HandlerError>> + Send + 'static,
    {
        let (decoder, problem) = match SerdeDecoder::new() {
            Ok(decoder) => (decoder, None),
            Err(error) => (
                SerdeDecoder::hopeless(),
                Some(Problem::new(
                    ProblemKind::Schema,
                    format!("{error}; take a struct with named fields as input"),
                )),
            ),
        };
        let mut tool = Self::coded(description, decoder, SerdeEncoder::new(), handler);
        tool.tool.inner_mut().problems.extend(problem);
        tool
    }

    pub(crate) fn coded<D, E, F, Fut>(
        description: String,
        decoder: D,
        encoder: E,
        handler: F,
    ) -> Self
    where
        D: Decoder<I> + 'static,
        E: Encoder<O> + 'static,
        F: Fn(I, Context) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<O, HandlerError>> + Send + 'static,
    {
        let mut problems = Vec::new();
        let input = Schema::input(decoder.schema()).unwrap_or_else(|error| {
            problems.push(Problem::new(ProblemKind::Schema, format!("input: {error}")));
            Schema::no_arguments()
        });
        let output = encoder
            .schema()
            .and_then(|schema| match Schema::new(schema) {
                Ok(schema) => Some(schema),
                Err(error) => {
                    problems.push(Problem::new(
                        ProblemKind::Schema,
                        format!("output: {error}"),
                    ));
                    None
                }
            });

        let handler = Arc::new(handler);
        let direct = Arc::clone(&handler);
        let executor = Coded::new(decoder, encoder, move |input, cx| handler(input, cx));
        Self {
            tool: Tool::from_parts(description, input, output, Arc::new(executor), problems),
            handler: Arc::new(move |input, cx| Box::pin(direct(input, cx))),
        }
    }

    /// Counts the tool as one whose schemas are known at run time only: its kind is
    /// [`Dynamic`](crate::ToolKind::Dynamic) and its input schema can be replaced, by one that
    /// describes what the type reads. Input is still decoded into the type.
    #[must_use]
    pub fn into_dynamic(mut self) -> Tool {
        self.tool.inner_mut().kind = ToolKind::Dynamic;
        self.tool
    }

    /// Runs the handler on its own, with neither validation nor policy: for its own tests.
    ///
    /// # Errors
    /// What the handler returns.
    ///
    /// # Cancel safety
    /// Dropping the future drops the handler's.
    pub async fn call(&self, input: I, cx: Context) -> Result<O, HandlerError> {
        (self.handler)(input, cx).await
    }

    /// Shows the model these blocks in place of the output.
    ///
    /// The projection is pure: it sees the validated input and the encoded output, both read back
    /// into their types, and neither identity nor services. Where it is not given, a text output
    /// is shown verbatim and any other as compact JSON.
    #[must_use]
    pub fn model<C>(mut self, project: impl Fn(I, O) -> C + Send + Sync + 'static) -> Self
    where
        I: DeserializeOwned,
        O: DeserializeOwned,
        C: IntoIterator<Item = Content>,
    {
        self.tool.inner_mut().model = Some(projection::model(project));
        self
    }

    /// Shows programs a smaller result in place of the output, under its own schema.
    #[must_use]
    pub fn structured<S>(mut self, project: impl Fn(O) -> S + Send + Sync + 'static) -> Self
    where
        O: DeserializeOwned,
        S: Serialize + JsonSchema,
    {
        let inner = self.tool.inner_mut();
        match Schema::output_of::<S>() {
            Ok(schema) => inner.structured_schema = Some(schema),
            Err(error) => {
                let detail = format!("structured: {error}");
                inner
                    .problems
                    .push(Problem::new(ProblemKind::Schema, detail));
            }
        }
        inner.structured = Some(projection::structured(project));
        self
    }
}

/// Makes a handler with a declared failure type into one that fails deliberately with it.
pub(crate) fn fallible<I, O, E, F, Fut>(description: String, handler: F) -> TypedTool<I, O>
where
    I: DeserializeOwned + JsonSchema + Send + 'static,
    O: Serialize + JsonSchema + Send + 'static,
    E: Error + Serialize + JsonSchema + Send + Sync + 'static,
    F: Fn(I, Context) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<Result<O, E>, HandlerError>> + Send + 'static,
{
    let handler = Arc::new(handler);
    let mut tool = TypedTool::new(description, move |input, cx| {
        let handler = Arc::clone(&handler);
        async move {
            let failure = match handler(input, cx).await? {
                Ok(output) => return Ok(output),
                Err(failure) => failure,
            };
            // A failure is encoded by its own type, never by that of the output.
            let encoded = serde_json::to_value(&failure)?;
            Err(ToolFailure::new(failure.to_string())
                .structured(encoded)
                .because(failure)
                .into())
        }
    });
    let inner = tool.tool.inner_mut();
    match Schema::output_of::<E>() {
        Ok(schema) => inner.failure_schema = Some(schema),
        Err(error) => {
            let detail = format!("failure: {error}");
            inner
                .problems
                .push(Problem::new(ProblemKind::Schema, detail));
        }
    }
    tool
}

impl<I, O> Clone for TypedTool<I, O> {
    fn clone(&self) -> Self {
        Self {
            tool: self.tool.clone(),
            handler: Arc::clone(&self.handler),
        }
    }
}

impl<I, O> fmt::Debug for TypedTool<I, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.tool.fmt(f)
    }
}
