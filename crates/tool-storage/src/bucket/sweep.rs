//! What leaves a bucket, and when.

use std::collections::HashSet;
use std::sync::Arc;

use futures_util::StreamExt as _;
use object_store::PutMode;
use tool_core::{SessionId, StoreError};

use crate::bucket::lives::Live;
use crate::bucket::outputs::{BucketOutputs, FOLDER, GONE, Shared, gone_name, name_of};
use crate::bucket::tail::Tail;
use crate::bucket::{Cause, Listed};
use crate::gone::Left;
use crate::id::Id;
use crate::index::{Entry, Index};
use crate::record::Record;
use crate::sweep::Swept;

/// Space that is promised to an output. Dropped, it is free again.
pub(crate) struct Room {
    shared: Arc<Shared>,
    session: Option<SessionId>,
    bytes: u64,
}

impl BucketOutputs {
    pub(crate) async fn sweep_at(&self, now_us: u64) -> Result<Swept, StoreError> {
        self.shared.sweep(now_us).await
    }
}

impl Shared {
    async fn sweep(&self, now_us: u64) -> Result<Swept, StoreError> {
        let _turn = self.turn.lock().await;
        let bucket = &self.setup.bucket;
        let limits = self.setup.limits;
        let unreadable = |cause| bucket.failed("could not be read", cause);
        bucket.settle().await;
        self.lives.tell(None, now_us).await;
        self.follow().await?;
        let live = self.live(now_us, true).await?;

        let mut swept = Swept::default();
        let expired: Vec<Id> = self
            .index()
            .oldest_first()
            .filter(|(_, entry)| limits.has_expired(entry.created_us(), now_us))
            .filter(|(_, entry)| may_leave(&live, entry))
            .map(|(id, _)| id)
            .collect();
        self.sweep_outputs(expired, Left::Expired, &mut swept).await;
        let victims = {
            let index = self.index();
            let excess = index.excess(0, limits.total_bytes());
            index.oldest(excess, |entry| may_leave(&live, entry)).0
        };
        self.sweep_outputs(victims, Left::Evicted, &mut swept).await;

        let uploads = bucket.sweep_uploads(now_us).await.map_err(unreadable)?;
        swept.leftovers += uploads.aborted;
        swept.failed += uploads.failed;
        if let Err(error) = self.sweep_gone().await {
            let error = Cause(error);
            tracing::debug!(%error, "could not forget why outputs left");
        }
        Ok(swept)
    }

    /// Removes outputs, some at a time.
    async fn sweep_outputs(&self, ids: Vec<Id>, left: Left, swept: &mut Swept) {
        let removed = futures_util::stream::iter(ids)
            .map(|id| async move { (id, self.discard(id, Some(left)).await) })
            .buffer_unordered(AT_ONCE);
        let mut removed = std::pin::pin!(removed);
        while let Some((id, removed)) = removed.next().await {
            match removed {
                Ok(bytes) => {
                    swept.outputs += 1;
                    swept.bytes += bytes;
                }
                Err(error) => {
                    let error: &dyn std::error::Error = &error;
                    tracing::warn!(%id, error, "could not remove an output");
                    swept.failed += 1;
                }
            }
        }
    }

    /// Forgets the older half of why outputs left where there are too many.
    async fn sweep_gone(&self) -> Result<(), object_store::Error> {
        let bucket = &self.setup.bucket;
        let mut noted = bucket.list(GONE).await?;
        if noted.len() <= MOST_GONE {
            return Ok(());
        }
        noted.sort_by_key(|noted| noted.modified_us);
        noted.truncate(noted.len() - MOST_GONE / 2);
        let removed = futures_util::stream::iter(noted)
            .map(|noted| async move { bucket.delete(&format!("{GONE}/{}", noted.name)).await })
            .buffer_unordered(AT_ONCE);
        let mut removed = std::pin::pin!(removed);
        while let Some(removed) = removed.next().await {
            removed?;
        }
        Ok(())
    }

    /// Promises space to an output, and removes the oldest ones where that takes it. The space that
    /// it holds already counts in its session's share.
    pub(crate) async fn make_room(
        self: &Arc<Self>,
        bytes: u64,
        held: u64,
        session: Option<&SessionId>,
    ) -> Result<Room, StoreError> {
        let limits = self.setup.limits;
        let total = limits.total_bytes();
        limits.check_size(bytes)?;
        let _turn = self.turn.lock().await;
        if let (Some(session), Some(most)) = (session, limits.session_bytes_limit()) {
            let bytes = bytes.saturating_add(held);
            let victims = self.index().over_share(session, bytes, most)?;
            self.evict(victims).await?;
        }
        if self.index().excess(bytes, total) > 0 {
            // A list has all names, and a full store makes room for each output.
            let mut has_read = self.index().is_worth_reading();
            if has_read {
                self.follow().await?;
            }
            let victims = loop {
                // After the outputs: a gateway tells of a live session before it puts what it has.
                let live = self.live(self.setup.clock.now_us(), false).await?;
                let found = {
                    let index = self.index();
                    let excess = index.excess(bytes, total);
                    let (victims, freed) = index.oldest(excess, |entry| may_leave(&live, entry));
                    match freed < excess {
                        true => Err(index.no_room(bytes, total, freed)),
                        false => Ok(victims),
                    }
                };
                match found {
                    Err(_) if !has_read => self.follow().await?,
                    found => break found?,
                }
                has_read = true;
            };
            self.evict(victims).await?;
        }
        self.index().reserve(bytes);
        Ok(Room {
            shared: Arc::clone(self),
            session: session.cloned(),
            bytes,
        })
    }

