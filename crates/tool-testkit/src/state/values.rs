//! Values under keys, and the conditions of writing them.

use tool_core::{State, StateReading};

use super::{KEYS, StateHarness, drive, later, value};
use crate::report::{Failed, ensure};

pub(super) async fn what_was_never_written_is_absent<H: StateHarness>(
    harness: &H,
) -> Result<(), Failed> {
    let state = harness.open();
    let read = state.read("key", None).await?;
    ensure(
        read == StateReading::Absent,
        "there is a value that nobody wrote",
    )
}

pub(super) async fn what_is_written_is_read<H: StateHarness>(harness: &H) -> Result<(), Failed> {
    let state = harness.open();
    let every_byte: Vec<u8> = (0..=255).collect();
    let large = vec![b'x'; 1_000_000];
    for (at, bytes) in [&b""[..], &every_byte, &large].into_iter().enumerate() {
        let key = format!("bytes{at}");
        let version = state.write(&key, None, bytes).await?;
        let (read, known) = value(&state, &key).await?;
        ensure(
            read == bytes,
            format!("{} bytes came back changed", bytes.len()),
        )?;
        ensure(
            version == Some(known),
            "read tells another version than write",
        )?;
    }
    for key in KEYS {
        state.write(key, None, key.as_bytes()).await?;
    }
    for key in KEYS {
        let (read, _) = value(&state, key).await?;
        ensure(
            read == key.as_bytes(),
            format!("{key:?} has the value of another key"),
        )?;
    }
    Ok(())
}

pub(super) async fn what_is_known_is_not_read_again<H: StateHarness>(
    harness: &H,
) -> Result<(), Failed> {
    let state = harness.open();
    let first = state.write("key", None, b"1").await?;
    let same = state.read("key", first.as_ref()).await?;
    ensure(
        same == StateReading::Unchanged,
        "a known value is read again",
    )?;
    let second = state.write("key", first.as_ref(), b"2").await?;
    let read = state.read("key", first.as_ref()).await?;
    ensure(
        matches!(read, StateReading::Value(value, version)
            if value == b"2" && Some(&version) == second.as_ref()),
        "a value is unchanged that was written since",
    )
}

pub(super) async fn a_write_needs_the_version_that_is_there<H: StateHarness>(
    harness: &H,
) -> Result<(), Failed> {
    let state = harness.open();
    let other = state.write("other", None, b"o").await?;
    let early = state.write("key", other.as_ref(), b"0").await?;
    ensure(
        early.is_none(),
        "a value is written where another was expected",
    )?;
    let read = state.read("key", None).await?;
    ensure(read == StateReading::Absent, "a refused write left a value")?;
    let first = state.write("key", None, b"1").await?;
    ensure(first.is_some(), "a first value is refused")?;
    let again = state.write("key", None, b"x").await?;
    ensure(
        again.is_none(),
        "a value is written over where none was expected",
    )?;
    let second = state.write("key", first.as_ref(), b"2").await?;
    ensure(second.is_some(), "the expected version is refused")?;
    let stale = state.write("key", first.as_ref(), b"x").await?;
    ensure(stale.is_none(), "a value is written over one that is newer")?;
    let (read, _) = value(&state, "key").await?;
    ensure(read == b"2", "a refused write changed the value")
}

pub(super) async fn no_version_comes_twice<H: StateHarness>(harness: &H) -> Result<(), Failed> {
    let state = harness.open();
    let mut seen = Vec::new();
    for round in 0..20 {
        // The same bytes are another value.
        let bytes: &[u8] = if round % 2 == 0 { b"a" } else { b"b" };
        let version = state.write("key", seen.last(), bytes).await?;
        let version = version.ok_or_else(|| Failed::new("the expected version is refused"))?;
        ensure(!seen.contains(&version), "a version comes twice")?;
        seen.push(version);
    }
    Ok(())
}

pub(super) async fn values_and_claims_are_apart<H: StateHarness>(
    harness: &H,
) -> Result<(), Failed> {
    let state = harness.open();
    state.write("key", None, b"1").await?;
    let new = state.claim("key", later(harness)).await?;
    ensure(new, "a value counts as a claim")?;
    let (read, _) = value(&state, "key").await?;
    ensure(read == b"1", "a claim changed a value")
}

pub(super) async fn a_write_is_seen_by_every_handle<H: StateHarness>(
    harness: &H,
) -> Result<(), Failed> {
    let state = harness.open();
    let other = harness.reopen(&state).ok_or_else(Failed::not_applicable)?;
    let first = state.write("key", None, b"1").await?;
    let (read, version) = value(&other, "key").await?;
    ensure(
        read == b"1" && Some(&version) == first.as_ref(),
        "another handle reads something else",
    )?;
    let second = other.write("key", Some(&version), b"2").await?;
    ensure(
        second.is_some(),
        "the expected version is refused in another handle",
    )?;
    let stale = state.write("key", first.as_ref(), b"x").await?;
    ensure(
        stale.is_none(),
        "a handle writes over what another wrote since",
    )
}

pub(super) async fn of_writes_at_once_none_is_lost<H: StateHarness>(
    harness: &H,
) -> Result<(), Failed> {
    const WRITERS: usize = 4;
    const WRITES: usize = 10;
    let state = harness.open();
    let other = harness.reopen(&state);
    let ended: Result<(), Failed> = std::thread::scope(|scope| {
        let handles = [&state, other.as_ref().unwrap_or(&state)];
        let writers: Vec<_> = (0..WRITERS)
            .zip(handles.into_iter().cycle())
            .map(|(_, handle)| scope.spawn(move || drive(append(handle, WRITES))))
            .collect();
        writers
            .into_iter()
            .try_for_each(|writer| match writer.join() {
                Ok(ended) => ended,
                Err(_) => Err(Failed::new("a writer panicked")),
            })
    });
    ended?;
    let (read, _) = value(&state, "count").await?;
    ensure(
        read.len() == WRITERS * WRITES,
        format!("of {} writes {} are left", WRITERS * WRITES, read.len()),
    )
}

/// Makes a value longer by a byte, so many times.
async fn append(state: &impl State, times: usize) -> Result<(), Failed> {
    for _ in 0..times {
        loop {
            let (mut bytes, version) = match state.read("count", None).await? {
                StateReading::Value(bytes, version) => (bytes, Some(version)),
                _ => (Vec::new(), None),
            };
            bytes.push(b'x');
            if state
                .write("count", version.as_ref(), &bytes)
                .await?
                .is_some()
            {
                break;
            }
        }
    }
    Ok(())
}
