//! An artifact on its way into a bucket.

use tool_core::{
    ArtifactDraft, ArtifactError, ArtifactErrorKind, ArtifactMeta, ArtifactRef, ArtifactScope,
    ArtifactStore as _, ByteStream, Facts, Kept,
};

use crate::artifact_draft::{check, mint};
use crate::artifact_intake::{Intake, take_in};
use crate::artifact_record::{ArtifactRecord, Shape};
use crate::bucket::Cause;
use crate::bucket::artifacts::BucketArtifacts;
use crate::bucket::room::{Room, object};
use crate::bucket::upload::Upload;
use crate::clock::{micros, time};
use crate::gauge::Hash;
use crate::shelf::Row;

impl BucketArtifacts {
    pub(crate) async fn keep(
        &self,
        facts: &Facts,
        draft: ArtifactDraft,
        (shape, media_type): (Shape, &str),
        bytes: u64,
        stream: ByteStream<'_>,
    ) -> Result<Kept, ArtifactError> {
        check(&draft, bytes, &self.limits, self.clock.now_us())?;
        self.bucket.settle().await;
        let scope = ArtifactScope::of(facts);
        let reference = mint()?;
        let name = object(&scope, &reference);
        let hash = Hash::digest_if(draft.digest);
        let mut upload = Upload::new(&self.bucket, name, &self.clock, hash);
        take_in(stream, bytes, &mut (self, &mut upload)).await?;

        let failed = |cause| self.failed("could not be changed", cause);
        let room = self.room(&scope);
        let mut room = room.lock().await;
        room.know(&self.bucket).await.map_err(failed)?;
        let now_us = self.clock.now_us();
        let plan = |room: &Room| room.shelf.plan(bytes, &draft.parents, &self.limits, now_us);
        let mut swept = plan(&room);
        if !swept.as_ref().is_ok_and(Vec::is_empty) {
            // Others may have put a parent, or made room.
            room.follow(&self.bucket).await.map_err(failed)?;
            swept = plan(&room);
        }
        let swept = swept?;
        let digest = upload.gauge().hash();
        let end = self.limits.end(now_us, draft.expires.map(micros));
        let created = time(room.shelf.next_created_us(now_us));
        let mut meta = ArtifactMeta::of_draft(draft, reference, media_type, bytes, created);
        meta.digest = digest;
        meta.expires = end.map(time);
        let record = ArtifactRecord::new(&meta, &scope, shape).encode();
        let record = record.map_err(|cause| {
            let detail = "the record of an artifact cannot be written";
            ArtifactError::of(ArtifactErrorKind::Io, detail).because(cause)
        })?;
        let finished = upload.finish(&record).await;
        finished.map_err(|cause| self.failed("could not show an artifact", cause))?;
        let unsaid = Unsaid {
            artifacts: self,
            facts,
            reference: Some(meta.reference.clone()),
        };
        room.shelf.insert(Row {
            meta: meta.clone(),
            used_us: micros(created),
            body: (),
        });
        let mut left = Vec::new();
        for gone in swept {
            match room.remove(&self.bucket, &gone.reference).await {
                Ok(()) => left.push(gone),
                Err(error) => {
                    let error = Cause(error);
                    tracing::warn!(%error, "could not remove an artifact");
                }
            }
        }
        unsaid.said();
        Ok(Kept::new(meta, left))
    }
}

/// An artifact that is shown and was not reported yet. Dropped, it is taken back.
struct Unsaid<'a> {
    artifacts: &'a BucketArtifacts,
    facts: &'a Facts,
    reference: Option<ArtifactRef>,
}

impl Unsaid<'_> {
    fn said(mut self) {
        self.reference = None;
    }
}

impl Drop for Unsaid<'_> {
    fn drop(&mut self) {
        if let Some(reference) = &self.reference {
            self.artifacts.forget(self.facts, reference.as_str());
        }
    }
}

impl Intake for (&BucketArtifacts, &mut Upload) {
    fn bytes(&self) -> u64 {
        self.1.bytes()
    }

    async fn write(&mut self, piece: &[u8]) -> Result<(), ArtifactError> {
        let (artifacts, upload) = self;
        let written = upload.write(piece).await;
        written.map_err(|cause| artifacts.failed("could not write an artifact", cause))
    }
}
