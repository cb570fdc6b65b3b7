//! Which outputs there are.

use tool_core::{StoreError, StoreErrorKind};

use crate::dir_store::DirStore;
use crate::id::Id;
use crate::index::Entry;
use crate::summary::{OutputSummary, OutputsPage};

impl DirStore {
    /// The outputs that can be read, the oldest first.
    ///
    /// A file whose record does not read is left out and traced as a warning.
    ///
    /// # Errors
    /// [`Io`](tool_core::StoreErrorKind::Io) when the directory cannot be read.
    pub fn list(&self) -> Result<Vec<OutputSummary>, StoreError> {
        let now = self.shared.setup.clock.now_us();
        let mut index = self.shared.index();
        self.shared.catch_up(&mut index)?;
        Ok(index
            .oldest_first()
            .filter(|(_, entry)| !self.shared.has_expired(entry, now))
            .filter_map(|(_, entry)| match entry {
                Entry::Whole(record) => Some(OutputSummary::from(record)),
                Entry::Damaged { .. } => None,
            })
            .collect())
    }

    /// A page of the outputs that can be read, the newest first, at most so many; from the
    /// beginning, or after the page whose [`next`](OutputsPage::next) that is.
    ///
    /// What comes or goes meanwhile shifts no page. Costs what the page costs, however many outputs
    /// there are, unless the directory has changed since it was read: then its names are read again.
    ///
    /// # Errors
    /// [`NotFound`](StoreErrorKind::NotFound) when `after` is no cursor of a list;
    /// [`Io`](StoreErrorKind::Io) when the directory cannot be read.
    pub fn list_page(&self, most: usize, after: Option<&str>) -> Result<OutputsPage, StoreError> {
        let before = after.map(parse_cursor).transpose()?;
        let now = self.shared.setup.clock.now_us();
        let mut index = self.shared.index();
        self.shared.catch_up(&mut index)?;
        let mut older = index
            .newest_first(before)
            .filter(|(_, entry)| !self.shared.has_expired(entry, now))
            .filter_map(|(id, entry)| match entry {
                Entry::Whole(record) => Some((id, record)),
                Entry::Damaged { .. } => None,
            });
        let shown: Vec<_> = older.by_ref().take(most.max(1)).collect();
        let is_last = older.next().is_none();
        let last = shown.last().filter(|_| !is_last);
        let next = last.map(|(id, record)| format!("{:016x}-{id}", record.created_us));
        let outputs = shown.iter().map(|(_, record)| OutputSummary::from(*record));
        Ok(OutputsPage {
            outputs: outputs.collect(),
            next,
        })
    }
}

fn parse_cursor(text: &str) -> Result<(u64, Id), StoreError> {
    let parsed = text.split_once('-').and_then(|(at, id)| {
        let at = u64::from_str_radix(at, 16).ok()?;
        Some((at, Id::parse(id)?))
    });
    parsed.ok_or_else(|| {
        let detail = "what was given to go on after is no cursor of an output list";
        StoreError::new(StoreErrorKind::NotFound, detail)
    })
}
