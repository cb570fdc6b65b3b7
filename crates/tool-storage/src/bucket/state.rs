//! State in a bucket.

use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use object_store::{GetOptions, ObjectStore as _, PutMode, PutResult, UpdateVersion};
use tool_core::{BoxFuture, Digest, State, StateError, StateReading, StateVersion};

use crate::bucket::{Bucket, Cause};
use crate::clock::{Clock, micros};

/// Small facts in a bucket, shared by all processes that use it. Clones are the same.
///
/// A value is an object that is put under the condition that nothing, or the version that was read,
/// is there. The store checks that, so of writers that expect the same one wins, wherever they run.
/// It takes a store with conditional puts: Amazon S3 and what speaks all of its protocol, Google
/// Cloud Storage, Azure Blob Storage, memory. On any other, writing is an error.
///
/// Claims whose moment has passed are forgotten by [`sweep`](Self::sweep).
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

    /// Sets where the time of a sweep comes from. Defaults to [`SystemTime::now`].
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
    /// [`StateError`] when the bucket cannot be read or written.
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
            let read = self.0.read(&name(VALUES, key), known).await;
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
            let written = self.0.write(&name(VALUES, key), expected, value).await;
            written.map_err(|cause| self.0.failed("could not be written", cause))
        })
    }
}

type Cannot = Box<dyn std::error::Error + Send + Sync>;

impl Inner {
    async fn claim(&self, key: &str, until_us: u64) -> Result<bool, Cannot> {
        let name = name(CLAIMS, key);
        let text = format!("{until_us} {}", mark()?);
        match self.put(&name, text.clone().into_bytes(), None).await? {
            Some(_) => {}
            // Sent again by the client, the request meets its own claim.
            None if self.get(&name).await?.as_deref() == Some(text.as_bytes()) => {}
            None => return Ok(false),
        }
        // Only now: who forgets a claim has taken note of its moment before. So whoever could claim
        // what was forgotten finds that here.
        Ok(self.forgotten().await?.is_none_or(|(at, _)| at < until_us))
    }

    async fn read(&self, name: &str, known: Option<&StateVersion>) -> Result<StateReading, Cannot> {
        let options = GetOptions::default().with_if_none_match(known.map(|it| condition(it).e_tag));
        let path = self.bucket.path(name);
        let got = match self.bucket.objects().get_opts(&path, options).await {
            Ok(got) => got,
            Err(object_store::Error::NotFound { .. }) => return Ok(StateReading::Absent),
            Err(object_store::Error::NotModified { .. }) => return Ok(StateReading::Unchanged),
            Err(error) => return Err(Cause(error).into()),
        };
        let version = version(got.meta.e_tag.as_deref(), got.meta.version.as_deref())?;
        if known == Some(&version) {
            return Ok(StateReading::Unchanged);
        }
        let bytes = got.bytes().await.map_err(Cause)?;
        let (mark, value) = bytes
            .split_at_checked(MARK)
            .ok_or("it is no value of this state")?;
        if mark.last() != Some(&b'\n') {
            return Err("it is no value of this state".into());
        }
        Ok(StateReading::Value(value.to_vec(), version))
    }

