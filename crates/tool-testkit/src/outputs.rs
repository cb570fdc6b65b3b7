//! What every [`OutputStore`] promises.

mod bounds;
mod ending;
mod keeping;
mod reading;
mod scoping;
mod sharing;
mod streaming;

use std::time::Duration;

use tool_core::{
    Bound, Bounded, BoxFuture, Content, Digest, Facts, OutputPage, OutputStore, PageRequest,
    Retention, StoreError, StoreErrorKind,
};

use crate::report::{Failed, Report, ensure};

pub use crate::report::Verdict;

/// Opens the stores that the suite runs on.
///
/// A hook that is not overridden fails the cases that need it, unless the harness
/// [declares](Self::declared) them.
pub trait OutputHarness: Send + Sync {
    /// The store.
    type Store: OutputStore;

    /// Opens a store of its own for each call, with nothing in it and room for 64 MiB, whose
    /// outputs live for [`LIFE`].
    fn open(&self) -> BoxFuture<'_, Self::Store>;

    /// Opens a store as [`open`](Self::open) does that keeps at most so many bytes of one output
    /// and so many of all.
    fn limited(&self, output_bytes: u64, total_bytes: u64) -> BoxFuture<'_, Option<Self::Store>> {
        let _ = (output_bytes, total_bytes);
        Box::pin(async { None })
    }

    /// Opens a second store on the same place, as another process has it.
    fn again<'a>(&'a self, store: &'a Self::Store) -> BoxFuture<'a, Option<Self::Store>> {
        let _ = store;
        Box::pin(async { None })
    }

    /// The ids of all outputs that can be read.
    fn list<'a>(
        &'a self,
        store: &'a Self::Store,
    ) -> BoxFuture<'a, Option<Result<Vec<String>, StoreError>>> {
        let _ = store;
        Box::pin(async { None })
    }

    /// Removes what has had its time.
    fn sweep<'a>(
        &'a self,
        store: &'a Self::Store,
    ) -> BoxFuture<'a, Option<Result<(), StoreError>>> {
        let _ = store;
        Box::pin(async { None })
    }

    /// Removes an output, as an operator does.
    fn remove<'a>(
        &'a self,
        store: &'a Self::Store,
        id: &'a str,
    ) -> BoxFuture<'a, Option<Result<(), StoreError>>> {
        let _ = (store, id);
        Box::pin(async { None })
    }

    /// Removes the outputs of a caller whose session has ended. How many they were.
    fn end_session<'a>(
        &'a self,
        store: &'a Self::Store,
        facts: &'a Facts,
    ) -> BoxFuture<'a, Option<Result<usize, StoreError>>> {
        let _ = (store, facts);
        Box::pin(async { None })
    }

    /// Lets time pass for the stores. `false` when that cannot be done.
    fn advance(&self, by: Duration) -> bool {
        let _ = by;
        false
    }

    /// Cases that do not hold, each with the reason. One that holds all the same is stale, and a
    /// name that is no case of the suite fails.
    fn declared(&self) -> Vec<(&'static str, &'static str)> {
        Vec::new()
    }
}

/// How long the outputs of a harness's stores live: a week.
pub const LIFE: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// Runs every case, each on stores of its own.
pub async fn run<H: OutputHarness>(harness: &H) -> Report {
    ran![harness;
        keeping::pages_equal_bytes,
        keeping::a_large_output_is_whole,
        keeping::what_is_retained_is_told,
        keeping::a_preview_is_a_prefix_and_a_suffix,
        keeping::texts_are_joined_and_media_stays,
        reading::a_page_begins_and_ends_between_characters,
        reading::a_page_beyond_the_end_is_empty,
        reading::lines_pointers_and_searches_are_answered,
        scoping::only_its_caller_reads_an_output,
        scoping::there_is_one_absence_for_callers,
        scoping::what_is_no_id_is_absent_and_not_repeated,
        scoping::errors_carry_no_secrets,
        bounds::too_large_is_refused_and_leaves_nothing,
        bounds::the_oldest_leave_for_what_comes,
        bounds::room_of_what_failed_is_free_again,
        ending::an_output_has_its_time,
        ending::a_sweep_removes_what_has_had_its_time_and_nothing_else,
        ending::an_operator_is_told_what_became_of_an_output,
        ending::removing_what_is_gone_is_told,
        ending::the_end_of_a_session_removes_what_is_its_own,
        ending::what_is_forgotten_is_not_read,
        sharing::a_second_store_reads_what_the_first_has_kept,
        sharing::a_second_store_sees_removals,
        sharing::writers_at_once_lose_nothing,
        sharing::a_dropped_call_leaves_nothing,
        streaming::what_is_streamed_is_what_is_kept,
        streaming::nothing_is_seen_of_a_stream_before_it_is_finished,
        streaming::a_dropped_stream_leaves_nothing,
        streaming::a_stream_that_grows_too_large_is_refused_and_leaves_nothing,
    ]
}

