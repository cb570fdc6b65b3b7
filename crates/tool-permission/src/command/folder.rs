//! The folder that a command runs in.

use std::path::{Component, Path, PathBuf};

use super::field::CommandWord;

/// The folders that a command may run in. None at all where it is never reached.
///
/// A folder is absolute, or starts with `~`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Folders {
    known: Vec<PathBuf>,
    /// It may be any other folder.
    unknown: bool,
}

/// The folders after a command that succeeded and after one that failed.
#[derive(Clone, Debug)]
pub(super) struct After {
    pub(super) ok: Folders,
    pub(super) failed: Folders,
}

/// Where a word leads.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Place {
    /// The likely path, and those that it may be if a change of folder failed. None is normalised.
    Known {
        path: PathBuf,
        others: Vec<PathBuf>,
        /// It depends on the folder.
        relative: bool,
    },
    Unknown,
}

impl Folders {
    pub(super) fn at(folder: &Path) -> Self {
        Self {
            known: vec![folder.to_owned()],
            unknown: false,
        }
    }

    pub(super) fn unknown() -> Self {
        Self {
            known: Vec::new(),
            unknown: true,
        }
    }

    /// Of what is never reached.
    pub(super) fn never() -> Self {
        Self {
            known: Vec::new(),
            unknown: false,
        }
    }

    /// These or those.
    pub(super) fn or(mut self, others: Self) -> Self {
        for folder in others.known {
            // As text: both are plain, and paths are compared component by component.
            let text = folder.as_os_str();
            if !self.known.iter().any(|one| one.as_os_str() == text) {
                self.known.push(folder);
            }
        }
        self.unknown = self.unknown || others.unknown || self.known.len() > MOST_FOLDERS;
        if self.unknown {
            self.known.clear();
        }
        self
    }

    /// Whether all of these are among those.
    pub(super) fn are_among(&self, others: &Self) -> bool {
        others.unknown || (!self.unknown && self.known.iter().all(|one| others.known.contains(one)))
    }

    /// Where a word leads from here.
    pub(super) fn place(&self, word: &CommandWord) -> Place {
        let Some(text) = word.known() else {
            return Place::Unknown;
        };
        if word.is_home() || text.starts_with('/') {
            return Place::Known {
                path: PathBuf::from(text),
                others: Vec::new(),
                relative: false,
            };
        }
        let mut paths = self.known.iter().map(|folder| folder.join(text));
        match paths.next() {
            Some(path) if !self.unknown => Place::Known {
                path,
                others: paths.collect(),
                relative: true,
            },
            _ => Place::Unknown,
        }
    }

    /// The folders after changing to a word, as the shell computes them: by text alone.
    pub(super) fn go(&self, word: &CommandWord) -> Self {
        let Place::Known { path, others, .. } = self.place(word) else {
            return Self::unknown();
        };
        let plain: Option<Vec<PathBuf>> = std::iter::once(&path)
            .chain(&others)
            .map(|path| lexical(path))
            .collect();
        match plain {
            Some(known) => Self {
                known,
                unknown: false,
            },
            None => Self::unknown(),
        }
    }

    /// The place of the folder itself.
    pub(super) fn itself(&self) -> Place {
        let mut known = self.known.iter().cloned();
        match known.next() {
            Some(path) if !self.unknown => Place::Known {
                path,
                others: known.collect(),
                relative: true,
            },
            _ => Place::Unknown,
        }
    }
}

impl After {
    /// Nothing changed.
    pub(super) fn same(folders: Folders) -> Self {
        Self {
            ok: folders.clone(),
            failed: folders,
        }
    }

    /// However it ended.
    pub(super) fn any(self) -> Folders {
        self.ok.or(self.failed)
    }
}

impl Place {
    /// Forgets what depends on the folder.
    pub(super) fn blur(&mut self) {
        if matches!(self, Self::Known { relative: true, .. }) {
            *self = Self::Unknown;
        }
    }

    /// Forgets what lies in the home directory.
    pub(super) fn blur_home(&mut self) {
        if let Self::Known { path, others, .. } = self
            && std::iter::once(&*path)
                .chain(others.iter())
                .any(|path| path.starts_with("~"))
        {
            *self = Self::Unknown;
        }
    }

    /// All paths that it may be.
    pub(super) fn paths(&self) -> impl Iterator<Item = &Path> {
        let (path, others) = match self {
            Self::Known { path, others, .. } => (Some(path), others.as_slice()),
            Self::Unknown => (None, &[][..]),
        };
        path.into_iter().chain(others).map(PathBuf::as_path)
    }

    /// All paths without `.` and `..`, relative to the root when they lie inside, the likely one
    /// first.
    pub(super) fn relative_to<'a>(&'a self, root: &'a Path) -> impl Iterator<Item = String> + 'a {
        self.paths().filter_map(lexical).map(move |path| {
            let inside = path.strip_prefix(root).unwrap_or(&path);
            match inside.as_os_str().is_empty() {
                true => ".".to_owned(),
                false => inside.to_string_lossy().into_owned(),
            }
        })
    }
}

/// The path without `.` and `..`, by its text alone. None if it leaves the home directory upwards.
fn lexical(path: &Path) -> Option<PathBuf> {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir if plain == Path::new("~") => return None,
            Component::ParentDir => {
                plain.pop();
            }
            other => plain.push(other),
        }
    }
    Some(plain)
}

const MOST_FOLDERS: usize = 8;
