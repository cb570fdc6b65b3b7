//! Where state is kept.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tool_core::State;
use tool_storage::{
    ArtifactLimits, DirArtifacts, DirState, DirStore, Limits, ManagedArtifacts, ManagedOutputs,
};

use crate::RuntimeError;
use crate::turns_aside::TurnsAside;

/// Where outputs, artifacts and what is remembered are kept: a folder, or a bucket that many
/// gateways share.
///
/// Made of a path or a URL: `state`, `/var/lib/tool`, `file:///var/lib/tool`,
/// `s3://bucket/prefix`, `gs://bucket/prefix`, `az://container/prefix`, and `memory:///`, which is
/// gone with whoever opens it. What holds `://` is a URL. Buckets take the feature of their kind;
/// their credentials come from the environment, as `Bucket::from_url` of `tool-storage` says.
///
/// ```
/// use tool_runtime::Place;
///
/// assert_eq!(Place::from("file:///var/lib/tool"), Place::from("/var/lib/tool"));
/// assert!(Place::from("s3://bucket/prefix").folder().is_none());
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Place(Kind);

#[derive(Clone, PartialEq, Eq)]
enum Kind {
    Folder(PathBuf),
    Url(String),
}

/// A place that can be used.
#[derive(Clone)]
pub(crate) enum Opened {
    Folder(PathBuf),
    #[cfg(feature = "object-store")]
    Bucket(tool_storage::Bucket),
}

impl Place {
    /// The folder, where it is one.
    #[must_use]
    pub fn folder(&self) -> Option<&Path> {
        match &self.0 {
            Kind::Folder(folder) => Some(folder),
            Kind::Url(_) => None,
        }
    }

    /// The store of outputs there. A folder is made where it is missing, and what has had its time
    /// is removed.
    ///
    /// # Errors
    /// [`RuntimeError`] when it cannot be used.
    ///
    /// # Cancel safety
    /// Dropping the future leaves what is left to the next time.
    pub async fn outputs(&self, limits: Limits) -> Result<Arc<dyn ManagedOutputs>, RuntimeError> {
        self.open()?.outputs(limits).await
    }

    pub(crate) fn open(&self) -> Result<Opened, RuntimeError> {
        match &self.0 {
            Kind::Folder(folder) => Ok(Opened::Folder(folder.clone())),
            #[cfg(feature = "object-store")]
            Kind::Url(url) => {
                let bucket = tool_storage::Bucket::from_url(url);
                Ok(Opened::Bucket(bucket.map_err(|error| {
                    RuntimeError::Place {
                        problem: tool_core::ErrorChain::of(&error).to_string(),
                    }
                })?))
            }
            #[cfg(not(feature = "object-store"))]
            Kind::Url(_) => Err(RuntimeError::Place {
                problem:
                    "this build keeps state in folders alone; name a folder, or build it with \
                          the feature s3, gcs or azure"
                        .to_owned(),
            }),
        }
    }
}

impl Opened {
    pub(crate) async fn outputs(
        &self,
        limits: Limits,
    ) -> Result<Arc<dyn ManagedOutputs>, RuntimeError> {
        Ok(match self {
            Self::Folder(folder) => {
                let opened = DirStore::builder(folder).limits(limits).open();
                Arc::new(opened.map_err(RuntimeError::Store)?)
            }
            #[cfg(feature = "object-store")]
            Self::Bucket(bucket) => {
                let builder = tool_storage::BucketOutputs::builder(bucket.clone());
                let opened = builder.limits(limits).open().await;
                Arc::new(opened.map_err(RuntimeError::Store)?)
            }
        })
    }

    pub(crate) async fn artifacts(
        &self,
        limits: ArtifactLimits,
    ) -> Result<Arc<dyn ManagedArtifacts>, RuntimeError> {
        Ok(match self {
            Self::Folder(folder) => {
                let builder = DirArtifacts::builder(folder.join("artifacts"));
                let opened = builder.limits(limits).open();
                Arc::new(opened.map_err(RuntimeError::Artifacts)?)
            }
            #[cfg(feature = "object-store")]
            Self::Bucket(bucket) => {
                let store = tool_storage::BucketArtifacts::new(bucket.clone()).limits(limits);
                store.sweep().await.map_err(RuntimeError::Artifacts)?;
                Arc::new(store)
            }
        })
    }

    /// What is remembered there.
    pub(crate) async fn kept(&self) -> Result<Arc<dyn State>, RuntimeError> {
        Ok(match self {
            Self::Folder(folder) => {
                let opened = DirState::open(folder.join(KEPT));
                Arc::new(TurnsAside::new(opened.map_err(RuntimeError::Store)?))
            }
            #[cfg(feature = "object-store")]
            Self::Bucket(bucket) => {
                let state = tool_storage::BucketState::new(bucket.clone());
                state.sweep().await.map_err(RuntimeError::Kept)?;
                Arc::new(state)
            }
        })
    }
}

impl From<PathBuf> for Place {
    fn from(path: PathBuf) -> Self {
        match path.to_str() {
            Some(text) if text.contains("://") => Self::from(text),
            _ => Self(Kind::Folder(path)),
        }
    }
}

impl From<&PathBuf> for Place {
    fn from(path: &PathBuf) -> Self {
        Self::from(path.clone())
    }
}

impl From<&Path> for Place {
    fn from(path: &Path) -> Self {
        Self::from(path.to_owned())
    }
}

impl From<&str> for Place {
    fn from(text: &str) -> Self {
        Self(match text.strip_prefix("file://") {
            // Only an absolute path follows, unless a host does, which is none of this machine's.
            Some(path) if path.starts_with('/') => Kind::Folder(path.into()),
            _ if text.contains("://") => Kind::Url(text.to_owned()),
            _ => Kind::Folder(text.into()),
        })
    }
}

impl From<String> for Place {
    fn from(text: String) -> Self {
        Self::from(&*text)
    }
}

impl From<&String> for Place {
    fn from(text: &String) -> Self {
        Self::from(&**text)
    }
}

/// The folder, or the URL as it was given.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Folder(folder) => fmt::Display::fmt(&folder.display(), f),
            Kind::Url(url) => f.write_str(url),
        }
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Folder(folder) => f.debug_tuple("Place").field(folder).finish(),
            // It may hold what does not belong into it, a password say.
            Kind::Url(_) => f.write_str("Place(..)"),
        }
    }
}

/// The folder of what is remembered, below that of retained output.
const KEPT: &str = "kept";
