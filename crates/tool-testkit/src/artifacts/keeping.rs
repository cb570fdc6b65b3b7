//! What is put, got, listed and deleted.

use std::collections::HashSet;
use std::num::NonZeroUsize;
use std::time::Duration;

use serde_json::json;
use tool_core::{
    ArtifactDraft, ArtifactOrigin, ArtifactQuery, ArtifactRef, ArtifactStore, Digest, Facts,
    Payload,
};

use super::{ArtifactHarness, facts, is_there, kind, put};
use crate::report::{Failed, ensure};

const TWO: NonZeroUsize = NonZeroUsize::new(2).unwrap();

pub(super) async fn what_is_put_is_got<H: ArtifactHarness>(harness: &H) -> Result<(), Failed> {
    let store = harness.open();
    let facts = facts();
    let parent = put(&store, &facts, "parent").await?.meta.reference;
    let mut origin = ArtifactOrigin::unknown();
    origin.tool = Some("tool".to_owned());
    let end = harness.now() + Duration::from_secs(3_600);
    let draft = ArtifactDraft::new(kind("report/weekly")?)
        .media_type("text/markdown")
        .label("a label \u{1F600}")
        .expires(end)
        .origin(origin.clone())
        .parents([parent.clone()]);
    let text = "# ünï\u{1F600}";
    let kept = store.put(&facts, draft, text.into()).await?.meta;
    ensure(kept.kind == kind("report/weekly")?, "the kind changed")?;
    ensure(kept.media_type == "text/markdown", "the media type changed")?;
    ensure(
        kept.bytes == text.len() as u64,
        "bytes are not those of the UTF-8",
    )?;
    ensure(
        kept.label.as_deref() == Some("a label \u{1F600}"),
        "the label changed",
    )?;
    ensure(kept.origin == origin, "the origin changed")?;
    ensure(kept.parents == [parent], "the parents changed")?;
    ensure(kept.digest.is_none(), "a digest was not asked for")?;
    ensure(
        kept.expires.is_some_and(|at| at <= end),
        "the end was put off",
    )?;

    let head = store.head(&facts, kept.reference.as_str()).await?;
    ensure(
        head.as_ref() == Some(&kept),
        "head differs from what put said",
    )?;
    let got = store.get(&facts, kept.reference.as_str()).await?;
    let got = got.ok_or_else(|| Failed::new("what was put is not there"))?;
    ensure(got.kind == kept.kind, "get has another kind than put")?;
    ensure(
        got.payload == Payload::from(text),
        "get has another payload than put",
    )
}

pub(super) async fn each_shape_comes_back_as_it_was<H: ArtifactHarness>(
    harness: &H,
) -> Result<(), Failed> {
    let store = harness.open();
    let facts = facts();
    let every_byte: Vec<u8> = (0..=255).collect();
    let payloads: [Payload; 9] = [
        "".into(),
        "text\r\n\0\u{1F600}".into(),
        "{\"not\":\"json\"}".into(),
        Vec::new().into(),
        every_byte.into(),
        json!(null).into(),
        json!("a string").into(),
        json!({"b": [1, -1, 0.1, 1e-7, 1.797_693_134_862_315_7e308, u64::MAX, i64::MIN], "a": {}})
            .into(),
        json!([[], {}, "", true]).into(),
    ];
    for payload in payloads {
        let draft = ArtifactDraft::new(kind("any")?);
        let kept = store.put(&facts, draft, payload.clone()).await?.meta;
        ensure(
            kept.media_type == payload.media_type(),
            "the media type is not that of the shape",
        )?;
        ensure(
            kept.bytes == payload.to_bytes().len() as u64,
            "bytes are not those of the payload",
        )?;
        let got = store.get(&facts, kept.reference.as_str()).await?;
        ensure(
            got.is_some_and(|got| got.payload == payload),
            format!("{payload:?} came back as something else"),
        )?;
    }
    Ok(())
}

pub(super) async fn references_are_minted_and_not_derived<H: ArtifactHarness>(
    harness: &H,
) -> Result<(), Failed> {
    let store = harness.open();
    let mut seen = HashSet::new();
    for _ in 0..20 {
        let reference = put(&store, &facts(), "the same").await?.meta.reference;
        ensure(
            ArtifactRef::parse(reference.as_str()).is_some(),
            "a reference is not `art_` and 22 characters",
        )?;
        ensure(seen.insert(reference), "a reference was minted twice")?;
    }
    Ok(())
}

