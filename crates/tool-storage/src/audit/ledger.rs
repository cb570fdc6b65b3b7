//! The index as it is kept.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde::{Deserialize, Serialize};
use tool_core::Digest;

use super::measure::Contents;
use super::names;

/// The index as it is kept: one value, so that whoever changes it has seen all of it.
///
/// Files that are closed make a chain for each folder, in the order in which the index was told of
/// it: each has a seal over its own entry and the seal before, so that an entry that is changed or
/// taken out by itself leaves a mark. The chain begins after the last entry that has left, and ends
/// with the one that the folder's record names.
///
/// Seals have no key. They show accidents, and changes by whoever cannot write the index or does not
/// know how: who does can make all seals anew, or take out a folder with its record and its entries.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Ledger {
    version: u32,
    /// The number of the next entry.
    next: u64,
    folders: BTreeMap<String, Chain>,
    entries: Vec<Entry>,
}

/// The ends of the chain of a folder.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Chain {
    /// The seal of the last entry that has left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    floor: Option<String>,
    /// The seal of the latest entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    last: Option<String>,
    /// The newest file whose entry left as there were too many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    since: Option<String>,
}

/// A file of lines.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Entry {
    pub(super) number: u64,
    pub(super) folder: String,
    pub(super) name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) sealed: Option<Sealed>,
    /// Whether the file was removed to make room. The entry goes once it is the first of its chain.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) is_removed: bool,
}

/// What is known of a file that nothing is added to any more.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Sealed {
    /// Whether nobody closed it: whoever wrote it was killed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) is_abandoned: bool,
    #[serde(flatten)]
    pub(super) contents: Contents,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) before: Option<String>,
    seal: String,
}

/// What was found of a file.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) name: String,
    pub(super) what: What,
}

#[derive(Clone, Debug)]
pub(super) enum What {
    /// It is written.
    Open,
    /// It was closed by whoever wrote it.
    Closed(Contents),
    /// Whoever wrote it is gone.
    Abandoned(Contents),
    /// It was removed to make room.
    Removed,
}

/// The entries that an index has at the most; the oldest go. As many as four full folders have.
const MOST: usize = 4000;
/// The folders at the most that have no entry any more and are known yet.
const MOST_EMPTY: usize = 256;
const VERSION: u32 = 1;

