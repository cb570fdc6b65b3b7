//! Tools whose schemas are known at run time only.

use std::pin::Pin;

use serde_json::Value;

use crate::{
    Context, Executor, HandlerError, InvalidArguments, Prepared, Produced, Running, producing,
};

pub(crate) struct Dynamic<F>(F);

struct Taken<'a, F> {
    input: Value,
    handler: &'a F,
}

impl<F> Dynamic<F> {
    pub(crate) fn new(handler: F) -> Self {
        Self(handler)
    }
}

impl<F, Fut, P> Executor for Dynamic<F>
where
    F: Fn(Value, Context) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<P, HandlerError>> + Send + 'static,
    P: Into<Produced>,
{
    fn prepare(&self, input: &Value) -> Result<Box<dyn Prepared + '_>, InvalidArguments> {
        Ok(Box::new(Taken {
            input: input.clone(),
            handler: &self.0,
        }))
    }
}

impl<F, Fut, P> Prepared for Taken<'_, F>
where
    F: Fn(Value, Context) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<P, HandlerError>> + Send + 'static,
    P: Into<Produced>,
{
    fn run<'a>(self: Box<Self>, cx: Context) -> Pin<Box<dyn Running + 'a>>
    where
        Self: 'a,
    {
        let Self { input, handler } = *self;
        producing(async move { Ok(handler(input, cx).await?.into()) })
    }
}

/// The executor of a tool that runs nothing here. The pipeline ends such calls before it.
pub(crate) struct Nothing;

impl Executor for Nothing {
    fn prepare(&self, _input: &Value) -> Result<Box<dyn Prepared + '_>, InvalidArguments> {
        Ok(Box::new(Self))
    }
}

impl Prepared for Nothing {
    fn run<'a>(self: Box<Self>, _cx: Context) -> Pin<Box<dyn Running + 'a>>
    where
        Self: 'a,
    {
        producing(async { Err(HandlerError::defect("this tool runs nothing here")) })
    }
}
