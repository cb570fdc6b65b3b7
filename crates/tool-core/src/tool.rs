//! A tool: what it says of itself and the one thing that it runs.

use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::dynamic::{Dynamic, Nothing};
use crate::projection::{ModelProjection, StructuredProjection};
use crate::typed;
use crate::{
    Context, Declarations, Decoder, Encoder, Executor, HandlerError, Problem, ProblemKind,
    Produced, ProviderDefined, Schema, Serde, ToolKind, TypedTool, Validation,
};

/// A tool. It has no name of its own: the name is the key under which it is registered.
///
/// Clones are cheap and independent: changing one never changes another.
///
/// ```
/// use tool_core::{Context, HandlerError, Tool};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Greet {
///     /// Who to greet.
///     name: String,
/// }
///
/// let greet = Tool::new("Greet somebody", |input: Greet, _cx: Context| async move {
///     Ok(format!("Hello, {}!", input.name))
/// })
/// .read_only();
/// let tool = Tool::from(greet);
/// assert_eq!(tool.description(), "Greet somebody");
/// assert!(tool.problems().is_empty());
/// ```
#[derive(Clone)]
pub struct Tool(pub(crate) Arc<Inner>);

#[derive(Clone)]
pub(crate) struct Inner {
    pub(crate) description: String,
    pub(crate) input: Schema,
    pub(crate) output: Option<Schema>,
    pub(crate) executor: Arc<dyn Executor>,
    pub(crate) declarations: Declarations,
    pub(crate) kind: ToolKind,
    pub(crate) validation: Validation,
    /// Its input is decoded by a codec of its author's.
    pub(crate) own_codec: bool,
    pub(crate) failure_schema: Option<Schema>,
    pub(crate) structured_schema: Option<Schema>,
    pub(crate) structured: Option<StructuredProjection>,
    pub(crate) model: Option<ModelProjection>,
    pub(crate) problems: Vec<Problem>,
}

