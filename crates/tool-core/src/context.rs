//! What a handler is given beside its input.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use serde::Serialize;

use crate::call_host::Bare;
use crate::contained::contained;
use crate::{
    AgentId, ArtifactKind, Artifacts, BoxFuture, CallHost, CallId, Cancellation, Credential,
    CredentialError, CredentialNeed, Credentials as _, Dispatch, Facts, Identification, Identity,
    Loss, MessageId, NoCredentials, Output, OutputStream, PreliminaryError, Progress, Refusal,
    Registered, RunId, SessionId, Source, Teardown, TeardownError, TeardownScope,
};

/// What a handler is given beside its input: who calls, and the means to report and to stop.
///
/// The facts are exactly those of the host; an absent one is absent. Services are not here: a
/// tool captures its own when it is built. Clones belong to the same call.
#[derive(Clone)]
pub struct Context(Arc<dyn CallHost>);

impl Context {
    /// A context of no call, for trying a handler on its own.
    #[must_use]
    pub fn detached() -> Self {
        Self(Arc::new(Bare::default()))
    }

    /// The context of the call of a host, for who runs handlers.
    #[inline]
    #[must_use]
    pub fn of(host: Arc<dyn CallHost>) -> Self {
        Self(host)
    }

    /// All facts of the caller.
    #[must_use]
    pub fn facts(&self) -> &Facts {
        self.0.facts()
    }

    /// The session, if the host gave one.
    #[must_use]
    pub fn session_id(&self) -> Option<&SessionId> {
        self.facts().session_id()
    }

    /// The agent, if the host gave one.
    #[must_use]
    pub fn agent_id(&self) -> Option<&AgentId> {
        self.facts().agent_id()
    }

    /// The assistant message, if the host gave one.
    #[must_use]
    pub fn message_id(&self) -> Option<&MessageId> {
        self.facts().message_id()
    }

    /// The run, if the host gave one.
    #[must_use]
    pub fn run_id(&self) -> Option<&RunId> {
        self.facts().run_id()
    }

    /// Who the caller says to be, if the host gave it.
    #[must_use]
    pub fn identification(&self) -> Option<&Identification> {
        self.facts().identification()
    }

    /// The id of this call, if it came with one.
    #[must_use]
    pub fn call_id(&self) -> Option<&CallId> {
        self.0.call_id()
    }

    /// The identity of the tool that runs, absent in a [detached](Self::detached) context.
    #[must_use]
    pub fn tool(&self) -> Option<&Identity> {
        self.0.tool()
    }

    /// Who provides the tool that runs.
    #[must_use]
    pub fn source(&self) -> Option<&Source> {
        self.0.source()
    }

    /// The signal that nobody waits any more, for what outlives the handler's future.
    #[must_use]
    pub fn cancellation(&self) -> &Cancellation {
        self.0.state().cancellation()
    }

    /// Reports progress. Never fails and never blocks; where nobody listens, and after the call
    /// has settled, it does nothing.
    pub fn progress(&self, progress: impl Into<Progress>) {
        if let Some(sink) = self.0.progress()
            && !self.0.state().is_settled()
        {
            let progress = progress.into();
            // A listener that panics is no reason for the handler to.
            let _ = contained(|| sink.report(progress));
        }
    }

    /// Reports what this tool itself left out of its output, so that the model is told beside it,
    /// also where the rest is short enough to be shown. The first report counts, and none after
    /// the call has settled.
    pub fn report_loss(&self, loss: Loss) {
        if loss.count() > 0 && !self.0.state().is_settled() {
            self.0.state().note_loss(loss);
        }
    }

    /// Begins the text of this call where it may be long, so that nobody holds the whole.
    ///
    /// ```
    /// use tool_core::{Context, HandlerError, Loss, Streamed};
    ///
    /// async fn print(cx: &Context) -> Result<Streamed, HandlerError> {
    ///     let mut text = cx.stream_output();
    ///     for line in 0..1_000 {
    ///         text.write(&format!("line {line}\n")).await?;
    ///     }
    ///     Ok(text.finish(Some(Loss::of(7, "lines"))).await?)
    /// }
    /// # use futures_util::FutureExt;
    /// # let shown = print(&Context::detached()).now_or_never().unwrap();
    /// # assert!(matches!(shown, Ok(Streamed::Whole(text)) if text.len() == 8_890));
    /// ```
    #[must_use]
    pub fn stream_output(&self) -> OutputStream {
        OutputStream::new(Arc::clone(&self.0))
    }

    /// Hands out a result that comes before the final one, of the tool's own output type.
    ///
    /// It is encoded as the final one is: by the tool's codec. Where that is serde, any value will
    /// do that fits the output schema. Waits while the caller has not consumed as many as it agreed
    /// on. Where nobody takes preliminary results it returns at once.
    ///
    /// # Errors
    /// [`PreliminaryError`] when the value cannot be encoded, is of another type than the tool's own
    /// codec encodes or does not fit the output schema, or when the call has settled.
    ///
    /// # Cancel safety
    /// When the future is dropped the result may or may not have been handed out.
    pub async fn preliminary<T>(&self, value: &T) -> Result<(), PreliminaryError>
    where
        T: Serialize + Sync + 'static,
    {
        let by_serde =
            || Output::encode(value).map_err(|error| PreliminaryError::Encode(error.into()));
        self.offer(value, by_serde).await
    }

