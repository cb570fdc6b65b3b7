//! What it costs to keep long output in a bucket that holds few and many, without a network.

use std::error::Error;

use futures_executor::block_on;
use tool_core::{Bound, Content, Facts, OutputStore as _, PageRequest, Retention};
use tool_storage::{Bucket, BucketOutputs};

use crate::report::Report;
use crate::rounds::Contender;
use crate::rows::{Row, row};

const BUCKET: &[Row] = &[
    row(
        "bucket put@10000",
        "bucket put@10000",
        "bucket put@10",
        Some(1.5),
    ),
    row(
        "bucket page@10000",
        "bucket page@10000",
        "bucket page@10",
        Some(1.5),
    ),
];

/// Storing and reading in buckets in memory of few and of many outputs. Listing asks a bucket for
/// all names, which no store gives in less time than there are names.
pub fn measure(report: &mut Report, rounds: u32) -> Result<(), Box<dyn Error>> {
    if !report.asks_for("bucket", BUCKET) {
        return Ok(());
    }
    let (few, many) = (bucket_of(10)?, bucket_of(10_000)?);
    let put = |store: &BucketOutputs| {
        let store = store.clone();
        async move || {
            let bounded = keep(&store, 4_096).await;
            if let Ok(bounded) = bounded {
                store.forget(&bounded.retained);
            }
        }
    };
    report.measure(
        "bucket",
        "storing 4 KiB in a bucket in memory and forgetting it again",
        &[
            Contender::awaited("bucket put@10", put(&few.0)),
            Contender::awaited("bucket put@10000", put(&many.0)),
        ],
        rounds,
        &BUCKET[..1],
    );
    let page = |(store, id): &(BucketOutputs, String)| {
        let (store, id) = (store.clone(), id.clone());
        async move || {
            let page = store.page(PageRequest::new(&id, None)).await;
            page.map(|page| page.bytes.len()).ok()
        }
    };
    report.measure(
        "bucket",
        "a page of 100 bytes",
        &[
            Contender::awaited("bucket page@10", page(&few)),
            Contender::awaited("bucket page@10000", page(&many)),
        ],
        rounds,
        &BUCKET[1..],
    );
    Ok(())
}

/// A store of so many outputs, and the id of the last.
fn bucket_of(outputs: usize) -> Result<(BucketOutputs, String), Box<dyn Error>> {
    let store = BucketOutputs::builder(Bucket::from_url("memory:///")?).build();
    let mut last = String::new();
    for _ in 0..outputs {
        last = block_on(keep(&store, 100))?.retained.id;
    }
    Ok((store, last))
}

async fn keep(
    store: &BucketOutputs,
    bytes: usize,
) -> Result<tool_core::Bounded, tool_core::StoreError> {
    let facts = Facts::new().session("s");
    let content = vec![Content::text("y".repeat(bytes))];
    let bound = Bound::new(64, 10).unwrap_or_default();
    store
        .bound(Retention::new(content, bound, &facts, "bench"))
        .await
}
