//! What may happen once.

use std::time::Duration;

use tool_core::State as _;

use super::{KEYS, StateHarness, drive, later};
use crate::report::{Failed, ensure};

pub(super) async fn a_key_is_claimed_once<H: StateHarness>(harness: &H) -> Result<(), Failed> {
    let state = harness.open();
    let until = later(harness);
    ensure(state.claim("key", until).await?, "a new key is not new")?;
    let again = state.claim("key", until).await?;
    let longer = state.claim("key", until + Duration::from_secs(9)).await?;
    ensure(!again && !longer, "a key is claimed twice")?;
    ensure(state.claim("other", until).await?, "another key is not new")
}

pub(super) async fn keys_of_any_text_are_apart<H: StateHarness>(harness: &H) -> Result<(), Failed> {
    let state = harness.open();
    let long = "k".repeat(1_000);
    let keys = KEYS.iter().copied().chain([long.as_str()]);
    for key in keys.clone() {
        let new = state.claim(key, later(harness)).await?;
        ensure(new, format!("{key:?} counts as one of the keys before it"))?;
    }
    for key in keys {
        let new = state.claim(key, later(harness)).await?;
        ensure(!new, format!("{key:?} is claimed twice"))?;
    }
    Ok(())
}

pub(super) async fn a_claim_holds_in_every_handle<H: StateHarness>(
    harness: &H,
) -> Result<(), Failed> {
    let state = harness.open();
    let other = harness.reopen(&state).ok_or_else(Failed::not_applicable)?;
    ensure(
        other.claim("a", later(harness)).await?,
        "a new key is not new",
    )?;
    let again = state.claim("a", later(harness)).await?;
    ensure(!again, "a key is claimed in each of two handles")
}

pub(super) async fn of_claims_at_once_one_succeeds<H: StateHarness>(
    harness: &H,
) -> Result<(), Failed> {
    for round in 0..20 {
        let state = harness.open();
        let other = harness.reopen(&state);
        let until = later(harness);
        let claimed: Result<Vec<bool>, _> = std::thread::scope(|scope| {
            let handles = [&state, other.as_ref().unwrap_or(&state)];
            let threads: Vec<_> = (0..8)
                .zip(handles.into_iter().cycle())
                .map(|(_, handle)| scope.spawn(move || drive(handle.claim("key", until))))
                .collect();
            let joined = threads.into_iter().map(|thread| thread.join());
            joined
                .map(|claimed| match claimed {
                    Ok(claimed) => claimed.map_err(Failed::from),
                    Err(_) => Err(Failed::new("a claim panicked")),
                })
                .collect()
        });
        let claimed = claimed?.into_iter().filter(|claimed| *claimed).count();
        ensure(
            claimed == 1,
            format!("{claimed} of eight at once claimed a key, in round {round}"),
        )?;
    }
    Ok(())
}

pub(super) async fn a_moment_that_has_passed_makes_no_key_new<H: StateHarness>(
    harness: &H,
) -> Result<(), Failed> {
    let state = harness.open();
    let until = later(harness);
    ensure(state.claim("key", until).await?, "a new key is not new")?;
    // The second asks for no time at all, which takes nothing from the first.
    let past = harness.now() - Duration::from_secs(1);
    let again = state.claim("key", past).await?;
    ensure(!again, "a key is new to a claim whose moment has passed")?;
    let kept = state.claim("key", until).await?;
    ensure(!kept, "a claim whose moment has passed frees the key")
}
