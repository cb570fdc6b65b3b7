//! Tools whose input and output are Rust types.

use std::error::Error;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{
    BoxFuture, Content, Context, Executor, Finished, HandlerError, InvalidArguments, Issue,
    Prepared, Problem, ProblemKind, Produced, Schema, Tool, projection,
};

/// A tool that still knows the types of its input and output.
///
/// Made by [`Tool::new`]; becomes a [`Tool`] by `into()`, which registering does by itself. Only
/// the projections need the types, so say those here.
pub struct TypedTool<I, O> {
    pub(crate) tool: Tool,
    types: PhantomData<fn(I) -> O>,
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
        let executor = Typed {
            handler: Arc::new(handler),
            types: PhantomData,
        };
        let mut problems = Vec::new();
        let input = Schema::input_of::<I>().unwrap_or_else(|error| {
            problems.push(Problem::new(
                ProblemKind::Schema,
                format!("{error}; take a struct with named fields as input"),
            ));
            Schema::no_arguments()
        });
        let output = match Schema::output_of::<O>() {
            Ok(schema) => Some(schema),
            Err(error) => {
                problems.push(Problem::new(
                    ProblemKind::Schema,
                    format!("output: {error}"),
                ));
                None
            }
        };
        let tool = Tool::from_parts(description, input, output, Arc::new(executor), problems);
        Self {
            tool,
            types: PhantomData,
        }
    }

    /// Shows the model these blocks in place of the output.
    ///
    /// The projection is pure: it sees the validated input and the encoded output, both read back
    /// into their types, and neither identity nor services. Where it is not given, a text output
    /// is shown verbatim and any other as compact JSON.
    #[must_use]
    pub fn model<C>(mut self, project: impl Fn(I, O) -> C + Send + Sync + 'static) -> Self
    where
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
                inner.problems.push(Problem::new(
                    ProblemKind::Schema,
                    format!("structured: {error}"),
                ));
            }
        }
        inner.structured = Some(projection::structured(project));
        self
    }
}

// Not derived: a clone of the tool needs no clone of its input.
impl<I, O> Clone for TypedTool<I, O> {
    fn clone(&self) -> Self {
        Self {
            tool: self.tool.clone(),
            types: PhantomData,
        }
    }
}

impl<I, O> fmt::Debug for TypedTool<I, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.tool.fmt(f)
    }
}

struct Typed<I, O, F> {
    handler: Arc<F>,
    types: PhantomData<fn(I) -> O>,
}

struct Decoded<I, O, F> {
    input: I,
    handler: Arc<F>,
    output: PhantomData<fn() -> O>,
}

struct Output<O>(O);

impl<I, O, F, Fut> Executor for Typed<I, O, F>
where
    I: DeserializeOwned + Send + 'static,
    O: Serialize + Send + 'static,
    F: Fn(I, Context) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<O, HandlerError>> + Send + 'static,
{
    fn prepare(&self, input: &Value) -> Result<Box<dyn Prepared>, InvalidArguments> {
        match I::deserialize(input) {
            Ok(input) => Ok(Box::new(Decoded {
                input,
                handler: Arc::clone(&self.handler),
                output: PhantomData::<fn() -> O>,
            })),
            // Decoded a second time to learn where; the good path need not know.
            Err(_) => Err(InvalidArguments::new([misfit::<I>(input)])),
        }
    }
}

impl<I, O, F, Fut> Prepared for Decoded<I, O, F>
where
    I: Send + 'static,
    O: Serialize + Send + 'static,
    F: Fn(I, Context) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<O, HandlerError>> + Send + 'static,
{
    fn run(
        self: Box<Self>,
        cx: Context,
    ) -> BoxFuture<'static, Result<Box<dyn Finished>, HandlerError>> {
        Box::pin(async move {
            let Self { input, handler, .. } = *self;
            let output = handler(input, cx).await?;
            Ok(Box::new(Output(output)) as Box<dyn Finished>)
        })
    }
}

impl<O: Serialize + Send> Finished for Output<O> {
    fn encode(self: Box<Self>) -> Result<Produced, Box<dyn Error + Send + Sync>> {
        Ok(Produced::value(serde_json::to_value(self.0)?))
    }
}

/// Where the input does not fit the type. The decoder's own text is not used: it quotes values.
fn misfit<I: DeserializeOwned>(input: &Value) -> Issue {
    let path = match serde_path_to_error::deserialize::<_, I>(input) {
        Ok(_) => String::new(),
        Err(error) => pointer(error.path()),
    };
    Issue::Constraint {
        path,
        rule: "expected a value that the tool's input type can hold".to_owned(),
    }
}

fn pointer(path: &serde_path_to_error::Path) -> String {
    use serde_path_to_error::Segment;
    let mut pointer = String::new();
    for segment in path.iter() {
        match segment {
            Segment::Seq { index } => pointer.push_str(&format!("/{index}")),
            Segment::Map { key } => {
                pointer.push('/');
                pointer.push_str(&key.replace('~', "~0").replace('/', "~1"));
            }
            Segment::Enum { .. } | Segment::Unknown => {}
        }
    }
    pointer
}