fn facts() -> Facts {
    Facts::new().session("s1")
}

/// A bound under which nearly everything is retained in part.
fn bound() -> Result<Bound, Failed> {
    Ok(Bound::new(1_000, 100)?)
}

async fn limited<H: OutputHarness>(
    harness: &H,
    output_bytes: u64,
    total_bytes: u64,
) -> Result<H::Store, Failed> {
    let store = harness.limited(output_bytes, total_bytes).await;
    store.ok_or_else(|| Failed::no_hook("limited"))
}

fn advance<H: OutputHarness>(harness: &H, by: Duration) -> Result<(), Failed> {
    match harness.advance(by) {
        true => Ok(()),
        false => Err(Failed::no_hook("advance")),
    }
}

async fn sweep<H: OutputHarness>(harness: &H, store: &H::Store) -> Result<(), Failed> {
    let swept = harness.sweep(store).await;
    Ok(swept.ok_or_else(|| Failed::no_hook("sweep"))??)
}

async fn list<H: OutputHarness>(harness: &H, store: &H::Store) -> Result<Vec<String>, Failed> {
    let listed = harness.list(store).await;
    Ok(listed.ok_or_else(|| Failed::no_hook("list"))??)
}

async fn again<H: OutputHarness>(harness: &H, store: &H::Store) -> Result<H::Store, Failed> {
    let again = harness.again(store).await;
    again.ok_or_else(|| Failed::no_hook("again"))
}

async fn retain(
    store: &impl OutputStore,
    facts: &Facts,
    text: impl Into<String>,
) -> Result<Bounded, Failed> {
    let content = vec![Content::text(text.into())];
    let retention = Retention::new(content, bound()?, facts, "tool");
    Ok(store.bound(retention).await?)
}

/// Retains a text and gives its id.
async fn keep(
    store: &impl OutputStore,
    facts: &Facts,
    text: impl Into<String>,
) -> Result<String, Failed> {
    Ok(retain(store, facts, text).await?.retained.id)
}

async fn page(
    store: &impl OutputStore,
    id: &str,
    facts: Option<&Facts>,
) -> Result<OutputPage, StoreError> {
    store.page(PageRequest::new(id, facts)).await
}

/// The pages of an output of at most so many bytes each, as its caller reads them: all, or the
/// first sixty, as each may take a request over a network.
async fn pages(
    store: &impl OutputStore,
    id: &str,
    facts: &Facts,
    max_bytes: usize,
) -> Result<Vec<OutputPage>, Failed> {
    let mut pages = Vec::new();
    let mut next = Some(0);
    while let Some(offset) = next.filter(|_| pages.len() < 60) {
        let request = PageRequest::new(id, Some(facts))
            .offset(offset)
            .max_bytes(max_bytes);
        let page = store.page(request).await?;
        ensure(page.offset == offset, "a page begins elsewhere than asked")?;
        ensure(
            page.next.is_none_or(|next| next > offset),
            "a page leads nowhere",
        )?;
        next = page.next;
        pages.push(page);
    }
    Ok(pages)
}

/// Whether a digest may be one of these bytes: it has a name, and is right where this knows the name.
fn may_be_digest_of(digest: &str, bytes: &[u8]) -> bool {
    match digest.split_once(':') {
        Some(("sha-256", _)) => digest == Digest::of(bytes).to_string(),
        Some((name, digits)) => {
            !name.is_empty()
                && digits.len() >= 16
                && digits.bytes().all(|it| it.is_ascii_hexdigit())
        }
        None => false,
    }
}

/// Whether a reading was refused as one of what is not there.
fn is_absent(read: &Result<OutputPage, StoreError>) -> bool {
    read.as_ref()
        .is_err_and(|error| error.kind() == StoreErrorKind::NotFound)
}
