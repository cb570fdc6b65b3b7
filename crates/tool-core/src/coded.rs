//! Running a typed handler between two codecs.

use std::error::Error;
use std::marker::PhantomData;
use std::sync::Arc;

use serde_json::Value;

use crate::{
    BoxFuture, Context, Decoder, Encoder, Executor, Finished, HandlerError, InvalidArguments,
    Prepared, Produced,
};

/// A handler with the codecs of its input and output.
pub(crate) struct Coded<I, O, D, E, F> {
    decoder: D,
    shared: Arc<Shared<E, F>>,
    types: PhantomData<fn(I) -> O>,
}

struct Shared<E, F> {
    encoder: E,
    handler: F,
}

struct Decoded<I, O, E, F> {
    input: I,
    shared: Arc<Shared<E, F>>,
    output: PhantomData<fn() -> O>,
}

struct Output<O, E, F> {
    output: O,
    shared: Arc<Shared<E, F>>,
}

impl<I, O, D, E, F> Coded<I, O, D, E, F> {
    pub(crate) fn new(decoder: D, encoder: E, handler: F) -> Self {
        let shared = Arc::new(Shared { encoder, handler });
        Self {
            decoder,
            shared,
            types: PhantomData,
        }
    }
}

impl<I, O, D, E, F, Fut> Executor for Coded<I, O, D, E, F>
where
    I: Send + 'static,
    O: Send + 'static,
    D: Decoder<I>,
    E: Encoder<O> + 'static,
    F: Fn(I, Context) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<O, HandlerError>> + Send + 'static,
{
    fn prepare(&self, input: &Value) -> Result<Box<dyn Prepared>, InvalidArguments> {
        let input = self.decoder.decode(input)?;
        let shared = Arc::clone(&self.shared);
        Ok(Box::new(Decoded {
            input,
            shared,
            output: PhantomData::<fn() -> O>,
        }))
    }
}

impl<I, O, E, F, Fut> Prepared for Decoded<I, O, E, F>
where
    I: Send + 'static,
    O: Send + 'static,
    E: Encoder<O> + 'static,
    F: Fn(I, Context) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<O, HandlerError>> + Send + 'static,
{
    fn run(
        self: Box<Self>,
        cx: Context,
    ) -> BoxFuture<'static, Result<Box<dyn Finished>, HandlerError>> {
        Box::pin(async move {
            let Self { input, shared, .. } = *self;
            let output = (shared.handler)(input, cx).await?;
            Ok(Box::new(Output { output, shared }) as Box<dyn Finished>)
        })
    }
}

impl<O, E, F> Finished for Output<O, E, F>
where
    O: Send,
    E: Encoder<O>,
    F: Send + Sync,
{
    fn encode(self: Box<Self>) -> Result<Produced, Box<dyn Error + Send + Sync>> {
        let Self { output, shared } = *self;
        Ok(Produced::value(shared.encoder.encode(output)?))
    }
}