    async fn write(
        &self,
        name: &str,
        expected: Option<&StateVersion>,
        value: &[u8],
    ) -> Result<Option<StateVersion>, Cannot> {
        // No two values are the same bytes, so that no two have the same tag where that is a digest.
        let mut bytes = format!("{}\n", mark()?).into_bytes();
        bytes.extend_from_slice(value);
        if let Some(put) = self.put(name, bytes.clone(), expected).await? {
            return version(put.e_tag.as_deref(), put.version.as_deref()).map(Some);
        }
        // Sent again by the client, the request meets what it has written itself.
        let path = self.bucket.path(name);
        let there = self.bucket.objects().get_opts(&path, GetOptions::default());
        let there = match there.await {
            Ok(there) => there,
            Err(object_store::Error::NotFound { .. }) => return Ok(None),
            Err(error) => return Err(Cause(error).into()),
        };
        let version = version(there.meta.e_tag.as_deref(), there.meta.version.as_deref())?;
        let is_own = there.bytes().await.map_err(Cause)? == bytes;
        Ok(is_own.then_some(version))
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
                let UpdateParts { e_tag, version } = condition(version);
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

    async fn get(&self, name: &str) -> Result<Option<bytes::Bytes>, Cannot> {
        Ok(self.bucket.get(name).await.map_err(Cause)?)
    }

    /// The latest moment of a claim that was forgotten, and its version.
    async fn forgotten(&self) -> Result<Option<(u64, StateVersion)>, Cannot> {
        Ok(match self.read(FORGOTTEN, None).await? {
            StateReading::Value(value, version) => {
                Some((std::str::from_utf8(&value)?.parse()?, version))
            }
            StateReading::Absent | StateReading::Unchanged => None,
        })
    }

    async fn sweep(&self) -> Result<(), Cannot> {
        let now_us = self.clock.now_us();
        let mut over = Vec::new();
        for listed in self.bucket.list(CLAIMS).await.map_err(Cause)? {
            let name = format!("{CLAIMS}/{}", listed.name);
            let text = self.get(&name).await?.unwrap_or_default();
            let until = std::str::from_utf8(&text).ok();
            let until = until.and_then(|text| text.split(' ').next()?.parse::<u64>().ok());
            if let Some(until) = until.filter(|until| *until < now_us) {
                over.push((name, until));
            }
        }
        let Some(latest) = over.iter().map(|(_, until)| *until).max() else {
            return Ok(());
        };
        // Before anything is forgotten, so that a crash between leaves no claim open twice.
        loop {
            let (at, version) = self.forgotten().await?.unzip();
            let is_noted = at >= Some(latest);
            let text = latest.to_string();
            if is_noted
                || self
                    .write(FORGOTTEN, version.as_ref(), text.as_bytes())
                    .await?
                    .is_some()
            {
                break;
            }
        }
        for (name, _) in over {
            self.bucket.delete(&name).await.map_err(Cause)?;
        }
        Ok(())
    }

    fn failed(&self, what: &'static str, cause: Cannot) -> StateError {
        StateError::new(Failed {
            what,
            place: self.bucket.to_string(),
            cause,
        })
    }
}

/// What a put is put under the condition of.
struct UpdateParts {
    e_tag: String,
    version: Option<String>,
}

/// The version of an object: its tag, and where the store numbers versions the number.
fn version(e_tag: Option<&str>, version: Option<&str>) -> Result<StateVersion, Cannot> {
    let e_tag = e_tag.ok_or("the store gives objects no tags, which state takes")?;
    Ok(StateVersion::new(match version {
        None => e_tag.to_owned(),
        Some(version) => format!("{e_tag}\n{version}"),
    }))
}

fn condition(version: &StateVersion) -> UpdateParts {
    match version.as_str().split_once('\n') {
        None => UpdateParts {
            e_tag: version.as_str().to_owned(),
            version: None,
        },
        Some((e_tag, version)) => UpdateParts {
            e_tag: e_tag.to_owned(),
            version: Some(version.to_owned()),
        },
    }
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

/// The name of an object for any key.
fn name(folder: &str, key: &str) -> String {
    format!("{folder}/{}", Digest::of(key.as_bytes()).hex())
}

/// Sixteen letters that nothing else begins with.
fn mark() -> Result<String, Cannot> {
    let mut random = [0; 8];
    getrandom::fill(&mut random).map_err(|error| error.to_string())?;
    Ok(format!("{:016x}", u64::from_be_bytes(random)))
}

/// The mark and its newline.
const MARK: usize = 17;
const VALUES: &str = "state/values";
const CLAIMS: &str = "state/claims";
const FORGOTTEN: &str = "state/forgotten";
