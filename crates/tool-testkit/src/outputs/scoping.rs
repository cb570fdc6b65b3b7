//! Whose outputs are whose.

use tool_core::{ErrorChain, Facts, Identification, OutputStore, PageRequest};

use super::{OutputHarness, facts, is_absent, keep, page};
use crate::report::{Failed, ensure};

/// Callers that are not the one of [`facts`].
fn strangers() -> Vec<Facts> {
    let identity = |name: &str| Identification::principal(name).tenant("t");
    vec![
        Facts::new(),
        Facts::new().session("s2"),
        Facts::new().session("S1"),
        Facts::new().session("s1 "),
        Facts::new().session("s1").identity(identity("p")),
        Facts::new().run("s1"),
        Facts::new().agent("s1"),
    ]
}

pub(super) async fn only_its_caller_reads_an_output<H: OutputHarness>(
    harness: &H,
) -> Result<(), Failed> {
    let store = harness.open().await;
    let id = keep(&store, &facts(), "x".repeat(2_000)).await?;
    page(&store, &id, Some(&facts())).await?;
    // Agent, message and run say nothing about whose it is.
    let same = facts().agent("a").run("r").message("m");
    page(&store, &id, Some(&same)).await?;
    page(&store, &id, None).await?;
    for stranger in strangers() {
        let read = page(&store, &id, Some(&stranger)).await;
        ensure(is_absent(&read), "a stranger reads it")?;
    }
    let nobody = Facts::new();
    let id = keep(&store, &nobody, "y".repeat(2_000)).await?;
    page(&store, &id, Some(&nobody)).await?;
    let read = page(&store, &id, Some(&facts())).await;
    ensure(is_absent(&read), "what has no session is read by one")
}

pub(super) async fn there_is_one_absence_for_callers<H: OutputHarness>(
    harness: &H,
) -> Result<(), Failed> {
    let store = harness.open().await;
    let id = keep(&store, &facts(), "x".repeat(2_000)).await?;
    let unknown = never_given(&id);
    for (id, caller) in [
        (id.as_str(), Facts::new().session("s2")),
        (unknown.as_str(), facts()),
    ] {
        let read = page(&store, id, Some(&caller)).await;
        ensure(is_absent(&read), "an absence is told by its kind")?;
        for offset in [0, 1_000_000] {
            let request = PageRequest::new(id, Some(&caller)).offset(offset);
            let read = store.page(request).await;
            ensure(is_absent(&read), "an absence depends on the offset")?;
        }
    }
    Ok(())
}

/// An id of the same form that nothing has.
fn never_given(id: &str) -> String {
    let mut letters: Vec<char> = id.chars().collect();
    if let Some(last) = letters.last_mut() {
        *last = if *last == '0' { '1' } else { '0' };
    }
    letters.into_iter().collect()
}

pub(super) async fn what_is_no_id_is_absent_and_not_repeated<H: OutputHarness>(
    harness: &H,
) -> Result<(), Failed> {
    let store = harness.open().await;
    let id = keep(&store, &facts(), "x".repeat(2_000)).await?;
    let names = [
        String::new(),
        ".".to_owned(),
        format!("../{id}"),
        format!("x/../{id}"),
        format!("{id}/"),
        format!("{id}\0"),
        id.to_uppercase(),
        format!("/canary/{}", "c".repeat(5_000)),
    ];
    for name in &names {
        for caller in [Some(facts()), None] {
            let read = page(&store, name, caller.as_ref()).await;
            ensure(is_absent(&read), "what is no id is read")?;
            if let Err(error) = read {
                let said = ErrorChain::of(&error).to_string();
                ensure(!said.contains("canary"), "what was asked for is repeated")?;
            }
        }
    }
    Ok(())
}

pub(super) async fn errors_carry_no_secrets<H: OutputHarness>(harness: &H) -> Result<(), Failed> {
    const SECRETS: [&str; 4] = [
        "canary-text",
        "canary-session",
        "canary-user",
        "canary-tenant",
    ];
    let [text, session, user, tenant] = SECRETS;
    let owner = Facts::new()
        .session(session)
        .identity(Identification::principal(user).tenant(tenant));
    let store = super::limited(harness, 4_000, 8_000).await?;
    let id = keep(&store, &owner, text.repeat(200)).await?;
    let (stranger, unknown) = (facts(), never_given(&id));
    let told = [
        page(&store, &id, Some(&stranger)).await.map(|_| ()),
        page(&store, &unknown, Some(&owner)).await.map(|_| ()),
        too_large(&store, &owner, text).await,
    ];
    for told in told {
        let Err(error) = told else {
            return Err(Failed::new("what had to be refused was done"));
        };
        let (chain, debug) = (ErrorChain::of(&error).to_string(), format!("{error:?}"));
        for secret in SECRETS {
            let holds = chain.contains(secret) || debug.contains(secret);
            ensure(!holds, "an error holds a secret")?;
        }
    }
    Ok(())
}

async fn too_large(
    store: &impl OutputStore,
    facts: &Facts,
    text: &str,
) -> Result<(), tool_core::StoreError> {
    let content = vec![tool_core::Content::text(text.repeat(1_000))];
    let retention = tool_core::Retention::new(content, tool_core::Bound::DEFAULT, facts, "tool");
    store.bound(retention).await.map(|_| ())
}
