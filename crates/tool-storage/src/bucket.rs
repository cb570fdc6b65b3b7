//! A place in an object store.

pub(crate) mod abandoned;
pub(crate) mod artifact_put;
pub(crate) mod artifacts;
pub(crate) mod claims;
pub(crate) mod incoming;
pub(crate) mod lives;
pub(crate) mod marks;
pub(crate) mod outputs;
pub(crate) mod room;
pub(crate) mod setup;
pub(crate) mod state;
pub(crate) mod suffix;
pub(crate) mod sweep;
pub(crate) mod tail;
pub(crate) mod upload;
pub(crate) mod url;
pub(crate) mod writer;

use std::fmt;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::TryStreamExt as _;
use object_store::multipart::MultipartStore;
use object_store::path::Path;
use object_store::{GetOptions, ObjectStore, ObjectStoreExt as _, PutMode, PutOptions, PutResult};
use tool_core::{StoreError, StoreErrorKind};

use abandoned::Abandoned;

/// A place in an object store: a bucket, or what begins with a prefix in one. Clones are the same
/// place.
///
/// [`BucketOutputs`](crate::BucketOutputs), [`BucketArtifacts`](crate::BucketArtifacts) and
/// [`BucketState`](crate::BucketState) keep their objects in it, each under names of its own, so
/// that one place serves all three. Any number of processes may share it.
///
/// # What is private
/// The bucket's own rules say who reads it; give nobody access but the gateways. Names tell nothing:
/// outputs have names that cannot be guessed, artifacts, sessions and keys of state have digests.
/// Contents are not encrypted here.
///
/// # Unfinished uploads
/// What is larger than 5 MiB goes up in parts and is seen when they are completed. A note beside it
/// lets the next [sweep](crate::BucketOutputs::sweep) of any process abort what a dead one left,
/// once it has lain for a day. A store without part numbers of its own (see
/// [`without_parts`](Self::without_parts)) has no notes.
#[derive(Clone)]
pub struct Bucket {
    inner: Arc<Inner>,
    part_bytes: NonZeroUsize,
}

struct Inner {
    objects: Arc<dyn ObjectStore>,
    parts: Option<Arc<dyn MultipartStore>>,
    root: Path,
    /// For operators.
    place: String,
    abandoned: Abandoned,
}

/// An object as a list shows it.
#[derive(Debug)]
pub(crate) struct Listed {
    /// The name below the folder that was listed.
    pub(crate) name: String,
    pub(crate) bytes: u64,
    pub(crate) modified_us: u64,
}

/// What an object store says, in one text, as its errors repeat their causes.
#[derive(Debug)]
pub(crate) struct Cause(pub(crate) object_store::Error);

impl Bucket {
    /// What begins with a prefix in a store, all of it where the prefix is empty.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use tool_storage::{Bucket, object_store::memory::InMemory};
    ///
    /// let bucket = Bucket::of(Arc::new(InMemory::new()), "gateway/state");
    /// assert_eq!(bucket.to_string(), "InMemory/gateway/state");
    /// ```
    pub fn of<S: ObjectStore + MultipartStore>(store: Arc<S>, prefix: &str) -> Self {
        let parts: Arc<dyn MultipartStore> = Arc::<S>::clone(&store);
        Self::new(store, Some(parts), prefix)
    }

    /// The same for a store whose uploads are known to the process alone that makes them, as those
    /// of a local file system are. What a dead process left of them is the store's own to remove.
    pub fn without_parts(store: Arc<dyn ObjectStore>, prefix: &str) -> Self {
        Self::new(store, None, prefix)
    }

    pub(crate) fn new(
        objects: Arc<dyn ObjectStore>,
        parts: Option<Arc<dyn MultipartStore>>,
        prefix: &str,
    ) -> Self {
        let root = Path::from(prefix);
        let place = format!("{objects}/{root}");
        Self {
            inner: Arc::new(Inner {
                objects,
                parts,
                root,
                place: place.trim_end_matches('/').to_owned(),
                abandoned: Abandoned::default(),
            }),
            part_bytes: PART,
        }
    }

