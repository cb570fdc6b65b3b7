//! What every [`ArtifactStore`] promises.

mod bounds;
mod keeping;
mod refusing;
mod scoping;
mod streaming;

use std::time::{Duration, SystemTime};

use tool_core::{
    ArtifactDraft, ArtifactError, ArtifactErrorKind, ArtifactKind, ArtifactRef, ArtifactStore,
    Facts, Kept, Payload,
};

use crate::report::{Failed, Report};

pub use crate::report::Verdict;

/// Opens the stores that the suite runs on.
///
/// A hook that is not overridden fails the cases that need it, unless the harness
/// [declares](Self::declared) them.
pub trait ArtifactHarness: Send + Sync {
    /// The store.
    type Store: ArtifactStore;

    /// Opens a store of its own for each call, with nothing in it, room for some MiB, and time to
    /// live of a day at least.
    fn open(&self) -> Self::Store;

    /// Opens a store as [`open`](Self::open) does that keeps at most so many bytes and so many
    /// artifacts in each scope.
    fn bounded(&self, max_bytes: u64, max_count: usize) -> Option<Self::Store> {
        let _ = (max_bytes, max_count);
        None
    }

    /// The time by which the stores go.
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }

    /// Lets time pass for the stores. `false` when that cannot be done.
    fn advance(&self, by: Duration) -> bool {
        let _ = by;
        false
    }

    /// Changes bytes of an artifact behind the back of its store. `false` when that cannot be done.
    fn corrupt(&self, store: &Self::Store, facts: &Facts, reference: &ArtifactRef) -> bool {
        let _ = (store, facts, reference);
        false
    }

    /// Cases that do not hold, each with the reason. One that holds all the same is stale, and a
    /// name that is no case of the suite fails.
    fn declared(&self) -> Vec<(&'static str, &'static str)> {
        Vec::new()
    }
}

/// Runs every case, each on stores of its own.
pub async fn run<H: ArtifactHarness>(harness: &H) -> Report {
    ran![harness;
        keeping::what_is_put_is_got,
        keeping::each_shape_comes_back_as_it_was,
        keeping::references_are_minted_and_not_derived,
        keeping::what_is_kept_is_detached,
        keeping::expiry_is_stated_when_it_is_put,
        keeping::deleting_is_agreement,
        keeping::what_is_forgotten_is_gone,
        keeping::lists_are_paged_newest_first,
        keeping::a_page_is_not_moved_by_what_comes_and_goes,
        keeping::kinds_are_listed_exactly,
        keeping::a_digest_rides_along,
        scoping::a_reference_alone_opens_nothing,
        scoping::scopes_that_look_alike_are_apart,
        scoping::scopes_of_any_text_work,
        scoping::there_is_one_absence,
        refusing::parents_are_proven,
        refusing::what_is_wrong_in_itself_is_refused,
        refusing::malformed_references_are_absent,
        refusing::refusals_carry_no_secrets,
        refusing::getting_refuses_what_was_changed,
        bounds::too_large_is_refused_before_anything_leaves,
        bounds::what_was_used_the_longest_ago_leaves_and_is_told,
        bounds::a_parent_stays_while_its_child_is_put,
        streaming::streaming_is_detected,
        streaming::a_stream_is_kept_as_a_payload_is,
        streaming::a_stream_of_another_length_leaves_nothing,
        streaming::a_stream_is_given_without_verifying,
    ]
}

fn kind(word: &str) -> Result<ArtifactKind, Failed> {
    ArtifactKind::new(word).ok_or_else(|| Failed::new("a kind is blank"))
}

fn facts() -> Facts {
    Facts::new().session("s1")
}

fn bounded<H: ArtifactHarness>(
    harness: &H,
    max_bytes: u64,
    max_count: usize,
) -> Result<H::Store, Failed> {
    let store = harness.bounded(max_bytes, max_count);
    store.ok_or_else(|| Failed::no_hook("bounded"))
}

/// Ends the case unless it was refused with an error of that kind.
fn ensure_refused<T>(
    result: Result<T, ArtifactError>,
    kind: ArtifactErrorKind,
    otherwise: impl Into<String>,
) -> Result<(), Failed> {
    crate::report::ensure(result.is_err_and(|error| error.kind() == kind), otherwise)
}

/// Puts a text of the kind `note`.
async fn put(
    store: &impl ArtifactStore,
    facts: &Facts,
    text: impl Into<String>,
) -> Result<Kept, Failed> {
    let draft = ArtifactDraft::new(kind("note")?);
    Ok(store.put(facts, draft, Payload::Text(text.into())).await?)
}

async fn is_there(
    store: &impl ArtifactStore,
    facts: &Facts,
    reference: &ArtifactRef,
) -> Result<bool, Failed> {
    let got = store.get(facts, reference.as_str()).await?.is_some();
    let head = store.head(facts, reference.as_str()).await?.is_some();
    crate::report::ensure(got == head, "get and head disagree on what is there")?;
    Ok(got)
}
