//! The artifacts of one caller.

use std::fmt;

use crate::{
    Artifact, ArtifactDraft, ArtifactError, ArtifactMeta, ArtifactOrigin, ArtifactPage,
    ArtifactQuery, ArtifactStore, ByteStream, CallId, CallState, Facts, Kept, NoArtifacts, Payload,
    StreamingArtifacts,
};

/// The artifacts of one caller: the scope is closed over, and no verb takes another.
///
/// A handler has it from [`Context::artifacts`](crate::Context::artifacts). What it puts is
/// stamped with its call; an origin of its own making is discarded. Where there is no store, every
/// verb answers with the same error, [`NoStore`](crate::ArtifactErrorKind::NoStore). After its call
/// has settled, and in the cleanups of it, every verb is refused as
/// [`Settled`](crate::ArtifactErrorKind::Settled). So is what was under way at that moment: what was
/// being put is taken back, what was being read is not given out, and what was being removed may be
/// gone.
#[derive(Clone, Copy)]
pub struct Artifacts<'a> {
    store: Option<&'a dyn ArtifactStore>,
    facts: &'a Facts,
    origin: Origin<'a>,
    available: bool,
    /// The call on whose behalf they are, where it may settle.
    state: Option<&'a CallState>,
}

/// What is stamped on artifacts, cloned when one is put.
type Origin<'a> = (Option<&'a str>, Option<&'a CallId>);

impl<'a> Artifacts<'a> {
    /// The artifacts of a caller in a store, if there is one.
    #[must_use]
    pub fn of(store: Option<&'a dyn ArtifactStore>, facts: &'a Facts) -> Self {
        Self {
            store,
            facts,
            origin: (None, None),
            available: store.is_some(),
            state: None,
        }
    }

    /// Says which tool and which call puts them.
    #[must_use]
    pub fn put_by(mut self, tool: Option<&'a str>, call: Option<&'a CallId>) -> Self {
        self.origin = (tool, call);
        self
    }

    /// Says whether there is a store behind who answers.
    #[must_use]
    pub fn available(mut self, available: bool) -> Self {
        self.available = available;
        self
    }

    /// Ends them with a call.
    pub(crate) fn until_settled(mut self, state: &'a CallState) -> Self {
        self.state = Some(state);
        self
    }

    /// Whether there is a store.
    #[must_use]
    pub fn is_available(&self) -> bool {
        self.available
    }

    /// Keeps a payload and mints its reference. See [`ArtifactStore::put`].
    ///
    /// # Errors
    /// [`ArtifactError`]. Passed on with `?` it makes a defect: the model reads nothing of it.
    ///
    /// # Cancel safety
    /// When the future is dropped the artifact is whole or not there.
    pub async fn put(
        &self,
        draft: ArtifactDraft,
        payload: impl Into<Payload>,
    ) -> Result<Kept, ArtifactError> {
        let draft = draft.origin(self.stamp());
        let kept = self.store()?.put(self.facts, draft, payload.into()).await;
        self.unless_settled(kept?)
    }

    /// Keeps the bytes of a stream, where the store does so piece by piece. See
    /// [`StreamingArtifacts::put_stream`].
    ///
    /// # Errors
    /// [`ArtifactErrorKind::Unsupported`](crate::ArtifactErrorKind::Unsupported) where the store
    /// would have to hold the whole; else [`ArtifactError`].
    ///
    /// # Cancel safety
    /// When the future is dropped the artifact is whole or not there.
    pub async fn put_stream(
        &self,
        draft: ArtifactDraft,
        bytes: u64,
        stream: ByteStream<'_>,
    ) -> Result<Kept, ArtifactError> {
        let draft = draft.origin(self.stamp());
        let streams = self.streams()?;
        let kept = streams.put_stream(self.facts, draft, bytes, stream).await;
        self.unless_settled(kept?)
    }

