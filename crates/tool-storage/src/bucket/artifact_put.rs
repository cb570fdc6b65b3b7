//! An artifact on its way into a bucket.

use std::future::poll_fn;

use tool_core::{
    ArtifactDraft, ArtifactError, ArtifactErrorKind, ArtifactMeta, ArtifactScope, ByteStream,
    Facts, Kept,
};

use crate::artifact_draft::{check, invalid, mint};
use crate::artifact_record::{ArtifactRecord, Shape};
use crate::bucket::Cause;
use crate::bucket::artifacts::BucketArtifacts;
use crate::bucket::room::{Room, object};
use crate::bucket::upload::Upload;
use crate::clock::{micros, time};
use crate::shelf::Row;
use crate::staged::pause;

impl BucketArtifacts {
    pub(crate) async fn keep(
        &self,
        facts: &Facts,
        draft: ArtifactDraft,
        (shape, media_type): (Shape, &str),
        bytes: u64,
        mut stream: ByteStream<'_>,
    ) -> Result<Kept, ArtifactError> {
        check(&draft, bytes, &self.limits, self.clock.now_us())?;
        self.bucket.settle().await;
        let scope = ArtifactScope::of(facts);
        let reference = mint()?;
        let mut upload = Upload::new(&self.bucket, object(&scope, &reference), &self.clock);
        while let Some(piece) = poll_fn(|cx| stream.as_mut().poll_next(cx)).await {
            let piece = piece.map_err(|cause| {
                let detail = "the stream of an artifact failed";
                ArtifactError::of(ArtifactErrorKind::Io, detail).because(cause)
            })?;
            if piece.is_empty() {
                // A stream that has nothing over and over shall not keep the executor.
                pause().await;
            }
            if upload.bytes().saturating_add(piece.len() as u64) > bytes {
                return Err(invalid("a stream has more bytes than were declared"));
            }
            let written = upload.write(&piece).await;
            written.map_err(|cause| self.failed("could not write an artifact", cause))?;
        }
        if upload.bytes() < bytes {
            return Err(invalid("a stream has fewer bytes than were declared"));
        }

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
        let digest = draft.digest.then(|| upload.measure().digest.to_string());
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
        Ok(Kept::new(meta, left))
    }
}
