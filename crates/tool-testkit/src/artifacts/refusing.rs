//! What is refused, and in which words.

use std::time::Duration;

use serde_json::Value;
use tool_core::{
    ArtifactDraft, ArtifactErrorKind, ArtifactQuery, ArtifactRef, ArtifactStore, Facts,
    Identification, Payload,
};

use super::{ArtifactHarness, bounded, ensure_refused, facts, kind, put};
use crate::report::{Failed, ensure};

pub(super) async fn parents_are_proven<H: ArtifactHarness>(harness: &H) -> Result<(), Failed> {
    let store = harness.open();
    let facts = facts();
    let own = put(&store, &facts, "own").await?.meta.reference;
    let foreign = put(&store, &Facts::new().session("s2"), "foreign")
        .await?
        .meta
        .reference;
    let never = ArtifactRef::from("art_0123456789ABCDEFGHabcd");
    let parents = [own.clone(), foreign.clone(), never.clone()];
    let draft = ArtifactDraft::new(kind("child")?).parents(parents);
    let Err(error) = store.put(&facts, draft, "child".into()).await else {
        return Err(Failed::new("a child of nobody was taken in"));
    };
    ensure(
        error.kind() == ArtifactErrorKind::UnknownParent,
        "the error is of another kind",
    )?;
    ensure(
        error.unresolved() == [foreign, never],
        "the error names other parents",
    )?;
    let listed = store.list(&facts, ArtifactQuery::new()).await?.artifacts;
    ensure(listed.len() == 1, "the refused child is there")?;
    let draft = ArtifactDraft::new(kind("child")?).parents([own.clone()]);
    let child = store.put(&facts, draft, "child".into()).await?.meta;
    ensure(child.parents == [own], "the child lost its parent")
}

pub(super) async fn what_is_wrong_in_itself_is_refused<H: ArtifactHarness>(
    harness: &H,
) -> Result<(), Failed> {
    let store = harness.open();
    let facts = facts();
    let draft = || kind("any").map(ArtifactDraft::new);
    let now = harness.now();
    let wrong = [
        draft()?.media_type(""),
        draft()?.media_type(" \t"),
        draft()?.expires(now),
        draft()?.expires(now - Duration::from_secs(1)),
    ];
    for draft in wrong {
        let put = store.put(&facts, draft, "data".into()).await;
        ensure_refused(
            put,
            ArtifactErrorKind::Invalid,
            "a wrong draft was not refused as such",
        )?;
    }
    // What is taken in can be read back, so what nests too deep is not.
    let deep = (0..500).fold(Value::Null, |inner, _| Value::Array(vec![inner]));
    let put = store.put(&facts, draft()?, Payload::Json(deep)).await;
    if let Ok(kept) = put {
        let got = store.get(&facts, kept.meta.reference.as_str()).await?;
        ensure(got.is_some(), "JSON was taken in that cannot be read back")?;
        store.delete(&facts, kept.meta.reference.as_str()).await?;
    }
    let query = ArtifactQuery::new().after(Some("no cursor".to_owned()));
    let listed = store.list(&facts, query).await;
    ensure_refused(
        listed,
        ArtifactErrorKind::Invalid,
        "a cursor that is none was taken",
    )?;
    let listed = store.list(&facts, ArtifactQuery::new()).await?.artifacts;
    ensure(listed.is_empty(), "something that was refused is there")
}

pub(super) async fn malformed_references_are_absent<H: ArtifactHarness>(
    harness: &H,
) -> Result<(), Failed> {
    let store = harness.open();
    let facts = facts();
    let there = put(&store, &facts, "there").await?.meta.reference;
    let there = there.as_str();
    let malformed = [
        "",
        "art_",
        "../secret",
        "/etc/passwd",
        "art_/../../../etc/passwd",
        "art_0123456789ABCDEFGH\0bcd",
        "art_0123456789ABCDEFGHab%d",
        "art_'; DROP TABLE artifac",
        &format!("{there} "),
        &format!(" {there}"),
        &format!("{there}0"),
        &there.to_uppercase(),
        &"art_0".repeat(10_000),
    ];
    for reference in malformed {
        ensure(
            store.get(&facts, reference).await?.is_none(),
            "a malformed reference is got",
        )?;
        ensure(
            store.head(&facts, reference).await?.is_none(),
            "a malformed reference has a head",
        )?;
        store.delete(&facts, reference).await?;
    }
    ensure(store.get(&facts, there).await?.is_some(), "it is gone")
}

pub(super) async fn refusals_carry_no_secrets<H: ArtifactHarness>(
    harness: &H,
) -> Result<(), Failed> {
    let canary = "canary-5f1b";
    let store = bounded(harness, 100, 9)?;
    let facts = Facts::new()
        .session(canary)
        .identity(Identification::principal(canary).tenant(canary));
    let draft = || kind(canary).map(|kind| ArtifactDraft::new(kind).label(canary));
    let never = ArtifactRef::from("art_0123456789ABCDEFGHabcd");
    let refused = [
        store
            .put(&facts, draft()?.media_type(" "), canary.into())
            .await
            .err(),
        store
            .put(&facts, draft()?, canary.repeat(100).into())
            .await
            .err(),
        store
            .put(&facts, draft()?.parents([never]), canary.into())
            .await
            .err(),
        store
            .list(&facts, ArtifactQuery::new().after(Some(canary.to_owned())))
            .await
            .err(),
    ];
    for error in refused {
        let error = error.ok_or_else(|| Failed::new("something wrong was not refused"))?;
        let mut chain = format!("{error} {error:?}");
        let mut cause = std::error::Error::source(&error);
        while let Some(error) = cause {
            chain.push_str(&format!(" {error} {error:?}"));
            cause = error.source();
        }
        ensure(
            !chain.contains(canary),
            "a refusal repeats what it was given",
        )?;
    }
    Ok(())
}

pub(super) async fn getting_refuses_what_was_changed<H: ArtifactHarness>(
    harness: &H,
) -> Result<(), Failed> {
    let store = harness.open();
    let facts = facts();
    let draft = ArtifactDraft::new(kind("any")?).with_digest();
    let kept = store
        .put(&facts, draft, "some data that is whole".into())
        .await?
        .meta;
    if !harness.corrupt(&store, &facts, &kept.reference) {
        return Err(Failed::no_hook("corrupt"));
    }
    let error = store.get(&facts, kept.reference.as_str()).await.err();
    let error = error.ok_or_else(|| Failed::new("changed bytes were given out"))?;
    ensure(
        error.kind() == ArtifactErrorKind::Integrity,
        "the error is of another kind",
    )?;
    let text = error.to_string();
    ensure(
        text.contains(kept.reference.as_str()),
        "the error does not name the artifact",
    )?;
    let expected = kept.digest.as_deref().unwrap_or_default();
    ensure(
        text.contains(expected),
        "the error does not say what was expected",
    )?;
    let head = store.head(&facts, kept.reference.as_str()).await?;
    ensure(head.as_ref() == Some(&kept), "head does not answer for it")
}
