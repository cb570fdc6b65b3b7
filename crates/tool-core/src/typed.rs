//! Tools whose input and output are Rust types.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::coded::Coded;
use crate::serde_codec::is_serde;
use crate::{
    BoxFuture, CallFacts, CheckIn, Content, Context, Decoder, Encoder, HandlerError, NeedsApproval,
    Problem, ProblemKind, Schema, Serde, Tool, ToolFailure, ToolKind, projection,
};

/// What to do about input by serde whose schema cannot be used.
pub(crate) const NAMED_FIELDS: &str = "; take a struct with named fields as input";

type Failure = Box<dyn Error + Send + Sync>;

type Handler<I, O> =
    Arc<dyn Fn(I, Context) -> BoxFuture<'static, Result<O, HandlerError>> + Send + Sync>;

/// A tool that still knows the types of its input and output, and the codecs of both.
///
/// Made by [`Tool::new`]; becomes a [`Tool`] by `into()`, which registering does by itself. Only
/// what sees values of the types needs them: the projections, the predicates over decoded input and
/// a direct [`call`](Self::call).
pub struct TypedTool<I, O, D = Serde, E = Serde> {
    pub(crate) tool: Tool,
    handler: Handler<I, O>,
    decoder: Arc<D>,
    encoder: Arc<E>,
}

impl<I, O> TypedTool<I, O>
where
    I: DeserializeOwned + JsonSchema + Send + 'static,
    O: Serialize + JsonSchema + Send + 'static,
{
    pub(crate) fn new<F, Fut>(description: String, handler: F) -> Self
    where
        F: Fn(I, Context) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<O, HandlerError>> + Send + 'static,
    {
        Self::coded(description, Serde, Serde, NAMED_FIELDS, handler)
    }
}

