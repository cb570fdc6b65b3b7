//! An S3 server on loopback, gone with its guard.
//!
//! It is `s3s-fs`, which speaks the protocol and keeps objects in a folder. What it lacks to stand
//! for a real one is that it looks at conditions and puts in two steps, and keeps tags beside their
//! objects: two puts at once both win, and a tag may be that of the value before. Here changes take
//! turns, which makes each of them one step.

use std::sync::Arc;

use async_trait::async_trait;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use s3s::auth::SimpleAuth;
use s3s::dto::*;
use s3s::service::S3ServiceBuilder;
use s3s::{S3, S3Request, S3Response, S3Result};
use s3s_fs::FileSystem;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::RwLock;
use tool_runtime::storage::object_store::aws::{AmazonS3, AmazonS3Builder};

/// A server with one bucket, and who may use it.
pub(super) struct Server {
    runtime: Option<Runtime>,
    pub(super) endpoint: String,
    folder: TempDir,
}

pub(super) const BUCKET: &str = "shared";
pub(super) const KEY: &str = "test-key";
pub(super) const SECRET: &str = "test-secret";
pub(super) const REGION: &str = "us-east-1";

impl Server {
    pub(super) fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join(BUCKET)).unwrap();
        let files = FileSystem::new(folder.path()).unwrap();
        let mut builder = S3ServiceBuilder::new(InTurn {
            files,
            turn: RwLock::default(),
        });
        builder.set_auth(SimpleAuth::from_single(KEY, SECRET));
        let service = builder.build();

        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        runtime.spawn(async move {
            let listener = TcpListener::from_std(listener).unwrap();
            let http = Arc::new(Builder::new(TokioExecutor::new()));
            while let Ok((socket, _)) = listener.accept().await {
                let (http, service) = (Arc::clone(&http), service.clone());
                tokio::spawn(async move {
                    // A client that goes away is no business of the server's.
                    let _ = http.serve_connection(TokioIo::new(socket), service).await;
                });
            }
        });
        Self {
            runtime: Some(runtime),
            endpoint,
            folder,
        }
    }

    /// A client of the bucket.
    pub(super) fn client(&self) -> AmazonS3 {
        client(&self.endpoint)
    }

    /// Where it keeps everything.
    pub(super) fn folder(&self) -> &std::path::Path {
        self.folder.path()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

pub(super) fn client(endpoint: &str) -> AmazonS3 {
    AmazonS3Builder::new()
        .with_endpoint(endpoint)
        .with_allow_http(true)
        .with_bucket_name(BUCKET)
        .with_region(REGION)
        .with_access_key_id(KEY)
        .with_secret_access_key(SECRET)
        .build()
        .unwrap()
}

/// The files of the server, changed by one at a time.
struct InTurn {
    files: FileSystem,
    turn: RwLock<()>,
}

macro_rules! passed_on {
    ($($turn:ident: $($verb:ident($input:ty) -> $output:ty),*;)*) => {
        #[async_trait]
        impl S3 for InTurn {
            $($(
                async fn $verb(&self, request: S3Request<$input>) -> S3Result<S3Response<$output>> {
                    let _turn = self.turn.$turn().await;
                    self.files.$verb(request).await
                }
            )*)*
        }
    };
}

passed_on! {
    write:
        put_object(PutObjectInput) -> PutObjectOutput,
        delete_object(DeleteObjectInput) -> DeleteObjectOutput,
        delete_objects(DeleteObjectsInput) -> DeleteObjectsOutput,
        create_multipart_upload(CreateMultipartUploadInput) -> CreateMultipartUploadOutput,
        complete_multipart_upload(CompleteMultipartUploadInput) -> CompleteMultipartUploadOutput,
        abort_multipart_upload(AbortMultipartUploadInput) -> AbortMultipartUploadOutput;
    read:
        upload_part(UploadPartInput) -> UploadPartOutput,
        get_object(GetObjectInput) -> GetObjectOutput,
        head_object(HeadObjectInput) -> HeadObjectOutput,
        list_objects_v2(ListObjectsV2Input) -> ListObjectsV2Output;
}
