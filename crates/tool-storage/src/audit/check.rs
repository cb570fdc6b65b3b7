//! Whether files are what their index says.

use std::collections::HashSet;
use std::io;

use super::folder_id::folder_id;
use super::ledger::{Entry, Ledger};
use super::measure::Measure;
use super::segment::AuditSegment;
use super::survey::Writers;
use super::{names, note};
use crate::folder::{Folder, of_file};

/// What became of a file of an audit log.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AuditCheck {
    /// The entry of the index, where it has one.
    pub segment: Option<AuditSegment>,
    /// The name of the file; that of the folder for [`Cut`](AuditFinding::Cut).
    pub name: String,
    /// What was found.
    pub finding: AuditFinding,
}

/// What was found of a file of an audit log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AuditFinding {
    /// It has the content that the index says.
    Whole,
    /// It is written, and has no digest yet.
    Open,
    /// Whoever wrote it is gone; the next start in its folder closes it.
    Unfinished,
    /// It is there, and the index was not told yet.
    Untold,
    /// It was removed to make room, as the index or a note beside it says.
    Removed,
    /// It is in the folder of another gateway.
    Elsewhere,
    /// Its content is not what it was when it was closed.
    Changed,
    /// It is gone, and nobody has removed it to make room.
    Missing,
    /// Its entry was changed, or one that was before it is gone from the index.
    Unlinked,
    /// The latest entries of its folder are gone from the index.
    Cut,
}

impl AuditFinding {
    /// The word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Whole => "whole",
            Self::Open => "open",
            Self::Unfinished => "unfinished",
            Self::Untold => "untold",
            Self::Removed => "removed",
            Self::Elsewhere => "elsewhere",
            Self::Changed => "changed",
            Self::Missing => "missing",
            Self::Unlinked => "unlinked",
            Self::Cut => "cut",
        }
    }

    /// Whether something was changed or is gone that should not.
    #[must_use]
    pub fn is_problem(self) -> bool {
        matches!(
            self,
            Self::Changed | Self::Missing | Self::Unlinked | Self::Cut
        )
    }
}

/// Holds a folder against an index. It blocks.
pub(super) fn check(folder: &Folder, ledger: &Ledger) -> io::Result<Vec<AuditCheck>> {
    let id = folder_id(folder)?;
    let names: HashSet<String> = folder.names()?.into_iter().collect();
    let (unlinked, cut) = ledger.breaks();
    let mut writers = Writers::default();
    let (mut checks, mut known) = (Vec::new(), HashSet::new());
    for entry in ledger.entries() {
        let name = entry.name.as_str();
        // No other folder ever has a file of that name: it is the same folder whose id is gone, or a
        // copy of the file.
        let is_here = id.as_ref() == Some(&entry.folder) || names.contains(name);
        let found = match is_here {
            false => Ok(AuditFinding::Elsewhere),
            true => look(folder, entry, &mut writers),
        };
        let found = found.map_err(|error| of_file(name, error))?;
        if is_here {
            known.insert(name);
        }
        let is_linked = unlinked.binary_search(&entry.number).is_err();
        checks.push(AuditCheck {
            segment: Some(AuditSegment::from(entry)),
            name: entry.name.clone(),
            finding: match is_linked || found.is_problem() {
                true => found,
                false => AuditFinding::Unlinked,
            },
        });
    }
    let has_left = |name: &str| id.as_ref().is_some_and(|id| ledger.has_left(id, name));
    let mut untold = Vec::new();
    for name in &names {
        let is_new = names::is_segment(name) && !known.contains(name.as_str()) && !has_left(name);
        if is_new && folder.bytes(name)? > 0 && !folder.is_foreign(name)? {
            untold.push(name.clone());
        }
    }
    untold.sort_unstable();
    let beside = |name, finding| AuditCheck {
        segment: None,
        name,
        finding,
    };
    let untold = untold.into_iter();
    checks.extend(untold.map(|name| beside(name, AuditFinding::Untold)));
    let cut = cut.into_iter();
    checks.extend(cut.map(|folder| beside(folder, AuditFinding::Cut)));
    Ok(checks)
}

/// What has become of a file of this folder.
fn look(folder: &Folder, entry: &Entry, writers: &mut Writers) -> io::Result<AuditFinding> {
    if folder.is_foreign(&entry.name)? {
        return Ok(AuditFinding::Changed);
    }
    let Some(file) = folder.read(&entry.name)? else {
        return Ok(
            match entry.is_removed || note::is_removed(folder, &entry.name)? {
                true => AuditFinding::Removed,
                false => AuditFinding::Missing,
            },
        );
    };
    let Some(sealed) = &entry.sealed else {
        return Ok(match writers.lives(folder, &entry.name) {
            true => AuditFinding::Open,
            false => AuditFinding::Unfinished,
        });
    };
    Ok(match Measure::of(file)? == sealed.contents {
        true => AuditFinding::Whole,
        false => AuditFinding::Changed,
    })
}
