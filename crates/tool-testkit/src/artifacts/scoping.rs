//! Whose artifacts are whose.

use tool_core::{ArtifactQuery, ArtifactStore, Facts, Identification};

use super::{ArtifactHarness, facts, is_there, put};
use crate::report::{Failed, ensure};

pub(super) async fn a_reference_alone_opens_nothing<H: ArtifactHarness>(
    harness: &H,
) -> Result<(), Failed> {
    let store = harness.open();
    let owner = facts().identity(Identification::principal("ann").tenant("acme"));
    let reference = put(&store, &owner, "secret").await?.meta.reference;
    let others = [
        Facts::new(),
        facts(),
        facts().identity(Identification::principal("ann")),
        facts().identity(Identification::principal("bob").tenant("acme")),
        facts().identity(Identification::principal("ann").tenant("other")),
        Facts::new()
            .session("s2")
            .identity(Identification::principal("ann").tenant("acme")),
        Facts::new()
            .run("s1")
            .identity(Identification::principal("ann").tenant("acme")),
    ];
    for other in others {
        ensure(
            !is_there(&store, &other, &reference).await?,
            "a stranger gets it",
        )?;
        let listed = store.list(&other, ArtifactQuery::new()).await?.artifacts;
        ensure(listed.is_empty(), "a stranger finds it listed")?;
    }
    let same = owner.agent("another agent").run("another run");
    ensure(
        is_there(&store, &same, &reference).await?,
        "its owner does not get it",
    )
}

pub(super) async fn scopes_that_look_alike_are_apart<H: ArtifactHarness>(
    harness: &H,
) -> Result<(), Failed> {
    let identity = |tenant: &str, principal: &str| {
        Facts::new().identity(Identification::principal(principal).tenant(tenant))
    };
    let scopes = [
        Facts::new(),
        Facts::new().session(""),
        Facts::new().session("_"),
        Facts::new().session("s"),
        Facts::new().session("S"),
        Facts::new().session("s "),
        Facts::new().session("%73"),
        Facts::new().session("s/s"),
        Facts::new().session("s%2Fs"),
        Facts::new().session("s=s"),
        Facts::new().run("s"),
        identity("a", "b"),
        identity("a/b", ""),
        identity("", "a/b"),
        identity("ab", ""),
        identity("b", "a"),
        identity("a", "b").session("c"),
        identity("a", "").session("b/c"),
        Facts::new().identity(Identification::principal("a")),
        Facts::new().identity(Identification::principal("a").tenant("")),
        // One character and two that look the same.
        Facts::new().session("\u{e9}"),
        Facts::new().session("e\u{301}"),
    ];
    let store = harness.open();
    let mut references = Vec::new();
    for scope in &scopes {
        references.push(put(&store, scope, "own").await?.meta.reference);
    }
    for (at, scope) in scopes.iter().enumerate() {
        for (whose, reference) in references.iter().enumerate() {
            ensure(
                is_there(&store, scope, reference).await? == (at == whose),
                format!("scopes {at} and {whose} of this case are not told apart"),
            )?;
        }
        let listed = store.list(scope, ArtifactQuery::new()).await?.artifacts;
        ensure(
            listed.len() == 1,
            format!("scope {at} of this case lists others"),
        )?;
    }
    Ok(())
}

pub(super) async fn scopes_of_any_text_work<H: ArtifactHarness>(harness: &H) -> Result<(), Failed> {
    let store = harness.open();
    let long = "long ".repeat(1_000);
    let awkward = [
        "/",
        "..",
        "../../etc",
        ".",
        "a\\b",
        "C:",
        "con",
        "\0",
        "\n",
        "'; DROP TABLE artifacts; --",
        "%00",
        "\u{1F600}",
        "\u{202e}",
        "*",
        "?",
        "~",
        " ",
        &long,
    ];
    for text in awkward {
        let facts = Facts::new()
            .session(text)
            .identity(Identification::principal(text).tenant(text));
        let reference = put(&store, &facts, text).await?.meta.reference;
        ensure(
            is_there(&store, &facts, &reference).await?,
            "it is not there",
        )?;
        store.delete(&facts, reference.as_str()).await?;
        ensure(
            !is_there(&store, &facts, &reference).await?,
            "it cannot be deleted",
        )?;
    }
    Ok(())
}

pub(super) async fn there_is_one_absence<H: ArtifactHarness>(harness: &H) -> Result<(), Failed> {
    let store = harness.open();
    let facts = facts();
    let gone = put(&store, &facts, "gone").await?.meta.reference;
    store.delete(&facts, gone.as_str()).await?;
    let foreign = put(&store, &Facts::new().session("s2"), "foreign")
        .await?
        .meta
        .reference;
    let never = "art_0123456789ABCDEFGHabcd";
    for reference in [gone.as_str(), foreign.as_str(), never] {
        ensure(
            store.get(&facts, reference).await?.is_none(),
            "an absence is got",
        )?;
        ensure(
            store.head(&facts, reference).await?.is_none(),
            "an absence has a head",
        )?;
    }
    Ok(())
}
