//! Whether a volume takes names that differ in case for one.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// What a volume does with names that differ in case only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Volume {
    /// They are two files.
    KeepsCase,
    /// It is not known. Deny and ask rules then ignore case and allow rules do not.
    Unknown,
    /// They are one file.
    IgnoresCase,
}

/// Tells what the volume of a folder does.
///
/// A [`Volume`] is itself one that says the same everywhere.
pub trait Volumes: Send + Sync {
    /// What the volume does with names in this folder, which exists.
    fn volume(&self, folder: &Path) -> Volume;
}

/// Looks at the files that are there, and never at the name of the operating system: one machine
/// has volumes of both sorts, and one volume may have folders of both sorts.
///
/// A folder is judged by whether one of its entries is also found under its name in the other
/// case. Where no entry tells, the folder above on the same volume is asked. What was found is
/// kept for at most 4,096 folders. Nothing is ever written.
#[derive(Debug, Default)]
pub struct ProbedVolumes {
    known: Mutex<HashMap<FolderId, Volume>>,
}

/// The device and the number of a folder.
type FolderId = (u64, u64);

const MOST_KNOWN: usize = 4096;
const MOST_ENTRIES: usize = 64;

impl ProbedVolumes {
    /// A probe that has looked nowhere yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

impl Volumes for Volume {
    fn volume(&self, _folder: &Path) -> Volume {
        *self
    }
}

impl Volumes for ProbedVolumes {
    fn volume(&self, folder: &Path) -> Volume {
        let id = folder_id(folder);
        if let Some(id) = id
            && let Some(known) = lock(&self.known).get(&id)
        {
            return *known;
        }

        let mut volume = Volume::Unknown;
        for above in folder.ancestors() {
            // Another device says nothing about this one.
            if folder_id(above).map(|id| id.0) != id.map(|id| id.0) {
                break;
            }
            volume = probe(above).unwrap_or(Volume::Unknown);
            if volume != Volume::Unknown {
                break;
            }
        }

        if let Some(id) = id
            && volume != Volume::Unknown
        {
            let mut known = lock(&self.known);
            if known.len() >= MOST_KNOWN {
                known.clear();
            }
            known.insert(id, volume);
        }
        volume
    }
}

/// Looks for an entry that tells. An entry with several names tells nothing, as the other case
/// may be one of them.
fn probe(folder: &Path) -> io::Result<Volume> {
    for entry in fs::read_dir(folder)?.take(MOST_ENTRIES) {
        let entry = entry?;
        let Some(other) = entry.file_name().to_str().and_then(other_case) else {
            continue;
        };
        let here = entry.metadata()?;
        if here.is_symlink() || has_several_names(&here) {
            continue;
        }
        return match fs::symlink_metadata(folder.join(&other)) {
            Ok(there) if is_same(&entry.path(), &here, &folder.join(&other), &there) => {
                Ok(Volume::IgnoresCase)
            }
            Ok(_) => Ok(Volume::KeepsCase),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Volume::KeepsCase),
            Err(error) => Err(error),
        };
    }
    Ok(Volume::Unknown)
}

/// The name with the case of its ASCII letters turned, if it has any.
fn other_case(name: &str) -> Option<PathBuf> {
    let turn = |char: char| {
        if char.is_ascii_lowercase() {
            char.to_ascii_uppercase()
        } else {
            char.to_ascii_lowercase()
        }
    };
    let other: String = name.chars().map(turn).collect();
    (other != name).then(|| other.into())
}

#[cfg(unix)]
fn folder_id(folder: &Path) -> Option<FolderId> {
    use std::os::unix::fs::MetadataExt;

    let metadata = fs::metadata(folder).ok()?;
    Some((metadata.dev(), metadata.ino()))
}

#[cfg(unix)]
fn has_several_names(metadata: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;

    !metadata.is_dir() && metadata.nlink() != 1
}

#[cfg(unix)]
fn is_same(_: &Path, here: &fs::Metadata, _: &Path, there: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;

    (here.dev(), here.ino()) == (there.dev(), there.ino())
}

#[cfg(not(unix))]
fn folder_id(_folder: &Path) -> Option<FolderId> {
    None
}

#[cfg(not(unix))]
fn has_several_names(_metadata: &fs::Metadata) -> bool {
    false
}

#[cfg(not(unix))]
fn is_same(here: &Path, _: &fs::Metadata, there: &Path, _: &fs::Metadata) -> bool {
    match (fs::canonicalize(here), fs::canonicalize(there)) {
        (Ok(here), Ok(there)) => here == there,
        // Strict for deny; an allow is compared in this way only when the spelling agrees.
        _ => true,
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
}
