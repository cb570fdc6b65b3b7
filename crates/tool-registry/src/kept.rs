//! The artifacts of one call, as its handler reaches them: told as events.

use tool_core::{
    Artifact, ArtifactDraft, ArtifactError, ArtifactErrorKind, ArtifactMeta, ArtifactPage,
    ArtifactQuery, ArtifactStore, BoxFuture, ByteStream, EventKind, Facts, Kept, NoArtifacts,
    Payload, StreamingArtifacts,
};

use crate::host::Host;

impl Host {
    /// Where the artifacts of this call are, or the absence of them.
    pub(crate) fn store(&self) -> &dyn ArtifactStore {
        self.kept_in().unwrap_or(&NoArtifacts)
    }

    fn refused(&self, verb: &'static str, reason: Option<ArtifactErrorKind>) {
        self.tell_met(EventKind::ArtifactRefused { verb, reason });
    }

    fn kept(
        &self,
        verb: &'static str,
        kept: Result<Kept, ArtifactError>,
    ) -> Result<Kept, ArtifactError> {
        tell_put(verb, &kept, |kind| match kind {
            // The artifacts of other calls, which are gone whatever became of this one.
            EventKind::ArtifactSwept(_) if self.state.is_settled() => self.tell_beside(kind),
            kind => self.tell_met(kind),
        });
        kept
    }

    fn read<T>(
        &self,
        verb: &'static str,
        found: Result<Option<T>, ArtifactError>,
        kind: impl FnOnce(&T) -> &tool_core::ArtifactKind,
    ) -> Result<Option<T>, ArtifactError> {
        match &found {
            Ok(Some(artifact)) => {
                let kind = kind(artifact);
                self.tell_met(EventKind::ArtifactRead { verb, kind });
            }
            Ok(None) => self.refused(verb, None),
            Err(error) => self.refused(verb, Some(error.kind())),
        }
        found
    }

    fn done<T>(
        &self,
        verb: &'static str,
        done: Result<T, ArtifactError>,
    ) -> Result<T, ArtifactError> {
        done.inspect_err(|error| self.refused(verb, Some(error.kind())))
    }
}

/// Tells what a put came to.
pub(crate) fn tell_put(
    verb: &'static str,
    put: &Result<Kept, ArtifactError>,
    mut tell: impl FnMut(EventKind<'_>),
) {
    match put {
        Ok(kept) => {
            // What left did so before what came is seen.
            for swept in &kept.swept {
                tell(EventKind::ArtifactSwept(swept));
            }
            tell(EventKind::ArtifactKept(&kept.meta));
        }
        Err(error) => {
            let reason = Some(error.kind());
            tell(EventKind::ArtifactRefused { verb, reason });
        }
    }
}

impl ArtifactStore for Host {
    fn get<'a>(
        &'a self,
        facts: &'a Facts,
        reference: &'a str,
    ) -> BoxFuture<'a, Result<Option<Artifact>, ArtifactError>> {
        Box::pin(async move {
            let found = self.store().get(facts, reference).await;
            self.read("get", found, |artifact| &artifact.kind)
        })
    }

    fn head<'a>(
        &'a self,
        facts: &'a Facts,
        reference: &'a str,
    ) -> BoxFuture<'a, Result<Option<ArtifactMeta>, ArtifactError>> {
        Box::pin(async move {
            let found = self.store().head(facts, reference).await;
            self.read("head", found, |meta| &meta.kind)
        })
    }

    fn put<'a>(
        &'a self,
        facts: &'a Facts,
        draft: ArtifactDraft,
        payload: Payload,
    ) -> BoxFuture<'a, Result<Kept, ArtifactError>> {
        Box::pin(async move { self.kept("put", self.store().put(facts, draft, payload).await) })
    }

    fn delete<'a>(
        &'a self,
        facts: &'a Facts,
        reference: &'a str,
    ) -> BoxFuture<'a, Result<(), ArtifactError>> {
        Box::pin(async move { self.done("delete", self.store().delete(facts, reference).await) })
    }

    fn forget(&self, facts: &Facts, reference: &str) {
        self.store().forget(facts, reference);
    }

    fn list<'a>(
        &'a self,
        facts: &'a Facts,
        query: ArtifactQuery,
    ) -> BoxFuture<'a, Result<ArtifactPage, ArtifactError>> {
        Box::pin(async move { self.done("list", self.store().list(facts, query).await) })
    }

    fn streams(&self) -> Option<&dyn StreamingArtifacts> {
        self.store()
            .streams()
            .map(|_| self as &dyn StreamingArtifacts)
    }
}

impl StreamingArtifacts for Host {
    fn put_stream<'a>(
        &'a self,
        facts: &'a Facts,
        draft: ArtifactDraft,
        bytes: u64,
        stream: ByteStream<'a>,
    ) -> BoxFuture<'a, Result<Kept, ArtifactError>> {
        Box::pin(async move {
            let Some(streams) = self.store().streams() else {
                return self.kept("put_stream", Err(no_streams()));
            };
            let kept = streams.put_stream(facts, draft, bytes, stream).await;
            self.kept("put_stream", kept)
        })
    }

    fn get_stream<'a>(
        &'a self,
        facts: &'a Facts,
        reference: &'a str,
    ) -> BoxFuture<'a, Result<Option<(ArtifactMeta, ByteStream<'static>)>, ArtifactError>> {
        Box::pin(async move {
            let Some(streams) = self.store().streams() else {
                return self.done("get_stream", Err(no_streams()));
            };
            let found = streams.get_stream(facts, reference).await;
            self.read("get_stream", found, |(meta, _)| &meta.kind)
        })
    }
}

fn no_streams() -> ArtifactError {
    let detail = "artifact store takes and gives no streams";
    ArtifactError::of(ArtifactErrorKind::Unsupported, detail)
}