impl Tool {
    /// A tool from a description and an asynchronous closure over a typed input.
    ///
    /// The schema of the input is what its type deserializes from, with unknown keys refused; the
    /// schema of the output is what its type serializes to, which it may be asked for
    /// [twice](crate::Output::encode). `?` on an ordinary error inside the
    /// closure makes a defect; return a [`ToolFailure`](crate::ToolFailure) for what the model is
    /// meant to read. What cannot be honoured is kept in [`problems`](Self::problems) and
    /// reported, with the name, when the tool is registered.
    #[expect(
        clippy::new_ret_no_self,
        reason = "the types are kept until the tool is registered"
    )]
    pub fn new<I, O, F, Fut>(description: impl Into<String>, handler: F) -> TypedTool<I, O>
    where
        I: DeserializeOwned + JsonSchema + Send + 'static,
        O: Serialize + JsonSchema + Send + 'static,
        F: Fn(I, Context) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<O, HandlerError>> + Send + 'static,
    {
        TypedTool::new(description.into(), handler)
    }

    /// A tool with a failure type of its own: what the closure returns as an inner error is a
    /// failure that the model reads, encoded by its own type and under its own schema. A tool without
    /// types declares that schema with [`failure_schema`](Self::failure_schema).
    ///
    /// ```
    /// use tool_core::{Context, Tool};
    ///
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct FindUser {
    ///     id: u64,
    /// }
    ///
    /// #[derive(Debug, serde::Serialize, schemars::JsonSchema, thiserror::Error)]
    /// #[error("there is no user {id}")]
    /// struct UserNotFound {
    ///     id: u64,
    /// }
    ///
    /// let find = Tool::fallible("Find a user", |input: FindUser, _cx: Context| async move {
    ///     if input.id == 1 {
    ///         return Ok(Ok("Ada"));
    ///     }
    ///     Ok(Err(UserNotFound { id: input.id }))
    /// });
    /// assert!(Tool::from(find).failure().is_some());
    /// ```
    pub fn fallible<I, O, E, F, Fut>(description: impl Into<String>, handler: F) -> TypedTool<I, O>
    where
        I: DeserializeOwned + JsonSchema + Send + 'static,
        O: Serialize + JsonSchema + Send + 'static,
        E: std::error::Error + Serialize + JsonSchema + Send + Sync + 'static,
        F: Fn(I, Context) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Result<O, E>, HandlerError>> + Send + 'static,
    {
        let codecs = (Serde, Serde, Serde);
        typed::fallible(description.into(), codecs, typed::NAMED_FIELDS, handler)
    }

    /// A tool whose values are read and written by codecs of the caller's own; [`Serde`](crate::Serde)
    /// may be either.
    ///
    /// Everything that sees a value of the tool's types goes by its codecs: projections, the
    /// predicates of [`needs_approval_when`](TypedTool::needs_approval_when) and
    /// [`check_in_when`](TypedTool::check_in_when), preliminary results, and who calls the tool by
    /// its types.
    pub fn with_codecs<I, O, D, E, F, Fut>(
        description: impl Into<String>,
        decoder: D,
        encoder: E,
        handler: F,
    ) -> TypedTool<I, O, D, E>
    where
        I: Send + 'static,
        O: Send + 'static,
        D: Decoder<I> + 'static,
        E: Encoder<O> + 'static,
        F: Fn(I, Context) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<O, HandlerError>> + Send + 'static,
    {
        TypedTool::coded(description.into(), decoder, encoder, "", handler)
    }

    /// A [fallible](Self::fallible) tool whose values are read and written by codecs of the caller's
    /// own, each by its own: input, output and failures.
    pub fn fallible_with_codecs<I, O, X, D, E, C, F, Fut>(
        description: impl Into<String>,
        decoder: D,
        encoder: E,
        failures: C,
        handler: F,
    ) -> TypedTool<I, O, D, E>
    where
        I: Send + 'static,
        O: Send + 'static,
        X: std::error::Error + Send + Sync + 'static,
        D: Decoder<I> + 'static,
        E: Encoder<O> + 'static,
        C: Encoder<X> + 'static,
        F: Fn(I, Context) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Result<O, X>, HandlerError>> + Send + 'static,
    {
        let codecs = (decoder, encoder, failures);
        typed::fallible(description.into(), codecs, "", handler)
    }

    /// A tool whose input schema is known at run time only.
    ///
    /// The schema must say `"type": "object"` at its root. Arguments are validated against it
    /// before the closure sees them. The closure returns a JSON value, or a [`Produced`] with
    /// blocks for the model.
    pub fn dynamic<F, Fut, P>(description: impl Into<String>, input: Value, handler: F) -> Self
    where
        F: Fn(Value, Context) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<P, HandlerError>> + Send + 'static,
        P: Into<Produced> + 'static,
    {
        let mut tool = Self::from_executor(description, input, Arc::new(Dynamic::new(handler)));
        tool.inner_mut().kind = ToolKind::Dynamic;
        tool
    }

    /// A tool that is advertised here and whose calls are settled from outside.
    ///
    /// A call passes every stage up to execution and is then suspended at
    /// [`Gate::External`](crate::Gate::External), until somebody brings its result.
    pub fn external(description: impl Into<String>, input: Value) -> Self {
        let mut tool = Self::from_executor(description, input, Arc::new(Nothing));
        tool.inner_mut().kind = ToolKind::External;
        tool
    }

    /// A tool that a model provider defines and runs itself. Calls of it are recorded, not run.
    ///
    /// `id` is `provider.tool`; `provider_name` is what the provider calls it; `arguments` are how
    /// it is to be set up.
    pub fn provider_defined(
        id: impl Into<String>,
        provider_name: impl Into<String>,
        arguments: Map<String, Value>,
    ) -> Self {
        let (id, provider_name) = (id.into(), provider_name.into());
        let open = json!({"type": "object"});
        let tool = Self::from_executor(format!("Run {id}"), open, Arc::new(Nothing));
        tool.provided(ProviderDefined {
            id,
            provider_name,
            arguments,
            handled_here: false,
        })
    }

    /// Makes this the local handler of a tool that a model provider defines.
    #[must_use]
    pub fn handles_provider_tool(
        self,
        id: impl Into<String>,
        provider_name: impl Into<String>,
        arguments: Map<String, Value>,
    ) -> Self {
        self.provided(ProviderDefined {
            id: id.into(),
            provider_name: provider_name.into(),
            arguments,
            handled_here: true,
        })
    }

    fn provided(mut self, defined: ProviderDefined) -> Self {
        let named = defined.id.split_once('.');
        if !named.is_some_and(|(provider, tool)| !provider.is_empty() && !tool.is_empty()) {
            self.inner_mut().problems.push(Problem::new(
                ProblemKind::Declaration,
                format!(
                    "provider tool id \"{}\" is not of the form provider.tool",
                    defined.id
                ),
            ));
        }
        self.inner_mut().kind = ToolKind::Provider(defined);
        self
    }

    /// A tool over an executor of the caller's own.
    pub fn from_executor(
        description: impl Into<String>,
        input: Value,
        executor: Arc<dyn Executor>,
    ) -> Self {
        let mut problems = Vec::new();
        let input = Schema::input(input).unwrap_or_else(|error| {
            problems.push(Problem::new(ProblemKind::Schema, format!("input: {error}")));
            Schema::no_arguments()
        });
        Self::from_parts(description.into(), input, None, executor, problems)
    }

    pub(crate) fn from_parts(
        description: String,
        input: Schema,
        output: Option<Schema>,
        executor: Arc<dyn Executor>,
        mut problems: Vec<Problem>,
    ) -> Self {
        problems.extend(blank(&description));
        Self(Arc::new(Inner {
            description,
            input,
            output,
            executor,
            declarations: Declarations::default(),
            kind: ToolKind::default(),
            validation: Validation::default(),
            own_codec: false,
            failure_schema: None,
            structured_schema: None,
            structured: None,
            model: None,
            problems,
        }))
    }
}

impl<I, O, D, E> From<TypedTool<I, O, D, E>> for Tool {
    fn from(typed: TypedTool<I, O, D, E>) -> Self {
        typed.tool
    }
}

impl fmt::Debug for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tool")
            .field("description", &self.0.description)
            .field("declarations", &self.0.declarations)
            .finish_non_exhaustive()
    }
}

pub(crate) fn blank(description: &str) -> Option<Problem> {
    description.trim().is_empty().then(|| {
        Problem::new(
            ProblemKind::Description,
            "description is blank; say what the tool does",
        )
    })
}
