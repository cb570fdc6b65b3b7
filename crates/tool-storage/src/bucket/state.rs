//! State in a bucket.

use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use object_store::{GetOptions, ObjectStore as _, PutMode, PutResult, UpdateVersion};
use tool_core::{BoxFuture, Digest, State, StateError, StateReading, StateVersion};

use crate::bucket::claims::Claims;
use crate::bucket::marks::Marks;
use crate::bucket::{Bucket, Cause};
use crate::clock::{Clock, micros};

/// Small facts in a bucket, shared by all processes that use it. Clones are the same.
///
/// A value is an object that is put under the condition that nothing, or the version that was read,
/// is there. The store checks that, so of writers that expect the same one wins, wherever they run.
/// It takes a store with conditional puts: Amazon S3 and what speaks all of its protocol, Google
/// Cloud Storage, Azure Blob Storage, memory. On any other, writing is an error.
///
/// Claims share 256 objects, each a list that is changed in the same way; nothing of state is ever
/// deleted, as a store deletes under no condition. Those whose moment has passed leave with the next
/// claim of the same object and with [`sweep`](Self::sweep).
///
/// ```
/// use tool_core::{State as _, StateReading};
/// use tool_storage::{Bucket, BucketState};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let state = BucketState::new(Bucket::from_url("memory:///")?);
/// let first = state.write("key", None, b"one").await?;
/// assert!(state.write("key", None, b"two").await?.is_none(), "somebody was faster");
/// assert!(state.write("key", first.as_ref(), b"two").await?.is_some());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct BucketState(Arc<Inner>);

struct Inner {
    bucket: Bucket,
    clock: Clock,
}

/// What could not be done, for operators.
#[derive(Debug)]
struct Failed {
    what: &'static str,
    place: String,
    cause: Box<dyn std::error::Error + Send + Sync>,
}

impl BucketState {
    /// The state in a bucket. Nothing is asked of it yet.
    #[must_use]
    pub fn new(bucket: Bucket) -> Self {
        let clock = Clock::default();
        Self(Arc::new(Inner { bucket, clock }))
    }

    /// Sets where the time comes from by which claims are over. Defaults to [`SystemTime::now`].
    #[must_use]
    pub fn clock(self, now: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        Self(Arc::new(Inner {
            bucket: self.0.bucket.clone(),
            clock: Clock::new(now),
        }))
    }

    /// Forgets claims whose moment has passed, and takes note of the latest of them, so that none
    /// counts as new again. A host calls it when it starts.
    ///
    /// # Errors
    /// [`StateError`] when the bucket cannot be read or written, or an object in it does not read: the
    /// first such error, after all that can be swept is.
    ///
    /// # Cancel safety
    /// Dropping the future leaves what is left to the next sweep.
    pub async fn sweep(&self) -> Result<(), StateError> {
        let swept = self.0.sweep().await;
        swept.map_err(|cause| self.0.failed("could not be swept", cause))
    }
}

impl State for BucketState {
    fn claim<'a>(
        &'a self,
        key: &'a str,
        until: SystemTime,
    ) -> BoxFuture<'a, Result<bool, StateError>> {
        Box::pin(async move {
            let claimed = self.0.claim(key, micros(until)).await;
            claimed.map_err(|cause| self.0.failed("could not be written", cause))
        })
    }

    fn read<'a>(
        &'a self,
        key: &'a str,
        known: Option<&'a StateVersion>,
    ) -> BoxFuture<'a, Result<StateReading, StateError>> {
        Box::pin(async move {
            let read = self.0.read(&name(key), known).await;
            read.map_err(|cause| self.0.failed("could not be read", cause))
        })
    }

    fn write<'a>(
        &'a self,
        key: &'a str,
        expected: Option<&'a StateVersion>,
        value: &'a [u8],
    ) -> BoxFuture<'a, Result<Option<StateVersion>, StateError>> {
        Box::pin(async move {
            let written = self.0.write(&name(key), expected, value).await;
            written.map_err(|cause| self.0.failed("could not be written", cause))
        })
    }
}

type Cannot = Box<dyn std::error::Error + Send + Sync>;

