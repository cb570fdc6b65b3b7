//! Every file below a folder, in one order.

use std::path::{Path, PathBuf};

use crate::Workspace;
use crate::ignores::Ignores;
use crate::offload::Stop;

/// Walks a folder of the workspace through its handle, depth first and sorted by name, without
/// following links.
///
/// Hidden files are walked too. What ignore files leave out is not, nor are folders of version
/// control; the folder at which the walk begins is always walked.
pub(crate) struct Walk<'a> {
    workspace: &'a Workspace,
    stop: &'a Stop,
    /// Entries still to visit, the next one last.
    pending: Vec<Entry>,
    /// Folders that could not be listed.
    pub(crate) unreadable: u64,
}

struct Entry {
    path: PathBuf,
    kind: Kind,
    ignores: Ignores,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Folder,
    File,
    Link,
}

/// A file that a walk came by.
pub(crate) struct Walked {
    /// Relative to the workspace.
    pub(crate) path: PathBuf,
    /// It is a link, whatever it leads to.
    pub(crate) is_link: bool,
}

impl<'a> Walk<'a> {
    /// A walk of a folder, given relative to the workspace and resolved.
    pub(crate) fn new(workspace: &'a Workspace, folder: &Path, stop: &'a Stop) -> Self {
        let mut ignores = Ignores::default();
        for above in folder.ancestors().skip(1).collect::<Vec<_>>().iter().rev() {
            if let Ok(handle) = workspace.open_folder(above) {
                ignores = ignores.inside(above, &handle);
            }
        }
        Self {
            workspace,
            stop,
            pending: vec![Entry {
                path: folder.to_owned(),
                kind: Kind::Folder,
                ignores,
            }],
            unreadable: 0,
        }
    }

    fn list(&mut self, folder: &Entry) {
        let Ok(handle) = self.workspace.open_folder(&folder.path) else {
            self.unreadable += 1;
            return;
        };
        let Ok(listing) = handle.entries() else {
            self.unreadable += 1;
            return;
        };
        let ignores = folder.ignores.inside(&folder.path, &handle);
        let mut entries = Vec::new();
        for entry in listing {
            if self.stop.is_set() {
                return;
            }
            let Ok(entry) = entry else {
                self.unreadable += 1;
                return;
            };
            let kind = match entry.file_type() {
                Ok(kind) if kind.is_dir() => Kind::Folder,
                Ok(kind) if kind.is_file() => Kind::File,
                Ok(kind) if kind.is_symlink() => Kind::Link,
                // Sockets, pipes and devices hold nothing to search.
                _ => continue,
            };
            let path = folder.path.join(entry.file_name());
            if !ignores.leave_out(&path, kind == Kind::Folder) {
                entries.push(Entry {
                    path,
                    kind,
                    ignores: ignores.clone(),
                });
            }
        }
        entries.sort_unstable_by(|a, b| b.path.cmp(&a.path));
        self.pending.append(&mut entries);
    }
}

impl Iterator for Walk<'_> {
    type Item = Walked;

    fn next(&mut self) -> Option<Walked> {
        while let Some(entry) = self.pending.pop() {
            if self.stop.is_set() {
                self.pending.clear();
                return None;
            }
            match entry.kind {
                Kind::Folder => self.list(&entry),
                kind => {
                    return Some(Walked {
                        path: entry.path,
                        is_link: kind == Kind::Link,
                    });
                }
            }
        }
        None
    }
}