pub(super) async fn what_is_kept_is_detached<H: ArtifactHarness>(
    harness: &H,
) -> Result<(), Failed> {
    let store = harness.open();
    let facts = facts();
    let draft = ArtifactDraft::new(kind("any")?);
    let kept = store.put(&facts, draft, json!({"a": [1]}).into()).await?;
    let reference = kept.meta.reference.as_str();
    let mut got = store.get(&facts, reference).await?;
    if let Some(artifact) = &mut got {
        artifact.payload = json!("changed").into();
    }
    let again = store.get(&facts, reference).await?;
    ensure(
        again.is_some_and(|again| again.payload == json!({"a": [1]}).into()),
        "a change of what was got changed what is kept",
    )
}

pub(super) async fn expiry_is_stated_when_it_is_put<H: ArtifactHarness>(
    harness: &H,
) -> Result<(), Failed> {
    let store = harness.open();
    let facts = facts();
    let end = harness.now() + Duration::from_secs(60);
    let draft = ArtifactDraft::new(kind("brief")?).expires(end);
    let brief = store.put(&facts, draft, "brief".into()).await?.meta;
    ensure(
        brief.expires == Some(end),
        "the end is not the one that was asked for",
    )?;
    let reference = &brief.reference;
    ensure(
        is_there(&store, &facts, reference).await?,
        "it is gone before its end",
    )?;
    if !harness.advance(Duration::from_secs(60)) {
        return Err(Failed::no_hook("advance"));
    }
    ensure(
        !is_there(&store, &facts, reference).await?,
        "it is there at its end",
    )?;
    let listed = store.list(&facts, ArtifactQuery::new()).await?.artifacts;
    ensure(listed.is_empty(), "it is listed after its end")?;
    let draft = ArtifactDraft::new(kind("note")?).parents([reference.clone()]);
    let child = store.put(&facts, draft, "child".into()).await;
    ensure(child.is_err(), "it is a parent after its end")
}

pub(super) async fn deleting_is_agreement<H: ArtifactHarness>(harness: &H) -> Result<(), Failed> {
    let store = harness.open();
    let facts = facts();
    let (one, other) = (
        put(&store, &facts, "one").await?.meta.reference,
        put(&store, &facts, "other").await?.meta.reference,
    );
    let stranger = Facts::new().session("s2");
    store.delete(&stranger, one.as_str()).await?;
    ensure(
        is_there(&store, &facts, &one).await?,
        "a stranger deleted it",
    )?;
    for _ in 0..2 {
        store.delete(&facts, one.as_str()).await?;
        ensure(
            !is_there(&store, &facts, &one).await?,
            "it is there after it was deleted",
        )?;
    }
    store.delete(&facts, "no reference at all").await?;
    ensure(
        is_there(&store, &facts, &other).await?,
        "another one was deleted",
    )
}

pub(super) async fn what_is_forgotten_is_gone<H: ArtifactHarness>(
    harness: &H,
) -> Result<(), Failed> {
    let store = harness.open();
    let facts = facts();
    let (one, other) = (
        put(&store, &facts, "one").await?.meta.reference,
        put(&store, &facts, "other").await?.meta.reference,
    );
    store.forget(&Facts::new().session("s2"), one.as_str());
    ensure(
        is_there(&store, &facts, &one).await?,
        "a stranger had it forgotten",
    )?;
    for _ in 0..2 {
        store.forget(&facts, one.as_str());
        ensure(
            !is_there(&store, &facts, &one).await?,
            "it is there after it was forgotten",
        )?;
        let listed = store.list(&facts, ArtifactQuery::new()).await?.artifacts;
        let listed: Vec<_> = listed.iter().map(|meta| &meta.reference).collect();
        ensure(
            listed == [&other],
            "another list than that of what was not forgotten",
        )?;
    }
    store.forget(&facts, "no reference at all");
    ensure(
        is_there(&store, &facts, &other).await?,
        "another one was forgotten",
    )
}