    /// Sets how many bytes go up at once, and are held meanwhile, of what is larger. Defaults to
    /// 5 MiB, the least that Amazon S3 takes, which allows for objects of 50 GB.
    #[must_use]
    pub fn part_bytes(mut self, bytes: NonZeroUsize) -> Self {
        self.part_bytes = bytes;
        self
    }

    pub(crate) fn part(&self) -> usize {
        self.part_bytes.get()
    }

    pub(crate) fn objects(&self) -> &Arc<dyn ObjectStore> {
        &self.inner.objects
    }

    pub(crate) fn parts(&self) -> Option<&Arc<dyn MultipartStore>> {
        self.inner.parts.as_ref()
    }

    pub(crate) fn abandoned(&self) -> &Abandoned {
        &self.inner.abandoned
    }

    /// The whole name of an object.
    pub(crate) fn path(&self, name: &str) -> Path {
        name.split('/')
            .fold(self.inner.root.clone(), |path, part| path.join(part))
    }

    pub(crate) async fn put(
        &self,
        name: &str,
        bytes: impl Into<Bytes>,
        mode: PutMode,
    ) -> Result<PutResult, object_store::Error> {
        let options = PutOptions::from(mode);
        self.objects()
            .put_opts(&self.path(name), bytes.into().into(), options)
            .await
    }

    /// An object, whole; `None` when there is none.
    pub(crate) async fn get(&self, name: &str) -> Result<Option<Bytes>, object_store::Error> {
        let got = self.objects().get(&self.path(name)).await;
        match absent_as_none(got)? {
            None => Ok(None),
            Some(got) => absent_as_none(got.bytes().await),
        }
    }

    /// Some bytes of an object, of which there must be one at least; `None` when there is none.
    pub(crate) async fn range(
        &self,
        name: &str,
        range: Range<u64>,
    ) -> Result<Option<Bytes>, object_store::Error> {
        let options = GetOptions::default().with_range(Some(range));
        let got = self.objects().get_opts(&self.path(name), options).await;
        match absent_as_none(got)? {
            None => Ok(None),
            Some(got) => absent_as_none(got.bytes().await),
        }
    }

    /// The bytes that an object has; `None` when there is none.
    pub(crate) async fn len(&self, name: &str) -> Result<Option<u64>, object_store::Error> {
        let head = absent_as_none(self.objects().head(&self.path(name)).await)?;
        Ok(head.map(|meta| meta.size))
    }

    /// The objects below a folder.
    pub(crate) async fn list(&self, folder: &str) -> Result<Vec<Listed>, object_store::Error> {
        let folder = self.path(folder);
        let skipped = folder.parts().count();
        let found: Vec<_> = self.objects().list(Some(&folder)).try_collect().await?;
        Ok(found
            .into_iter()
            .map(|meta| {
                let parts: Vec<_> = meta.location.parts().skip(skipped).collect();
                let parts: Vec<&str> = parts.iter().map(AsRef::as_ref).collect();
                Listed {
                    name: parts.join("/"),
                    bytes: meta.size,
                    modified_us: u64::try_from(meta.last_modified.timestamp_micros()).unwrap_or(0),
                }
            })
            .collect())
    }

    /// Removes an object. One that is not there is agreed to.
    pub(crate) async fn delete(&self, name: &str) -> Result<(), object_store::Error> {
        absent_as_none(self.objects().delete(&self.path(name)).await).map(|_| ())
    }

    /// An error of this place, for operators.
    pub(crate) fn failed(&self, what: &str, cause: object_store::Error) -> StoreError {
        self.wrong(what).because(Cause(cause))
    }

    /// An error of this place that has no cause, or another.
    pub(crate) fn wrong(&self, what: &str) -> StoreError {
        let detail = format!("output store {self} {what}");
        StoreError::new(StoreErrorKind::Io, detail)
    }
}

fn absent_as_none<T>(
    found: Result<T, object_store::Error>,
) -> Result<Option<T>, object_store::Error> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(object_store::Error::NotFound { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

impl fmt::Display for Bucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.inner.place)
    }
}

impl fmt::Debug for Bucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Bucket").field(&self.inner.place).finish()
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl std::error::Error for Cause {}

/// The least that a part may have (Amazon S3 User Guide, multipart upload limits), of which there
/// may be 10,000.
const PART: NonZeroUsize = NonZeroUsize::new(5 << 20).unwrap();
