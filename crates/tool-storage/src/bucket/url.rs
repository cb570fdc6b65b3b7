//! From a URL to a bucket.

use std::sync::Arc;

use object_store::memory::InMemory;
use object_store::path::Path;
use thiserror::Error;
use url::Url;

use crate::bucket::Bucket;

/// A URL that leads to no bucket.
#[derive(Debug, Error)]
#[error("{problem}")]
pub struct BucketUrlError {
    problem: String,
    #[source]
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl Bucket {
    /// The place that a URL names: `s3://bucket/prefix`, `gs://bucket/prefix`,
    /// `az://container/prefix`, each with its feature, and `memory:///`, which is a new one for
    /// each call and gone with it.
    ///
    /// What else it takes comes from the environment, as the crate `object_store` reads it:
    /// `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_REGION`, `AWS_ENDPOINT` and the rest,
    /// `GOOGLE_SERVICE_ACCOUNT`, `AZURE_STORAGE_ACCOUNT_NAME` and so on. Nothing is asked of the
    /// bucket yet.
    ///
    /// ```
    /// use tool_storage::Bucket;
    ///
    /// let bucket = Bucket::from_url("memory:///gateway")?;
    /// assert_eq!(bucket.to_string(), "InMemory/gateway");
    /// let error = Bucket::from_url("ftp://host/folder").unwrap_err();
    /// assert!(error.to_string().contains("s3://"));
    /// # Ok::<(), tool_storage::BucketUrlError>(())
    /// ```
    ///
    /// # Errors
    /// [`BucketUrlError`] for another URL, for one with a user, a password, a query or a fragment,
    /// for one whose feature is off, and when the environment does not say what it has to.
    pub fn from_url(url: &str) -> Result<Self, BucketUrlError> {
        let parsed = Url::parse(url).map_err(|error| BucketUrlError {
            problem: "what names the bucket is no URL".to_owned(),
            source: Some(error.into()),
        })?;
        let is_plain = parsed.username().is_empty()
            && parsed.password().is_none()
            && parsed.query().is_none()
            && parsed.fragment().is_none();
        if !is_plain {
            return Err(wrong(
                "the URL of a bucket holds more than a bucket and a prefix; credentials and \
                 options belong into the environment",
            ));
        }
        let prefix = Path::from_url_path(parsed.path()).map_err(|error| BucketUrlError {
            problem: format!(
                "the prefix in the URL of a bucket, {}, is none",
                parsed.path()
            ),
            source: Some(error.into()),
        })?;
        match parsed.scheme() {
            "memory" if parsed.host_str().is_none_or(str::is_empty) => {
                Ok(Self::of(Arc::new(InMemory::new()), prefix.as_ref()))
            }
            "s3" | "s3a" => s3(&parsed, prefix.as_ref()),
            "gs" => gcs(&parsed, prefix.as_ref()),
            "az" | "azure" | "abfs" | "abfss" => azure(&parsed, prefix.as_ref()),
            "file" => Err(wrong(
                "a local folder is kept by `DirStore`, `DirArtifacts` and `DirState`, not as a \
                 bucket",
            )),
            _ => Err(wrong(
                "the URL of a bucket begins with s3://, gs:// or az://, or is memory:///",
            )),
        }
    }
}

macro_rules! cloud {
    ($open:ident, $feature:literal, $($builder:ident)::+) => {
        #[cfg(feature = $feature)]
        fn $open(url: &Url, prefix: &str) -> Result<Bucket, BucketUrlError> {
            let store = object_store::$($builder)::+::from_env()
                .with_url(url.as_str())
                .build()
                .map_err(|error| BucketUrlError {
                    problem: format!("bucket {url} cannot be used"),
                    source: Some(crate::bucket::Cause(error).into()),
                })?;
            Ok(Bucket::of(Arc::new(store), prefix))
        }

        #[cfg(not(feature = $feature))]
        fn $open(_url: &Url, _prefix: &str) -> Result<Bucket, BucketUrlError> {
            Err(wrong(concat!(
                "this build knows no such buckets; build it with the feature ",
                $feature
            )))
        }
    };
}

cloud!(s3, "s3", aws::AmazonS3Builder);
cloud!(gcs, "gcs", gcp::GoogleCloudStorageBuilder);
cloud!(azure, "azure", azure::MicrosoftAzureBuilder);

fn wrong(problem: &str) -> BucketUrlError {
    BucketUrlError {
        problem: problem.to_owned(),
        source: None,
    }
}
