//! The one folder that the built-in tools reach.

use std::fmt;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use cap_fs_ext::DirExt as _;
use cap_std::ambient_authority;
use cap_std::fs::{Dir, File};
use thiserror::Error;
use tool_core::ToolFailure;

use crate::place::{Place, Target, Unresolved, open_file};

/// The folder that file tools reach, held as an open directory handle.
///
/// Every file is opened through the handle, so neither `..`, an absolute path nor a symbolic link
/// leads out, also when the tree changes meanwhile. Clones are cheap and share the handle.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let folder = tempfile::tempdir()?;
/// let workspace = tool_builtin::Workspace::open(folder.path())?;
/// assert!(workspace.root().is_absolute());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Workspace(Arc<Inner>);

struct Inner {
    dir: Dir,
    root: PathBuf,
    spelled: PathBuf,
    writing: Mutex<()>,
}

/// A folder that could not be opened as a workspace.
#[derive(Debug, Error)]
#[error("workspace {} could not be opened", .path.display())]
pub struct WorkspaceError {
    path: PathBuf,
    #[source]
    source: io::Error,
}

impl Workspace {
    /// Opens a folder. A relative path starts from the current folder of the process.
    ///
    /// # Errors
    /// [`WorkspaceError`] when the path names no folder that can be opened.
    pub fn open(root: impl AsRef<Path>) -> Result<Self, WorkspaceError> {
        let root = root.as_ref();
        let open = || {
            let spelled = std::path::absolute(root)?;
            let canonical = spelled.canonicalize()?;
            let dir = Dir::open_ambient_dir(&canonical, ambient_authority())?;
            Ok(Self(Arc::new(Inner {
                dir,
                root: canonical,
                spelled,
                writing: Mutex::new(()),
            })))
        };
        open().map_err(|source| WorkspaceError {
            path: root.to_owned(),
            source,
        })
    }

    /// The absolute path of the folder, with all links resolved. For operators and policy; no
    /// tool shows it to a model.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.0.root
    }

    pub(crate) fn dir(&self) -> &Dir {
        &self.0.dir
    }

    /// Opens a folder by a resolved path, one component after the other.
    ///
    /// A link in any of them is refused: it was none when the path was judged, and what it leads
    /// to was not judged.
    pub(crate) fn open_folder(&self, path: &Path) -> io::Result<Dir> {
        self.descend(path, |folder, name| folder.open_dir_nofollow(name))
    }

    /// The same, where folders that are missing are made.
    pub(crate) fn make_folder(&self, path: &Path) -> io::Result<Dir> {
        self.descend(path, |folder, name| {
            match folder.create_dir(name) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                _ => {}
            }
            folder.open_dir_nofollow(name)
        })
    }

    /// Opens a file for reading by a resolved path, as [`open_folder`](Self::open_folder) does.
    pub(crate) fn open_file(&self, path: &Path) -> io::Result<File> {
        let name = path.file_name().ok_or(io::ErrorKind::IsADirectory)?;
        let folder = self.open_folder(path.parent().unwrap_or(Path::new("")))?;
        open_file(&folder, Path::new(name))
    }

    fn descend(
        &self,
        path: &Path,
        step: impl Fn(&Dir, &Path) -> io::Result<Dir>,
    ) -> io::Result<Dir> {
        let mut folder = self.dir().try_clone()?;
        for component in path.components() {
            match component {
                Component::CurDir => {}
                Component::Normal(name) => folder = step(&folder, Path::new(name))?,
                // A resolved path has none of these.
                _ => return Err(io::ErrorKind::InvalidInput.into()),
            }
        }
        Ok(folder)
    }

    /// Holds off other writes of this workspace, so that a change made of a read and a write
    /// loses none.
    pub(crate) fn writing(&self) -> MutexGuard<'_, ()> {
        self.0
            .writing
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Understands a path as a model spelled it, without looking at the disk.
    pub(crate) fn place(&self, path: &str) -> Result<Place, ToolFailure> {
        Place::parse(path, [&self.0.root, &self.0.spelled])
    }

    /// Resolves every link on the way to a place.
    pub(crate) fn resolve(&self, place: &Place) -> Result<Target, Unresolved> {
        self.resolve_path(place.relative())
    }

    fn resolve_path(&self, path: &Path) -> Result<Target, Unresolved> {
        match self.canonical(path) {
            Ok(path) => Ok(Target { path, exists: true }),
            Err(Unresolved::Io(error)) if error.kind() == io::ErrorKind::NotFound => {
                if self.dir().symlink_metadata(path).is_ok() {
                    return Err(Unresolved::Dangling);
                }
                let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
                    return Err(Unresolved::Io(error));
                };
                let parent = self.resolve_path(parent)?;
                Ok(Target {
                    path: parent.path.join(name),
                    exists: false,
                })
            }
            Err(unresolved) => Err(unresolved),
        }
    }

    fn canonical(&self, path: &Path) -> Result<PathBuf, Unresolved> {
        const ATTEMPTS: usize = 16;
        for _ in 0..ATTEMPTS {
            let found = self.canonical_once(path)?;
            // A file that is replaced in the middle of the look is told by the name that the
            // system gives to what was there before.
            if self.dir().symlink_metadata(dotted(&found)).is_ok() {
                return Ok(found);
            }
        }
        Err(Unresolved::Io(io::ErrorKind::ResourceBusy.into()))
    }

    fn canonical_once(&self, path: &Path) -> Result<PathBuf, Unresolved> {
        let path = dotted(path);
        match self.dir().canonicalize(path) {
            // The folder itself is the empty path, so that joining to it adds no dot.
            Ok(path) if path == Path::new(".") => Ok(PathBuf::new()),
            Ok(path) => Ok(path),
            // The handle takes every absolute link for a way out. One that comes back in is none;
            // what is found here is opened through the handle all the same.
            Err(error) if is_escape(&error) => {
                let absolute = self.0.root.join(path).canonicalize();
                let absolute = absolute.map_err(Unresolved::Io)?;
                match absolute.strip_prefix(&self.0.root) {
                    Ok(inside) => Ok(inside.to_owned()),
                    Err(_) => Err(Unresolved::Outside),
                }
            }
            Err(error) => Err(Unresolved::Io(error)),
        }
    }
}

impl fmt::Debug for Workspace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Workspace").field(&self.0.root).finish()
    }
}

/// The empty path is the folder itself, which only `.` names to the operating system.
pub(crate) fn dotted(path: &Path) -> &Path {
    if path.as_os_str().is_empty() {
        Path::new(".")
    } else {
        path
    }
}

/// Whether the directory handle refused, not the operating system.
fn is_escape(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::PermissionDenied && error.raw_os_error().is_none()
}

#[cfg(all(test, unix))]
mod tests;
