//! Tools whose schemas are known at run time only.

use std::sync::Arc;

use serde_json::Value;

use crate::{
    BoxFuture, Context, Executor, Finished, HandlerError, InvalidArguments, Prepared, Produced,
};

pub(crate) struct Dynamic<F>(Arc<F>);

struct Taken<F> {
    input: Value,
    handler: Arc<F>,
}

impl<F> Dynamic<F> {
    pub(crate) fn new(handler: F) -> Self {
        Self(Arc::new(handler))
    }
}

impl<F, Fut, P> Executor for Dynamic<F>
where
    F: Fn(Value, Context) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<P, HandlerError>> + Send + 'static,
    P: Into<Produced>,
{
    fn prepare(&self, input: &Value) -> Result<Box<dyn Prepared>, InvalidArguments> {
        Ok(Box::new(Taken {
            input: input.clone(),
            handler: Arc::clone(&self.0),
        }))
    }
}

impl<F, Fut, P> Prepared for Taken<F>
where
    F: Fn(Value, Context) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<P, HandlerError>> + Send + 'static,
    P: Into<Produced>,
{
    fn run(
        self: Box<Self>,
        cx: Context,
    ) -> BoxFuture<'static, Result<Box<dyn Finished>, HandlerError>> {
        Box::pin(async move {
            let Self { input, handler } = *self;
            let produced: Produced = handler(input, cx).await?.into();
            Ok(Box::new(produced) as Box<dyn Finished>)
        })
    }
}

/// The executor of a tool that runs nothing here. The pipeline ends such calls before it.
pub(crate) struct Nothing;

impl Executor for Nothing {
    fn prepare(&self, _input: &Value) -> Result<Box<dyn Prepared>, InvalidArguments> {
        Ok(Box::new(Self))
    }
}

impl Prepared for Nothing {
    fn run(
        self: Box<Self>,
        _cx: Context,
    ) -> BoxFuture<'static, Result<Box<dyn Finished>, HandlerError>> {
        Box::pin(async { Err(HandlerError::defect("this tool runs nothing here")) })
    }
}
