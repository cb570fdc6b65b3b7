//! What comes and goes in pieces.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_core::Stream;
use tool_core::{
    ArtifactDraft, ArtifactErrorKind, ArtifactQuery, ArtifactStore, ByteStream, Digest, Payload,
    StreamingArtifacts,
};

use super::{ArtifactHarness, bounded, ensure_refused, facts, kind, put};
use crate::report::{Failed, ensure};

type Piece = Result<Bytes, Box<dyn std::error::Error + Send + Sync>>;

/// Pieces that are there already.
struct Pieces(std::vec::IntoIter<Piece>);

impl Stream for Pieces {
    type Item = Piece;

    fn poll_next(mut self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<Option<Piece>> {
        Poll::Ready(self.0.next())
    }
}

fn pieces(pieces: Vec<Piece>) -> ByteStream<'static> {
    Box::pin(Pieces(pieces.into_iter()))
}

fn texts(texts: &[&'static str]) -> ByteStream<'static> {
    pieces(
        texts
            .iter()
            .map(|text| Ok(Bytes::from_static(text.as_bytes())))
            .collect(),
    )
}

async fn read(mut stream: ByteStream<'static>) -> Result<Vec<u8>, Failed> {
    let mut read = Vec::new();
    while let Some(piece) = std::future::poll_fn(|cx| stream.as_mut().poll_next(cx)).await {
        read.extend_from_slice(&piece.map_err(|error| Failed::new(error.to_string()))?);
    }
    Ok(read)
}

fn streams(store: &impl ArtifactStore) -> Result<&dyn StreamingArtifacts, Failed> {
    store.streams().ok_or_else(Failed::not_applicable)
}

pub(super) async fn streaming_is_detected<H: ArtifactHarness>(harness: &H) -> Result<(), Failed> {
    let store = harness.open();
    let streams = streams(&store)?;
    let facts = facts();
    let kept = put(&store, &facts, "one store").await?.meta;
    let got = streams.get_stream(&facts, kept.reference.as_str()).await?;
    let (meta, stream) = got.ok_or_else(|| Failed::new("the streams are of another store"))?;
    ensure(meta == kept, "the stream comes with another meta")?;
    ensure(
        read(stream).await? == b"one store",
        "the stream has other bytes",
    )
}

pub(super) async fn a_stream_is_kept_as_a_payload_is<H: ArtifactHarness>(
    harness: &H,
) -> Result<(), Failed> {
    let store = harness.open();
    let streams = streams(&store)?;
    let facts = facts();
    let draft = ArtifactDraft::new(kind("any")?).with_digest();
    let stream = texts(&["ab", "", "c", "defgh"]);
    let kept = streams.put_stream(&facts, draft, 8, stream).await?.meta;
    ensure(kept.bytes == 8, "bytes are not those of the stream")?;
    let digest = Digest::of(b"abcdefgh").to_string();
    ensure(
        kept.digest == Some(digest),
        "the digest is not that of the stream",
    )?;
    let got = store.get(&facts, kept.reference.as_str()).await?;
    ensure(
        got.is_some_and(|got| got.payload == Payload::from(b"abcdefgh".to_vec())),
        "the bytes are not those of the stream",
    )?;
    let large: Vec<Piece> = (0..100_u8)
        .map(|number| Ok(Bytes::from(vec![number; 10_000])))
        .collect();
    let draft = ArtifactDraft::new(kind("any")?);
    let kept = streams
        .put_stream(&facts, draft, 1_000_000, pieces(large))
        .await?
        .meta;
    let got = streams.get_stream(&facts, kept.reference.as_str()).await?;
    let (_, stream) = got.ok_or_else(|| Failed::new("what was put is not there"))?;
    let expected: Vec<u8> = (0..100_u8)
        .flat_map(|number| vec![number; 10_000])
        .collect();
    ensure(
        read(stream).await? == expected,
        "a large stream came back as another",
    )?;
    let empty = ArtifactDraft::new(kind("any")?);
    let kept = streams.put_stream(&facts, empty, 0, texts(&[])).await?.meta;
    let got = streams.get_stream(&facts, kept.reference.as_str()).await?;
    let (_, stream) = got.ok_or_else(|| Failed::new("an empty stream is not there"))?;
    ensure(read(stream).await?.is_empty(), "an empty stream has bytes")
}

pub(super) async fn a_stream_of_another_length_leaves_nothing<H: ArtifactHarness>(
    harness: &H,
) -> Result<(), Failed> {
    let store = bounded(harness, 100, 1)?;
    let streams = streams(&store)?;
    let facts = facts();
    let there = put(&store, &facts, "there").await?.meta;
    let broken = || {
        pieces(vec![
            Ok(Bytes::from_static(b"ab")),
            Err("the source of the stream is gone".into()),
        ])
    };
    for (declared, stream, expected) in [
        (9, texts(&["abc"]), ArtifactErrorKind::Invalid),
        (2, texts(&["abc"]), ArtifactErrorKind::Invalid),
        (0, texts(&["abc"]), ArtifactErrorKind::Invalid),
        (4, broken(), ArtifactErrorKind::Io),
        (101, texts(&["abc"]), ArtifactErrorKind::TooLarge),
    ] {
        let draft = ArtifactDraft::new(kind("any")?);
        let refused = streams.put_stream(&facts, draft, declared, stream).await;
        ensure_refused(
            refused,
            expected,
            format!("a stream declared as {declared} bytes was not refused as {expected:?}"),
        )?;
    }
    let listed = store.list(&facts, ArtifactQuery::new()).await?.artifacts;
    ensure(
        listed == [there],
        "a refused stream left something, or made something leave",
    )
}

pub(super) async fn a_stream_is_given_without_verifying<H: ArtifactHarness>(
    harness: &H,
) -> Result<(), Failed> {
    let store = harness.open();
    let streams = streams(&store)?;
    let facts = facts();
    let draft = ArtifactDraft::new(kind("any")?).with_digest();
    let kept = streams
        .put_stream(&facts, draft, 8, texts(&["whole", "now"]))
        .await?
        .meta;
    if !harness.corrupt(&store, &facts, &kept.reference) {
        return Err(Failed::no_hook("corrupt"));
    }
    let got = streams.get_stream(&facts, kept.reference.as_str()).await?;
    let (meta, stream) = got.ok_or_else(|| Failed::new("changed bytes are absent"))?;
    ensure(
        meta.digest == kept.digest,
        "the digest is not in the meta of the stream",
    )?;
    let read = read(stream).await?;
    ensure(read.len() == 8, "the stream has another length")
}