impl Inner {
    async fn claim(&self, key: &str, until_us: u64) -> Result<bool, Cannot> {
        let digest = Digest::of(key.as_bytes()).hex();
        let shard = shard_of(&digest);
        let mark = Marks::over(None).map_err(|error| error.to_string())?.own;
        loop {
            let (mut claims, version) = self.claims(&shard).await?;
            // Written here before, although the store had said that somebody was faster.
            if claims.is_by(&digest, &mark) {
                return Ok(true);
            }
            claims.forget(self.clock.now_us());
            if !claims.add(&digest, until_us, &mark) {
                return Ok(false);
            }
            let bytes = claims.to_bytes();
            let written = self.write(&shard, version.as_ref(), &bytes).await?;
            if written.is_some() {
                return Ok(true);
            }
            // Somebody was faster, with this key or another.
        }
    }

    async fn read(&self, name: &str, known: Option<&StateVersion>) -> Result<StateReading, Cannot> {
        let known_tag = known.map(|it| Tags::in_version(it).e_tag);
        let options = GetOptions::default().with_if_none_match(known_tag);
        let path = self.bucket.path(name);
        let got = match self.bucket.objects().get_opts(&path, options).await {
            Ok(got) => got,
            Err(object_store::Error::NotFound { .. }) => return Ok(StateReading::Absent),
            Err(object_store::Error::NotModified { .. }) => return Ok(StateReading::Unchanged),
            Err(error) => return Err(Cause(error).into()),
        };
        let tags = Tags::of(got.meta.e_tag.clone(), got.meta.version.clone())?;
        let bytes = got.bytes().await.map_err(Cause)?;
        let (marks, value) = Marks::split(&bytes).ok_or_else(|| unreadable(name))?;
        let version = tags.version(&marks.own);
        if known == Some(&version) {
            return Ok(StateReading::Unchanged);
        }
        Ok(StateReading::Value(value.to_vec(), version))
    }

    async fn write(
        &self,
        name: &str,
        expected: Option<&StateVersion>,
        value: &[u8],
    ) -> Result<Option<StateVersion>, Cannot> {
        let marks = Marks::over(expected.and_then(mark_of));
        let marks = marks.map_err(|error| error.to_string())?;
        let put = self.put(name, marks.ahead_of(value), expected).await;
        let failed = match put {
            Ok(Some(put)) => {
                return Tags::of(put.e_tag, put.version).map(|it| Some(it.version(&marks.own)));
            }
            Ok(None) => None,
            Err(error) => Some(error),
        };
        // The answer may be lost of a request that was done, and where the client sends it again it
        // meets what it has written itself.
        match (self.own(name, &marks.own).await, failed) {
            (Ok(Some(own)), _) => Ok(Some(own)),
            (_, Some(error)) | (Err(error), None) => Err(error),
            (Ok(None), None) => Ok(None),
        }
    }

    /// The version of what was written under a mark, if that is there or was until another wrote over
    /// it.
    async fn own(&self, name: &str, mark: &str) -> Result<Option<StateVersion>, Cannot> {
        let path = self.bucket.path(name);
        let there = self.bucket.objects().get_opts(&path, GetOptions::default());
        let there = match there.await {
            Ok(there) => there,
            Err(object_store::Error::NotFound { .. }) => return Ok(None),
            Err(error) => return Err(Cause(error).into()),
        };
        let tags = Tags::of(there.meta.e_tag.clone(), there.meta.version.clone())?;
        let bytes = there.bytes().await.map_err(Cause)?;
        Ok(match Marks::split(&bytes) {
            Some((marks, _)) if marks.own == mark => Some(tags.version(mark)),
            Some((marks, _)) if marks.before.as_deref() == Some(mark) => {
                Some(Tags::overtaken().version(mark))
            }
            _ => None,
        })
    }

    /// Puts an object if what is there is what is expected. `None` when it is not.
    async fn put(
        &self,
        name: &str,
        bytes: Vec<u8>,
        expected: Option<&StateVersion>,
    ) -> Result<Option<PutResult>, Cannot> {
        let mode = match expected {
            None => PutMode::Create,
            Some(version) => {
                let Tags { e_tag, version } = Tags::in_version(version);
                PutMode::Update(UpdateVersion {
                    e_tag: Some(e_tag),
                    version,
                })
            }
        };
        match self.bucket.put(name, bytes, mode).await {
            Ok(put) => Ok(Some(put)),
            Err(
                object_store::Error::AlreadyExists { .. }
                | object_store::Error::Precondition { .. }
                | object_store::Error::NotFound { .. },
            ) => Ok(None),
            Err(error @ object_store::Error::NotImplemented { .. }) => Err(format!(
                "the store has no conditional puts, which state takes: {}",
                Cause(error)
            )
            .into()),
            Err(error) => Err(Cause(error).into()),
        }
    }