    async fn evict(&self, victims: Vec<Id>) -> Result<(), StoreError> {
        for id in victims {
            let freed = self.discard(id, Some(Left::Evicted)).await?;
            tracing::debug!(%id, bytes = freed, "evicted an output to make room");
        }
        Ok(())
    }

    /// Brings the index up to what the bucket holds.
    pub(crate) async fn follow(&self) -> Result<(), StoreError> {
        let bucket = &self.setup.bucket;
        let unreadable = |cause| bucket.failed("could not be read", cause);
        // What comes in while the bucket is listed is not in the list and yet there.
        let before: HashSet<Id> = self.index().oldest_first().map(|(id, _)| id).collect();
        let listed = bucket.list(FOLDER).await.map_err(unreadable)?;
        let mut new = Vec::new();
        let mut missing = before.clone();
        for listed in listed {
            let Some(id) = Id::parse(&listed.name) else {
                continue;
            };
            if !missing.remove(&id) && !bucket.abandoned().holds(&name_of(id)) {
                new.push((id, listed));
            }
        }
        {
            let mut index = self.index();
            for id in missing {
                index.remove(id);
            }
        }
        let loaded = futures_util::stream::iter(new)
            .map(|(id, listed)| async move { (id, self.load(id, &listed).await) })
            .buffer_unordered(AT_ONCE);
        let mut loaded = std::pin::pin!(loaded);
        while let Some((id, entry)) = loaded.next().await {
            if let Some(entry) = entry.map_err(unreadable)?
                && !self.index().contains(id)
            {
                self.index().insert(id, entry);
            }
        }
        self.index().was_read(None);
        Ok(())
    }

    async fn load(&self, id: Id, listed: &Listed) -> Result<Option<Entry>, object_store::Error> {
        let tail = Tail::of(&self.setup.bucket, &name_of(id), listed.bytes).await?;
        let Some(mut tail) = tail else {
            return Ok(None);
        };
        Ok(Some(match Record::read(&mut tail, id) {
            Ok(record) => Entry::Whole(record),
            Err(error) => {
                let error: &dyn std::error::Error = &error;
                tracing::warn!(%id, error, "an output is damaged");
                Entry::Damaged {
                    created_us: listed.modified_us,
                    bytes: listed.bytes,
                }
            }
        }))
    }

    /// Removes an output. Returns how many bytes it had, as far as that is known.
    ///
    /// Why it left is noted where somebody may ask for it yet.
    pub(crate) async fn discard(&self, id: Id, left: Option<Left>) -> Result<u64, StoreError> {
        let bucket = &self.setup.bucket;
        let removed = bucket.delete(&name_of(id)).await;
        removed.map_err(|cause| bucket.failed("could not remove an output", cause))?;
        let bytes = self.index().remove(id).map_or(0, |entry| entry.bytes());
        if let Some(left) = left {
            let letter = left.letter().to_string().into_bytes();
            let noted = bucket.put(&gone_name(id), letter, PutMode::Overwrite).await;
            if let Err(error) = noted {
                let error = Cause(error);
                tracing::debug!(%id, %error, "could not note why an output left");
            }
        }
        Ok(bytes)
    }

    /// The sessions whose outputs stay.
    pub(crate) async fn live(&self, now_us: u64, removes: bool) -> Result<Live, StoreError> {
        let live = self.lives.live(now_us, removes).await;
        live.map_err(|cause| self.setup.bucket.failed("could not be read", cause))
    }
}

fn may_leave(live: &Live, entry: &Entry) -> bool {
    entry.session().is_none_or(|session| !live.holds(session))
}

impl Room {
    /// The bytes that are promised.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Promises more.
    pub(crate) async fn grow(&mut self, bytes: u64) -> Result<(), StoreError> {
        let session = self.session.as_ref();
        let more = self.shared.make_room(bytes, self.bytes, session).await?;
        self.bytes += more.keep();
        Ok(())
    }

    /// Hands the promised bytes over to an output that is there.
    pub(crate) fn shown(self, index: &mut Index) {
        index.release(self.keep());
    }

    fn keep(mut self) -> u64 {
        std::mem::take(&mut self.bytes)
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        if self.bytes > 0 {
            self.shared.index().release(self.bytes);
        }
    }
}

/// How many objects are read or removed at the same time.
const AT_ONCE: usize = 16;
const MOST_GONE: usize = 10_000;