    /// The same, for an output that the tool's own codec alone can encode.
    ///
    /// # Errors
    /// As [`preliminary`](Self::preliminary); also where the value is not of the tool's output type.
    ///
    /// # Cancel safety
    /// As [`preliminary`](Self::preliminary).
    pub async fn preliminary_output<O: Sync + 'static>(
        &self,
        output: &O,
    ) -> Result<(), PreliminaryError> {
        self.offer(output, || Err(PreliminaryError::Type)).await
    }

    async fn offer(
        &self,
        value: &(dyn Any + Sync),
        otherwise: impl FnOnce() -> Result<Output, PreliminaryError>,
    ) -> Result<(), PreliminaryError> {
        if self.0.state().is_settled() {
            return Err(PreliminaryError::Settled);
        }
        let Some(sink) = self.0.preliminary() else {
            return Ok(());
        };
        let value = sink.encode(value).unwrap_or_else(otherwise)?;
        sink.offer(value).await
    }

    /// Calls other tools; `None` where the way by which this call came does not allow it.
    ///
    /// An inner call passes every stage of the pipeline, gate and validation included, and ends
    /// when its outer call does. It cannot suspend and it cannot call further tools.
    #[must_use]
    pub fn dispatch(&self) -> Option<&dyn Dispatch> {
        self.0.dispatch()
    }

    /// The scopes after which a cleanup can be run for this call.
    #[must_use]
    pub fn teardown_scopes(&self) -> &[TeardownScope] {
        self.0.teardown().map_or(&[], Teardown::scopes)
    }

    /// Registers a cleanup to be run once after a scope has ended: at most five seconds each, the
    /// one registered last first. Of several that one tool registers under one key in one scope
    /// the first is kept.
    ///
    /// Of a call that ran out of time those begin that can within five seconds; its settlement
    /// waits for no more. Those of a call that is dropped cannot run at that moment, as nothing runs
    /// unless it is awaited. What did not begin runs with the next end of a run or a session, or at
    /// the shutdown. What must go at once when a call is cancelled belongs into a destructor of the
    /// handler.
    ///
    /// ```
    /// use tool_core::{Context, Tool, TeardownScope};
    ///
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Open {
    ///     page: String,
    /// }
    ///
    /// let open = Tool::new("Open a page", |open: Open, cx: Context| async move {
    ///     cx.on_teardown(TeardownScope::Session, "browser", || async {
    ///         // Close the browser that all pages of the session share.
    ///     })?;
    ///     Ok(open.page)
    /// });
    /// # let _ = open;
    /// ```
    ///
    /// # Errors
    /// [`TeardownError`] when the scope is not honoured here, when the call does not say which run
    /// or session it belongs to, or when the call has ended already.
    pub fn on_teardown<F>(
        &self,
        scope: TeardownScope,
        key: &str,
        cleanup: impl FnOnce() -> F + Send + 'static,
    ) -> Result<Registered, TeardownError>
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let Some(teardown) = self.0.teardown() else {
            return Err(TeardownError::NotHonoured {
                scope,
                honoured: Vec::new(),
            });
        };
        teardown.register(
            scope,
            key,
            Box::new(|| Box::pin(cleanup()) as BoxFuture<'static, ()>),
        )
    }

    /// The credential that the tool declared to need; `None` where it declared none.
    #[must_use]
    pub fn credential(&self) -> Option<&Credential> {
        self.0.state().credential()
    }

    /// Acquires a credential that the tool did not declare, for the caller of this call. A tool
    /// that always needs one says so with `needs`, so that it is acquired before the tool runs.
    ///
    /// # Errors
    /// [`CredentialError`] when nobody hands out credentials here, when the provider refuses, or
    /// when the call has settled. Passed on with `?` it makes a defect: the model reads nothing
    /// of it.
    ///
    /// # Cancel safety
    /// Dropping the future abandons the request.
    pub async fn acquire(&self, need: &CredentialNeed) -> Result<Credential, CredentialError> {
        if self.0.state().is_settled() {
            return Err(settled());
        }
        let acquired = match self.0.credentials() {
            Some(credentials) => credentials.acquire(self.facts(), need).await,
            None => NoCredentials.acquire(self.facts(), need).await,
        };
        // It may have settled meanwhile, and a secret is for a call that runs.
        if self.0.state().is_settled() {
            return Err(settled());
        }
        acquired
    }

    /// The artifacts of the caller, to put, get and list. Where nobody keeps any, and for inner
    /// calls, every verb answers with the same error; another one when the call has settled. A
    /// cleanup runs after that: one that removes artifacts captures the store when it is built.
    #[must_use]
    pub fn artifacts(&self) -> Artifacts<'_> {
        let host = &self.0;
        Artifacts::of(host.artifacts(), self.facts())
            .put_by(host.wire_name(), host.call_id())
            .available(host.keeps_artifacts())
            .until_settled(host.state())
    }

    /// The kind of the artifact whose data stands in an argument; `None` where none was redeemed.
    #[must_use]
    pub fn wanted(&self, argument: &str) -> Option<&ArtifactKind> {
        self.0.state().wanted(argument)
    }

    pub(crate) fn host(&self) -> &dyn CallHost {
        &*self.0
    }

    pub(crate) fn note_assertion(&self) {
        self.0.state().note_assertion();
    }

    pub(crate) fn note_refusal(&self, refusal: Refusal) {
        self.0.state().note_refusal(refusal);
    }
}

fn settled() -> CredentialError {
    CredentialError::new("the call has settled already")
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context")
            .field("facts", self.facts())
            .field("call", &self.call_id())
            .field("tool", &self.tool())
            .finish_non_exhaustive()
    }
}