impl<I, O, D, E> TypedTool<I, O, D, E>
where
    I: Send + 'static,
    O: Send + 'static,
    D: Decoder<I> + 'static,
    E: Encoder<O> + 'static,
{
    /// The advice is for an input schema that cannot be used.
    pub(crate) fn coded<F, Fut>(
        description: String,
        decoder: D,
        encoder: E,
        advice: &'static str,
        handler: F,
    ) -> Self
    where
        F: Fn(I, Context) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<O, HandlerError>> + Send + 'static,
    {
        let mut problems = Vec::new();
        let input = Schema::input(decoder.schema()).unwrap_or_else(|error| {
            problems.push(Problem::new(
                ProblemKind::Schema,
                format!("input: {error}{advice}"),
            ));
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

        let (decoder, encoder) = (Arc::new(decoder), Arc::new(encoder));
        let handler = Arc::new(handler);
        let direct = Arc::clone(&handler);
        let executor = Coded::new(
            Arc::clone(&decoder),
            Arc::clone(&encoder),
            move |input, cx| handler(input, cx),
        );
        let mut tool = Tool::from_parts(description, input, output, Arc::new(executor), problems);
        tool.inner_mut().own_codec = !is_serde::<D>();
        Self {
            tool,
            handler: Arc::new(move |input, cx| Box::pin(direct(input, cx))),
            decoder,
            encoder,
        }
    }
}

impl<I, O, D, E> TypedTool<I, O, D, E> {
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

    /// The codecs of the input and of the output, for who calls the tool by its types.
    #[must_use]
    pub fn codecs(&self) -> (Arc<D>, Arc<E>) {
        (Arc::clone(&self.decoder), Arc::clone(&self.encoder))
    }

    /// Shows the model these blocks in place of the output.
    ///
    /// The projection is pure: it sees the validated input and the encoded output, both read by the
    /// tool's codecs into their types, and neither identity nor services. Where it is not given, a
    /// text output is shown verbatim and any other as compact JSON.
    #[must_use]
    pub fn model<C>(mut self, project: impl Fn(I, O) -> C + Send + Sync + 'static) -> Self
    where
        D: Decoder<I> + 'static,
        E: Decoder<O> + 'static,
        C: IntoIterator<Item = Content>,
    {
        let (input, output) = self.codecs();
        self.tool.inner_mut().model = Some(projection::model(
            move |value| input.decode(value),
            move |value| output.decode(value),
            project,
        ));
        self
    }

    /// Shows programs a smaller result in place of the output, under its own schema.
    #[must_use]
    pub fn structured<S>(mut self, project: impl Fn(O) -> S + Send + Sync + 'static) -> Self
    where
        E: Decoder<O> + 'static,
        S: Serialize + JsonSchema,
    {
        let (_, output) = self.codecs();
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
        let read = move |value: &Value| output.decode(value);
        inner.structured = Some(projection::structured(read, project));
        self
    }

    /// Has those calls need a person's leave for which the predicate says so, over the input that
    /// the tool's codec decodes; in place of what was set before.
    ///
    /// The predicate runs once for each attempt, after validation, and again when the call is
    /// resumed. One that fails, panics, cannot read the input or takes longer than the runtime lets
    /// its gates take says yes.
    ///
    /// ```
    /// use tool_core::{CallFacts, Context, Tool};
    ///
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Refund {
    ///     cents: u64,
    /// }
    ///
    /// let refund = Tool::new("Refund", |refund: Refund, _: Context| async move { Ok(refund.cents) })
    ///     .needs_approval_when(|refund, _: CallFacts| async move { Ok(refund.cents > 10_000) });
    /// assert!(!Tool::from(refund).declarations().approval.is_never());
    /// ```
    #[must_use]
    pub fn needs_approval_when<F, Fut>(self, predicate: F) -> Self
    where
        I: 'static,
        D: Decoder<I> + 'static,
        F: Fn(I, CallFacts) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<bool, Failure>> + Send + 'static,
    {
        let decoder = Arc::clone(&self.decoder);
        let decode = move |input: &Value| Ok(decoder.decode(input)?);
        self.needs_approval(NeedsApproval::over(decode, false, predicate))
    }

    /// Has those calls check in with a person for which the predicate says so, over the input that
    /// the tool's codec decodes. The component of a check-in that was declared before is kept. A
    /// predicate that fails, panics or cannot read the input says yes.
    #[must_use]
    pub fn check_in_when(
        mut self,
        trips: impl Fn(I) -> Result<bool, Failure> + Send + Sync + 'static,
    ) -> Self
    where
        I: 'static,
        D: Decoder<I> + 'static,
    {
        let decoder = Arc::clone(&self.decoder);
        let declared = self.tool.inner_mut().declarations.check_in.take();
        let check_in = declared.unwrap_or_else(CheckIn::always);
        self.check_in(check_in.only(move |input| trips(decoder.decode(input)?), false))
    }
}

/// Makes a handler with a declared failure type into one that fails deliberately with it.
pub(crate) fn fallible<I, O, X, D, E, C, F, Fut>(
    description: String,
    (decoder, encoder, failures): (D, E, C),
    advice: &'static str,
    handler: F,
) -> TypedTool<I, O, D, E>
where
    I: Send + 'static,
    O: Send + 'static,
    X: Error + Send + Sync + 'static,
    D: Decoder<I> + 'static,
    E: Encoder<O> + 'static,
    C: Encoder<X> + 'static,
    F: Fn(I, Context) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<Result<O, X>, HandlerError>> + Send + 'static,
{
    let schema = failures.schema();
    let handler = Arc::new((handler, failures));
    let handler = move |input, cx| {
        let handler = Arc::clone(&handler);
        async move {
            let (handler, failures) = &*handler;
            let failure = match handler(input, cx).await? {
                Ok(output) => return Ok(output),
                Err(failure) => failure,
            };
            // A failure is encoded by its own codec, never by that of the output.
            let encoded = failures.encode(&failure).map_err(HandlerError::unencoded)?;
            Err(ToolFailure::new(failure.to_string())
                .structured(encoded)
                .because(failure)
                .into())
        }
    };
    let mut tool = TypedTool::coded(description, decoder, encoder, advice, handler);
    if let Some(schema) = schema {
        tool.tool.inner_mut().declare_failure(schema);
    }
    tool
}

impl<I, O, D, E> Clone for TypedTool<I, O, D, E> {
    fn clone(&self) -> Self {
        Self {
            tool: self.tool.clone(),
            handler: Arc::clone(&self.handler),
            decoder: Arc::clone(&self.decoder),
            encoder: Arc::clone(&self.encoder),
        }
    }
}

impl<I, O, D, E> fmt::Debug for TypedTool<I, O, D, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.tool.fmt(f)
    }
}
