//! The absence of an artifact store.

use crate::{
    Artifact, ArtifactDraft, ArtifactError, ArtifactErrorKind, ArtifactMeta, ArtifactPage,
    ArtifactQuery, ArtifactStore, BoxFuture, ByteStream, Facts, Kept, Payload, StreamingArtifacts,
};

/// The absence of an artifact store: every verb answers alike.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "it holds nothing and never will")]
pub struct NoArtifacts;

impl ArtifactStore for NoArtifacts {
    fn get<'a>(
        &'a self,
        _facts: &'a Facts,
        _reference: &'a str,
    ) -> BoxFuture<'a, Result<Option<Artifact>, ArtifactError>> {
        no_store()
    }

    fn put<'a>(
        &'a self,
        _facts: &'a Facts,
        _draft: ArtifactDraft,
        _payload: Payload,
    ) -> BoxFuture<'a, Result<Kept, ArtifactError>> {
        no_store()
    }

    fn delete<'a>(
        &'a self,
        _facts: &'a Facts,
        _reference: &'a str,
    ) -> BoxFuture<'a, Result<(), ArtifactError>> {
        no_store()
    }

    fn list<'a>(
        &'a self,
        _facts: &'a Facts,
        _query: ArtifactQuery,
    ) -> BoxFuture<'a, Result<ArtifactPage, ArtifactError>> {
        no_store()
    }

    fn streams(&self) -> Option<&dyn StreamingArtifacts> {
        Some(self)
    }
}

impl StreamingArtifacts for NoArtifacts {
    fn put_stream<'a>(
        &'a self,
        _facts: &'a Facts,
        _draft: ArtifactDraft,
        _bytes: u64,
        _stream: ByteStream<'a>,
    ) -> BoxFuture<'a, Result<Kept, ArtifactError>> {
        no_store()
    }

    fn get_stream<'a>(
        &'a self,
        _facts: &'a Facts,
        _reference: &'a str,
    ) -> BoxFuture<'a, Result<Option<(ArtifactMeta, ByteStream<'static>)>, ArtifactError>> {
        no_store()
    }
}

fn no_store<'a, T>() -> BoxFuture<'a, Result<T, ArtifactError>> {
    Box::pin(async {
        Err(ArtifactError::of(
            ArtifactErrorKind::NoStore,
            "no artifact store is configured; give the registry one",
        ))
    })
}