    /// What is known of an artifact; `None` where it is missing, expired or another caller's.
    ///
    /// # Errors
    /// [`ArtifactError`] when the store cannot tell.
    ///
    /// # Cancel safety
    /// Dropping the future changes nothing.
    pub async fn head(&self, reference: &str) -> Result<Option<ArtifactMeta>, ArtifactError> {
        let read = self.store()?.head(self.facts, reference).await;
        self.in_time(read)
    }

    /// Gets an artifact; `None` where it is missing, expired or another caller's.
    ///
    /// # Errors
    /// [`ArtifactError`] when the store cannot tell, or when the bytes are damaged.
    ///
    /// # Cancel safety
    /// Dropping the future changes nothing.
    pub async fn get(&self, reference: &str) -> Result<Option<Artifact>, ArtifactError> {
        let read = self.store()?.get(self.facts, reference).await;
        self.in_time(read)
    }

    /// Gets an artifact in pieces, where the store has them in pieces.
    ///
    /// # Errors
    /// [`ArtifactErrorKind::Unsupported`](crate::ArtifactErrorKind::Unsupported) where the store
    /// would have to hold the whole; else [`ArtifactError`].
    ///
    /// # Cancel safety
    /// Dropping the future or the stream changes nothing.
    pub async fn get_stream(
        &self,
        reference: &str,
    ) -> Result<Option<(ArtifactMeta, ByteStream<'static>)>, ArtifactError> {
        let streams = self.streams()?;
        let read = streams.get_stream(self.facts, reference).await;
        self.in_time(read)
    }

    /// Removes an artifact. One that is not there is agreed to.
    ///
    /// # Errors
    /// [`ArtifactError`] when the store cannot be written.
    ///
    /// # Cancel safety
    /// When the future is dropped the artifact may or may not be gone.
    pub async fn delete(&self, reference: &str) -> Result<(), ArtifactError> {
        let deleted = self.store()?.delete(self.facts, reference).await;
        self.in_time(deleted)
    }

    /// Lists artifacts, the newest first.
    ///
    /// # Errors
    /// [`ArtifactError`] when the store cannot tell, or for a cursor that is none.
    ///
    /// # Cancel safety
    /// Dropping the future changes nothing.
    pub async fn list(&self, query: ArtifactQuery) -> Result<ArtifactPage, ArtifactError> {
        let read = self.store()?.list(self.facts, query).await;
        self.in_time(read)
    }

    fn store(&self) -> Result<&'a dyn ArtifactStore, ArtifactError> {
        if self.is_settled() {
            return Err(ArtifactError::settled());
        }
        Ok(self.store.unwrap_or(&NoArtifacts))
    }

    /// What was put, unless the call has settled meanwhile: nobody shall learn of it then.
    fn unless_settled(&self, kept: Kept) -> Result<Kept, ArtifactError> {
        if !self.is_settled() {
            return Ok(kept);
        }
        if let Some(store) = self.store {
            store.forget(self.facts, kept.meta.reference.as_str());
        }
        Err(ArtifactError::settled())
    }

    /// What came of something, unless the call has settled meanwhile: nobody is told of it then.
    fn in_time<T>(&self, done: Result<T, ArtifactError>) -> Result<T, ArtifactError> {
        if self.is_settled() {
            return Err(ArtifactError::settled());
        }
        done
    }

    fn is_settled(&self) -> bool {
        self.state.is_some_and(CallState::is_settled)
    }

    fn streams(&self) -> Result<&'a dyn StreamingArtifacts, ArtifactError> {
        let streams = self.store()?.streams();
        streams.ok_or_else(|| {
            ArtifactError::of(
                crate::ArtifactErrorKind::Unsupported,
                "artifact store takes and gives no streams",
            )
        })
    }

    fn stamp(&self) -> ArtifactOrigin {
        let (tool, call) = self.origin;
        ArtifactOrigin {
            tool: tool.map(str::to_owned),
            call: call.cloned(),
            run: self.facts.run_id().cloned(),
        }
    }
}

impl fmt::Debug for Artifacts<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Artifacts")
            .field("is_available", &self.is_available())
            .finish_non_exhaustive()
    }
}
