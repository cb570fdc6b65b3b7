//! Running a typed handler between two codecs.

use std::any::Any;
use std::error::Error;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll, ready};

use pin_project_lite::pin_project;
use serde_json::Value;

use crate::executor::NO_OUTPUT;
use crate::serde_codec::is_serde;
use crate::{
    Context, Decoder, Encoder, Executor, HandlerError, InvalidArguments, Output, PreliminaryError,
    Prepared, Produced, Running, Spoken,
};

/// A handler with the codecs of its input and output.
pub(crate) struct Coded<I, O, D, E, F> {
    decoder: Arc<D>,
    encoder: Arc<E>,
    handler: F,
    types: PhantomData<fn(I) -> O>,
}

impl<I, O, D, E, F> Coded<I, O, D, E, F> {
    pub(crate) fn new(decoder: Arc<D>, encoder: Arc<E>, handler: F) -> Self {
        Self {
            decoder,
            encoder,
            handler,
            types: PhantomData,
        }
    }
}

pin_project! {
    /// One call of the handler, in one place from its input to its output.
    struct Slot<'a, I, O, E, F, Fut> {
        encoder: &'a E,
        handler: &'a F,
        #[pin]
        step: Step<I, Fut, O>,
    }
}

pin_project! {
    #[project = Here]
    #[project_replace = Left]
    enum Step<I, Fut, O> {
        Decoded { input: I },
        Running {
            #[pin]
            future: Fut,
        },
        Done { output: O },
        Over,
    }
}

impl<I, O, D, E, F, Fut> Coded<I, O, D, E, F>
where
    I: Send + 'static,
    O: Send + 'static,
    E: Encoder<O> + 'static,
    F: Fn(I, Context) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<O, HandlerError>> + Send + 'static,
{
    fn ready(&self, input: I) -> Box<dyn Prepared + '_> {
        Box::new(Slot {
            encoder: &*self.encoder,
            handler: &self.handler,
            step: Step::<I, Fut, O>::Decoded { input },
        })
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
    fn prepare(&self, input: &Value) -> Result<Box<dyn Prepared + '_>, InvalidArguments> {
        self.decoder.decode(input).map(|input| self.ready(input))
    }

    fn prepare_spoken(
        &self,
        input: &Spoken<'_>,
    ) -> Result<Box<dyn Prepared + '_>, InvalidArguments> {
        let input = self.decoder.decode_spoken(input)?;
        Ok(self.ready(input))
    }

    fn encode_preliminary(&self, output: &dyn Any) -> Option<Result<Output, PreliminaryError>> {
        match output.downcast_ref::<O>() {
            Some(output) => {
                let encoded = self.encoder.encode_output(output);
                Some(encoded.map_err(PreliminaryError::Encode))
            }
            // Of whatever serde encodes, the schema says whether it fits.
            None if is_serde::<E>() => None,
            None => Some(Err(PreliminaryError::Type)),
        }
    }
}

impl<I, O, E, F, Fut> Prepared for Slot<'_, I, O, E, F, Fut>
where
    I: Send + 'static,
    O: Send + 'static,
    E: Encoder<O>,
    F: Fn(I, Context) -> Fut + Send + Sync,
    Fut: Future<Output = Result<O, HandlerError>> + Send + 'static,
{
    fn run<'a>(self: Box<Self>, cx: Context) -> Pin<Box<dyn Running + 'a>>
    where
        Self: 'a,
    {
        let mut slot = Box::into_pin(self);
        let this = slot.as_mut().project();
        let mut step = this.step;
        if let Left::Decoded { input } = step.as_mut().project_replace(Step::Over) {
            let future = (this.handler)(input, cx);
            step.set(Step::Running { future });
        }
        slot
    }
}

impl<I, O, E, F, Fut> Future for Slot<'_, I, O, E, F, Fut>
where
    Fut: Future<Output = Result<O, HandlerError>>,
{
    type Output = Result<(), HandlerError>;

    fn poll(self: Pin<&mut Self>, cx: &mut TaskContext<'_>) -> Poll<Self::Output> {
        let mut step = self.project().step;
        let ended = match step.as_mut().project() {
            Here::Running { future } => ready!(future.poll(cx)),
            _ => Err(HandlerError::defect("the handler does not run")),
        };
        Poll::Ready(match ended {
            Ok(output) => {
                step.set(Step::Done { output });
                Ok(())
            }
            Err(error) => {
                step.set(Step::Over);
                Err(error)
            }
        })
    }
}

impl<I, O, E, F, Fut> Running for Slot<'_, I, O, E, F, Fut>
where
    I: Send,
    O: Send,
    E: Encoder<O>,
    F: Send + Sync,
    Fut: Future<Output = Result<O, HandlerError>> + Send,
{
    fn encode(self: Pin<&mut Self>) -> Result<Produced, Box<dyn Error + Send + Sync>> {
        let this = self.project();
        match this.step.project_replace(Step::Over) {
            Left::Done { output } => Ok(this.encoder.encode_output(&output)?.into()),
            _ => Err(NO_OUTPUT.into()),
        }
    }
}