impl Ledger {
    /// Reads an index; `None` for what is none of this version.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let ledger: Self = serde_json::from_slice(bytes).ok()?;
        (ledger.version == VERSION).then_some(ledger)
    }

    pub(super) fn new() -> Self {
        Self {
            version: VERSION,
            next: 1,
            ..Self::default()
        }
    }

    pub(super) fn to_bytes(&self) -> serde_json::Result<Vec<u8>> {
        serde_json::to_vec(self)
    }

    /// All entries by their numbers.
    pub(super) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The entries of a folder by the names of the files.
    pub(super) fn of_folder<'a>(&'a self, folder: &str) -> HashMap<&'a str, &'a Entry> {
        let own = self.entries.iter().filter(|entry| entry.folder == folder);
        own.map(|entry| (entry.name.as_str(), entry)).collect()
    }

    /// Takes in what was found in a folder. Whether anything has changed. What is known already is
    /// as it was: of what was sealed, nothing counts but that it was removed.
    pub(super) fn take(&mut self, folder: &str, found: &[Found]) -> bool {
        let mut places: HashMap<String, usize> = self
            .entries
            .iter()
            .enumerate()
            .filter(|(_, entry)| entry.folder == folder)
            .map(|(at, entry)| (entry.name.clone(), at))
            .collect();
        let mut changed = false;
        for Found { name, what } in found {
            let place = places.get(name).copied();
            let place = match (place, what) {
                (Some(place), _) => place,
                (None, What::Removed) => continue,
                (None, _) if self.has_left(folder, name) => continue,
                (None, _) => {
                    let place = self.entries.len();
                    self.entries.push(Entry {
                        number: self.next,
                        folder: folder.to_owned(),
                        name: name.clone(),
                        sealed: None,
                        is_removed: false,
                    });
                    self.next += 1;
                    places.insert(name.clone(), place);
                    changed = true;
                    place
                }
            };
            let chain = self.folders.entry(folder.to_owned()).or_default();
            let Some(entry) = self.entries.get_mut(place) else {
                continue;
            };
            changed |= match what {
                What::Open => false,
                What::Closed(contents) => chain.seal(entry, contents, false),
                What::Abandoned(contents) => chain.seal(entry, contents, true),
                What::Removed => !std::mem::replace(&mut entry.is_removed, true),
            };
        }
        if changed {
            self.let_go(folder);
            self.bound(MOST);
        }
        changed
    }

    /// Whether the entry of a file left as there were too many.
    pub(super) fn has_left(&self, folder: &str, name: &str) -> bool {
        let since = self.folders.get(folder).and_then(|it| it.since.as_deref());
        since.is_some_and(|since| name <= since)
    }

    /// Forgets the removed files of a folder that were never sealed, and those that its chain begins
    /// with.
    fn let_go(&mut self, folder: &str) {
        let is_done = |it: &Entry| it.folder == folder && it.is_removed && it.sealed.is_none();
        self.entries.retain(|entry| !is_done(entry));
        while let Some(first) = self.first(folder)
            && self.entries.get(first).is_some_and(|it| it.is_removed)
        {
            self.drop_first(folder, first);
        }
        self.forget_empty();
    }

    /// The entry that the chain of a folder begins with.
    fn first(&self, folder: &str) -> Option<usize> {
        let floor = self.folders.get(folder)?.floor.as_ref();
        self.entries.iter().position(|entry| {
            let sealed = entry.sealed.as_ref();
            entry.folder == folder && sealed.is_some_and(|it| it.before.as_ref() == floor)
        })
    }

    fn drop_first(&mut self, folder: &str, place: usize) {
        let entry = self.entries.remove(place);
        if let (Some(sealed), Some(chain)) = (entry.sealed, self.folders.get_mut(folder)) {
            chain.floor = Some(sealed.seal);
        }
    }

    /// Keeps so many entries. The oldest leave, of a chain the one that it begins with.
    fn bound(&mut self, most: usize) {
        while self.entries.len() > most {
            let Some(oldest) = self.entries.first() else {
                return;
            };
            let folder = oldest.folder.clone();
            let first = oldest.sealed.as_ref().and_then(|_| self.first(&folder));
            let name = match self.entries.get(first.unwrap_or_default()) {
                Some(entry) => entry.name.clone(),
                None => return,
            };
            match first {
                Some(first) => self.drop_first(&folder, first),
                None => drop(self.entries.remove(0)),
            }
            let since = &mut self.folders.entry(folder).or_default().since;
            *since = std::mem::take(since).max(Some(name));
        }
        self.forget_empty();
        self.bound_empty(most.min(MOST_EMPTY));
    }

    /// Forgets folders of which nothing is left, and nothing has left that could come back.
    fn forget_empty(&mut self) {
        let entries = &self.entries;
        let has_any = |folder: &str| entries.iter().any(|entry| entry.folder == folder);
        self.folders
            .retain(|folder, chain| chain.since.is_some() || has_any(folder));
    }

    /// Keeps so many folders that have no entry any more. Those go that have been idle the longest.
    fn bound_empty(&mut self, most: usize) {
        let mut empty: Vec<(Option<&str>, &str)> = self
            .folders
            .iter()
            .filter(|(folder, _)| !self.entries.iter().any(|it| it.folder == **folder))
            .map(|(folder, chain)| (chain.since.as_deref(), folder.as_str()))
            .collect();
        if empty.len() <= most {
            return;
        }
        empty.sort_unstable();
        empty.truncate(empty.len() - most);
        let gone: HashSet<String> = empty.into_iter().map(|(_, it)| it.to_owned()).collect();
        self.folders.retain(|folder, _| !gone.contains(folder));
    }

    /// What does not hang together: entries that were changed, before which one is missing, or whose
    /// folder has no record, and the folders of which the latest is missing.
    pub(super) fn breaks(&self) -> (Vec<u64>, Vec<String>) {
        let is_loose = |it: &&Entry| it.sealed.is_some() && !self.folders.contains_key(&it.folder);
        let loose = self.entries.iter().filter(is_loose);
        let mut entries: Vec<u64> = loose.map(|entry| entry.number).collect();
        let mut folders = Vec::new();
        for (folder, chain) in &self.folders {
            let own = self.entries.iter().filter(|it| it.folder == *folder);
            let mut after: HashMap<Option<&str>, &Entry> = HashMap::new();
            let mut loose = Vec::new();
            for entry in own {
                let Some(sealed) = &entry.sealed else {
                    continue;
                };
                let is_first = !after.contains_key(&sealed.before.as_deref());
                if is_first && sealed.seal == sealed.seal_of(entry) {
                    after.insert(sealed.before.as_deref(), entry);
                } else {
                    loose.push(entry.number);
                }
            }
            let mut end = chain.floor.as_deref();
            while let Some(entry) = after.remove(&end) {
                end = entry.sealed.as_ref().map(|sealed| sealed.seal.as_str());
            }
            loose.extend(after.values().map(|entry| entry.number));
            if loose.is_empty() && end != chain.last.as_deref() {
                folders.push(folder.clone());
            }
            entries.append(&mut loose);
        }
        entries.sort_unstable();
        (entries, folders)
    }
}

impl Chain {
    /// Seals an entry that is not, and says whether it was.
    fn seal(&mut self, entry: &mut Entry, contents: &Contents, is_abandoned: bool) -> bool {
        if entry.sealed.is_some() {
            return false;
        }
        let mut sealed = Sealed {
            is_abandoned,
            contents: contents.clone(),
            before: self.last.clone(),
            seal: String::new(),
        };
        sealed.seal = sealed.seal_of(entry);
        self.last = Some(sealed.seal.clone());
        entry.sealed = Some(sealed);
        true
    }
}

impl Sealed {
    /// The seal that this entry has to have.
    fn seal_of(&self, entry: &Entry) -> String {
        let Contents {
            bytes,
            lines,
            first_ms,
            last_ms,
            digest,
        } = &self.contents;
        let number = |number: &Option<u64>| number.map_or_else(String::new, |it| it.to_string());
        let parts = [
            self.before.as_deref().unwrap_or_default(),
            &entry.folder,
            &entry.name,
            &entry.number.to_string(),
            if self.is_abandoned {
                "abandoned"
            } else {
                "closed"
            },
            &bytes.to_string(),
            &lines.to_string(),
            &number(first_ms),
            &number(last_ms),
            digest,
        ];
        Digest::of_parts(&parts).to_string()
    }
}

impl Entry {
    /// When the file was begun, in milliseconds since 1970-01-01 UTC.
    pub(super) fn opened_ms(&self) -> u64 {
        names::parts(&self.name).map_or(0, |(opened_ms, _)| opened_ms)
    }
}

#[cfg(test)]
mod tests;
