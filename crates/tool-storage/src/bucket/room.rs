//! The artifacts of one scope in a bucket.

use std::collections::HashSet;

use futures_util::StreamExt as _;
use tool_core::{ArtifactMeta, ArtifactRef, ArtifactScope};

use crate::artifact_record::{ArtifactRecord, Shape, file_name};
use crate::bucket::tail::Tail;
use crate::bucket::{Bucket, Listed};
use crate::clock::micros;
use crate::footer::RecordError;
use crate::shelf::{Row, Shelf};

/// What is known of the artifacts of one scope. The bucket is the truth; this follows it.
pub(crate) struct Room {
    pub(crate) shelf: Shelf<()>,
    /// Objects with the name of an artifact that do not read, and when they were put.
    pub(crate) damaged: Vec<(String, u64)>,
    scope: ArtifactScope,
    is_read: bool,
    /// The place of the newest artifact when the bucket was read last.
    read_to: Option<(u64, ArtifactRef)>,
}

impl Room {
    pub(crate) fn new(scope: ArtifactScope) -> Self {
        Self {
            shelf: Shelf::default(),
            damaged: Vec::new(),
            scope,
            is_read: false,
            read_to: None,
        }
    }

    /// Whether all is known that follows on a page that ended here. Another gateway may have ended it,
    /// or this one have put what it ended with and not seen what others had put before.
    pub(crate) fn knows_what_follows(&self, cursor: &str) -> bool {
        let place = self.shelf.place_of(cursor);
        place.is_some_and(|place| Some(place) <= self.read_to)
    }

    /// Reads what there is, if that was never done.
    pub(crate) async fn know(&mut self, bucket: &Bucket) -> Result<(), object_store::Error> {
        match self.is_read {
            true => Ok(()),
            false => self.follow(bucket).await,
        }
    }

    /// Reads what others have put and removed.
    pub(crate) async fn follow(&mut self, bucket: &Bucket) -> Result<(), object_store::Error> {
        let folder = folder(&self.scope);
        let mut listed = bucket.list(&folder).await?;
        // What is to be removed is not there any more.
        let leaving = bucket.abandoned().below(&folder);
        listed.retain(|it| !leaving.contains(&it.name));
        let present: HashSet<&str> = listed.iter().map(|it| it.name.as_str()).collect();
        let mut known = HashSet::new();
        let mut gone = Vec::new();
        for reference in self.shelf.references() {
            let name = short_name(reference);
            if present.contains(&*name) {
                known.insert(name);
            } else {
                gone.push(reference.clone());
            }
        }
        for reference in gone {
            self.shelf.remove(&reference);
        }
        self.damaged.clear();
        let scope = &self.scope;
        let new: Vec<Listed> = listed
            .into_iter()
            .filter(|it| is_short_name(&it.name) && !known.contains(&it.name))
            .collect();
        let loaded = futures_util::stream::iter(new)
            .map(|listed| async move {
                let name = whole(scope, &listed);
                let tail = Tail::of(bucket, &name, listed.bytes).await;
                (listed, tail)
            })
            .buffer_unordered(AT_ONCE);
        let mut loaded = std::pin::pin!(loaded);
        while let Some((listed, tail)) = loaded.next().await {
            let Some(mut tail) = tail? else {
                continue;
            };
            match read(&mut tail, &listed.name, scope) {
                Ok((meta, _)) => {
                    let used_us = micros(meta.created);
                    self.shelf.insert(Row {
                        meta,
                        used_us,
                        body: (),
                    });
                }
                Err(error) => {
                    let error: &dyn std::error::Error = &error;
                    tracing::warn!(error, "an artifact is damaged");
                    self.damaged.push((listed.name, listed.modified_us));
                }
            }
        }
        self.is_read = true;
        self.read_to = self.shelf.newest().cloned();
        Ok(())
    }

    /// Removes an artifact's object and forgets it.
    pub(crate) async fn remove(
        &mut self,
        bucket: &Bucket,
        reference: &ArtifactRef,
    ) -> Result<(), object_store::Error> {
        bucket.delete(&object(&self.scope, reference)).await?;
        self.shelf.remove(reference);
        Ok(())
    }
}

/// Reads the record of the artifact whose object has that name in its scope.
pub(crate) fn read(
    tail: &mut Tail,
    name: &str,
    scope: &ArtifactScope,
) -> Result<(ArtifactMeta, Shape), RecordError> {
    ArtifactRecord::read(tail, |reference| short_name(reference) == name, scope)
}

pub(crate) fn folder(scope: &ArtifactScope) -> String {
    format!("{FOLDER}/{}", scope.key())
}

/// The object of an artifact.
pub(crate) fn object(scope: &ArtifactScope, reference: &ArtifactRef) -> String {
    format!("{}/{}", folder(scope), short_name(reference))
}

/// Half of a digest, which is enough to tell artifacts apart and keeps names short.
pub(crate) fn short_name(reference: &ArtifactRef) -> String {
    let mut name = file_name(reference);
    name.truncate(SHORT);
    name
}

/// Whether an object of that name may be an artifact's.
fn is_short_name(name: &str) -> bool {
    let is_digit = |digit: u8| matches!(digit, b'0'..=b'9' | b'a'..=b'f');
    name.len() == SHORT && name.bytes().all(is_digit)
}

fn whole(scope: &ArtifactScope, listed: &Listed) -> String {
    format!("{}/{}", folder(scope), listed.name)
}

pub(crate) const FOLDER: &str = "artifacts";
const AT_ONCE: usize = 16;
const SHORT: usize = 32;