    /// The claims of a shard, and its version where there is one.
    async fn claims(&self, shard: &str) -> Result<(Claims, Option<StateVersion>), Cannot> {
        Ok(match self.read(shard, None).await? {
            StateReading::Value(value, version) => {
                let claims = Claims::parse(&value).ok_or_else(|| unreadable(shard))?;
                (claims, Some(version))
            }
            StateReading::Absent | StateReading::Unchanged => Default::default(),
        })
    }

    /// Sweeps all shards. One that cannot be swept holds up none of the others.
    async fn sweep(&self) -> Result<(), Cannot> {
        let mut swept = Ok(());
        for listed in self.bucket.list(CLAIMS).await.map_err(Cause)? {
            if is_shard(&listed.name) {
                let shard = format!("{CLAIMS}/{}", listed.name);
                swept = swept.and(self.sweep_shard(&shard).await);
            }
        }
        swept
    }

    async fn sweep_shard(&self, shard: &str) -> Result<(), Cannot> {
        loop {
            let (mut claims, version) = self.claims(shard).await?;
            if !claims.forget(self.clock.now_us()) {
                return Ok(());
            }
            let bytes = claims.to_bytes();
            let written = self.write(shard, version.as_ref(), &bytes).await?;
            if written.is_some() {
                return Ok(());
            }
        }
    }

    fn failed(&self, what: &'static str, cause: Cannot) -> StateError {
        StateError::new(Failed {
            what,
            place: self.bucket.to_string(),
            cause,
        })
    }
}

/// How a store tells what is there from what was there before: by its tag, and where it numbers
/// versions by the number.
struct Tags {
    e_tag: String,
    version: Option<String>,
}

impl Tags {
    fn of(e_tag: Option<String>, version: Option<String>) -> Result<Self, Cannot> {
        let e_tag = e_tag.ok_or("the store gives objects no tags, which state takes")?;
        Ok(Self { e_tag, version })
    }

    /// Those of what is not there any more, which nothing that is there has.
    fn overtaken() -> Self {
        Self {
            e_tag: "\"overtaken\"".to_owned(),
            version: Some("1".to_owned()),
        }
    }

    /// Those in a version, which is of another state where it has none.
    fn in_version(version: &StateVersion) -> Self {
        let mut lines = version.as_str().splitn(3, '\n').skip(1);
        Self {
            e_tag: lines.next().unwrap_or(version.as_str()).to_owned(),
            version: lines.next().map(str::to_owned),
        }
    }

    /// The version of a value that was written under a mark.
    fn version(self, mark: &str) -> StateVersion {
        let Self { e_tag, version } = self;
        StateVersion::new(match version {
            None => format!("{mark}\n{e_tag}"),
            Some(version) => format!("{mark}\n{e_tag}\n{version}"),
        })
    }
}

/// Under which mark the value of a version was written.
fn mark_of(version: &StateVersion) -> Option<&str> {
    version.as_str().split_once('\n').map(|(mark, _)| mark)
}

impl fmt::Debug for BucketState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("BucketState").field(&self.0.bucket).finish()
    }
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "state in {} {}", self.place, self.what)
    }
}

impl std::error::Error for Failed {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&*self.cause)
    }
}

/// The name of the object of a key's value.
fn name(key: &str) -> String {
    format!("{VALUES}/{}", Digest::of(key.as_bytes()).hex())
}

/// The name of the object in which the claim of a key is, by the digest of the key.
fn shard_of(digest: &str) -> String {
    format!("{CLAIMS}/{}", digest.get(..2).unwrap_or(digest))
}

/// Whether this is how the object of a shard is called, and not what others left beside it.
fn is_shard(name: &str) -> bool {
    name.len() == 2
        && name
            .bytes()
            .all(|it| matches!(it, b'0'..=b'9' | b'a'..=b'f'))
}

/// Says which object does not read, and the way out.
fn unreadable(name: &str) -> Cannot {
    let when = if name.starts_with(CLAIMS) {
        // Without its claims, a decision that was used is as good as new.
        " once no suspended call of before can be resumed any more"
    } else {
        ""
    };
    format!("\"{name}\" does not read; put an earlier version of it back, or remove it{when}")
        .into()
}

const VALUES: &str = "state/values";
const CLAIMS: &str = "state/claims";