pub(super) async fn lists_are_paged_newest_first<H: ArtifactHarness>(
    harness: &H,
) -> Result<(), Failed> {
    let store = harness.open();
    let facts = facts();
    let empty = store.list(&facts, ArtifactQuery::new()).await?;
    ensure(
        empty.artifacts.is_empty() && empty.next.is_none(),
        "an empty store lists something",
    )?;
    let mut put_first = Vec::new();
    for number in 0..5 {
        let kept = put(&store, &facts, format!("number {number}")).await?;
        put_first.insert(0, kept.meta);
    }
    let (mut listed, mut cursor, mut pages) = (Vec::new(), None, 0);
    loop {
        let query = ArtifactQuery::new().limit(TWO).after(cursor);
        let page = store.list(&facts, query).await?;
        ensure(page.artifacts.len() <= 2, "a page is longer than its limit")?;
        listed.extend(page.artifacts);
        pages += 1;
        cursor = page.next;
        if cursor.is_none() || pages > 9 {
            break;
        }
    }
    ensure(
        pages == 3,
        "five artifacts, two to a page, are not three pages",
    )?;
    ensure(
        listed == put_first,
        "the list is not what was put, the newest first",
    )?;
    for number in 0..46 {
        put(&store, &facts, format!("more {number}")).await?;
    }
    let page = store.list(&facts, ArtifactQuery::new()).await?;
    ensure(
        page.artifacts.len() == 50,
        "a page has not 50 unless said otherwise",
    )?;
    ensure(page.next.is_some(), "there is more and no cursor")
}

pub(super) async fn a_page_is_not_moved_by_what_comes_and_goes<H: ArtifactHarness>(
    harness: &H,
) -> Result<(), Failed> {
    let store = harness.open();
    let facts = facts();
    let mut references = Vec::new();
    for number in 0..5 {
        references.push(
            put(&store, &facts, format!("{number}"))
                .await?
                .meta
                .reference,
        );
    }
    let first = store.list(&facts, ArtifactQuery::new().limit(TWO)).await?;
    let shown: Vec<ArtifactRef> = first
        .artifacts
        .into_iter()
        .map(|meta| meta.reference)
        .collect();
    put(&store, &facts, "in between").await?;
    for gone in &shown {
        store.delete(&facts, gone.as_str()).await?;
    }
    let query = ArtifactQuery::new().after(first.next);
    let rest = store.list(&facts, query).await?.artifacts;
    let rest: Vec<ArtifactRef> = rest.into_iter().map(|meta| meta.reference).collect();
    references.truncate(3);
    references.reverse();
    ensure(
        rest == references,
        "what was put and deleted between two pages moved the second",
    )
}

pub(super) async fn kinds_are_listed_exactly<H: ArtifactHarness>(
    harness: &H,
) -> Result<(), Failed> {
    let store = harness.open();
    let facts = facts();
    for word in ["a", "a/b", "a/b", "A", "a/*"] {
        let draft = ArtifactDraft::new(kind(word)?);
        store.put(&facts, draft, "x".into()).await?;
    }
    for (word, count) in [("a", 1), ("a/b", 2), ("a/*", 1), ("b", 0)] {
        let query = ArtifactQuery::new().kind(kind(word)?);
        let listed = store.list(&facts, query).await?.artifacts;
        ensure(
            listed.len() == count && listed.iter().all(|meta| meta.kind.as_str() == word),
            format!("the kind {word} is not matched exactly"),
        )?;
    }
    Ok(())
}

pub(super) async fn a_digest_rides_along<H: ArtifactHarness>(harness: &H) -> Result<(), Failed> {
    let store = harness.open();
    let facts = facts();
    let draft = ArtifactDraft::new(kind("any")?).with_digest();
    let kept = store.put(&facts, draft, "data".into()).await?.meta;
    let expected = Digest::of(b"data").to_string();
    ensure(
        kept.digest.as_deref() == Some(&*expected),
        "the digest is not `sha-256:` and that of the bytes",
    )?;
    let head = store.head(&facts, kept.reference.as_str()).await?;
    ensure(
        head.and_then(|head| head.digest).as_deref() == Some(&*expected),
        "head has no digest",
    )?;
    ensure(
        is_there(&store, &facts, &kept.reference).await?,
        "it is not there",
    )
}
