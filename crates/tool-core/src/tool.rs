//! A tool: what it says of itself and the one thing that it runs.

use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::declarations::declaration_setters;
use crate::dynamic::Dynamic;
use crate::projection::{self, ModelProjection, StructuredProjection};
use crate::{
    Content, Context, Declarations, Executor, HandlerError, Problem, ProblemKind, Produced,
    ProjectionError, Schema, TypedTool,
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
pub struct Tool(Arc<Inner>);

#[derive(Clone)]
pub(crate) struct Inner {
    description: String,
    input: Schema,
    output: Option<Schema>,
    executor: Arc<dyn Executor>,
    declarations: Declarations,
    pub(crate) structured_schema: Option<Schema>,
    pub(crate) structured: Option<StructuredProjection>,
    pub(crate) model: Option<ModelProjection>,
    pub(crate) problems: Vec<Problem>,
}

impl Tool {
    /// A tool from a description and an asynchronous closure over a typed input.
    ///
    /// The schema of the input is what its type deserializes from, with unknown keys refused; the
    /// schema of the output is what its type serializes to. `?` on an ordinary error inside the
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
        Self::from_executor(description, input, Arc::new(Dynamic::new(handler)))
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
        if description.trim().is_empty() {
            problems.push(Problem::new(
                ProblemKind::Description,
                "description is blank; say what the tool does",
            ));
        }
        Self(Arc::new(Inner {
            description,
            input,
            output,
            executor,
            declarations: Declarations::default(),
            structured_schema: None,
            structured: None,
            model: None,
            problems,
        }))
    }

    /// Declares the schema of the output. Output that does not fit is never a success.
    #[must_use]
    pub fn output_schema(mut self, schema: Value) -> Self {
        let inner = self.inner_mut();
        match Schema::new(schema) {
            Ok(schema) => inner.output = Some(schema),
            Err(error) => inner.problems.push(Problem::new(
                ProblemKind::Schema,
                format!("output: {error}"),
            )),
        }
        self
    }

    /// Shows the model these blocks in place of the output, from the validated input and the
    /// encoded output.
    #[must_use]
    pub fn model<C>(mut self, project: impl Fn(Value, Value) -> C + Send + Sync + 'static) -> Self
    where
        C: IntoIterator<Item = Content>,
    {
        self.inner_mut().model = Some(projection::model(project));
        self
    }

    declaration_setters!(self => self.inner_mut().declarations);

    /// What the tool does, for the model.
    #[must_use]
    pub fn description(&self) -> &str {
        &self.0.description
    }

    /// The schema of the arguments.
    #[must_use]
    pub fn input(&self) -> &Schema {
        &self.0.input
    }

    /// The schema of the whole output.
    #[must_use]
    pub fn output(&self) -> Option<&Schema> {
        self.0.output.as_ref()
    }

    /// The schema of what programs are shown: that of the structured projection, else of the
    /// output.
    #[must_use]
    pub fn advertised_output(&self) -> Option<&Schema> {
        if self.0.structured.is_some() {
            self.0.structured_schema.as_ref()
        } else {
            self.0.output.as_ref()
        }
    }

    /// What the tool declares of itself.
    #[must_use]
    pub fn declarations(&self) -> &Declarations {
        &self.0.declarations
    }

    /// The one thing that the tool runs.
    #[must_use]
    pub fn executor(&self) -> &Arc<dyn Executor> {
        &self.0.executor
    }

    /// Everything that is wrong with the definition; empty for one that can be registered.
    #[must_use]
    pub fn problems(&self) -> Vec<Problem> {
        let mut problems = self.0.problems.clone();
        problems.extend(self.0.declarations.problems(&self.0.input));
        problems
    }

    /// Projects an encoded output for programs. `None` where the tool has no such projection.
    ///
    /// # Errors
    /// [`ProjectionError`] when the encoded value does not read back.
    #[must_use]
    pub fn project_structured(&self, output: &Value) -> Option<Result<Value, ProjectionError>> {
        self.0.structured.as_ref().map(|project| project(output))
    }

    /// Projects validated input and encoded output for the model. `None` where the tool has no
    /// such projection.
    ///
    /// # Errors
    /// [`ProjectionError`] when an encoded value does not read back.
    #[must_use]
    pub fn project_model(
        &self,
        input: &Value,
        output: &Value,
    ) -> Option<Result<Vec<Content>, ProjectionError>> {
        self.0.model.as_ref().map(|project| project(input, output))
    }

    pub(crate) fn inner_mut(&mut self) -> &mut Inner {
        Arc::make_mut(&mut self.0)
    }
}

impl<I, O> TypedTool<I, O> {
    declaration_setters!(self => self.tool.inner_mut().declarations);
}

impl<I, O> From<TypedTool<I, O>> for Tool {
    fn from(typed: TypedTool<I, O>) -> Self {
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
