//! The private directory that everything is kept in.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use cap_fs_ext::{DirExt, FollowSymlinks, OpenOptionsFollowExt};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions};
use thiserror::Error;
use tool_core::{StoreError, StoreErrorKind};

use crate::faults::{Faults, Op};
use crate::store_file::StoreFile;

/// A directory by its handle: what happens to its path later does not matter, and no name leads
/// out of it. Files are private from creation and symbolic links are never followed.
#[derive(Debug)]
pub(crate) struct Folder {
    dir: Dir,
    root: PathBuf,
    faults: Faults,
}

impl Folder {
    /// Opens the directory, and creates it and its parents where they are missing.
    pub(crate) fn open(root: &Path, faults: Faults) -> Result<Self, StoreError> {
        faults
            .check(Op::Open)
            .and_then(|()| open_private(root))
            .map(|dir| Self {
                dir,
                root: root.to_owned(),
                faults,
            })
            .map_err(|cause| failed(root, "could not be opened", cause))
    }

    /// Opens a directory that is there.
    pub(crate) fn find(root: &Path, faults: Faults) -> Result<Self, StoreError> {
        match fs::symlink_metadata(root) {
            Ok(_) => Self::open(root, faults),
            Err(cause) => Err(failed(root, "could not be opened", cause)),
        }
    }

    /// The directory inside of this one, if it is there.
    pub(crate) fn child(&self, name: &str) -> io::Result<Option<Self>> {
        self.faults.check(Op::Open)?;
        match self.dir.open_dir_nofollow(name) {
            Ok(dir) => self.inside(name, ensure_private(dir, false)?).map(Some),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The directory inside of this one, created where it is missing.
    pub(crate) fn child_or_create(&self, name: &str) -> io::Result<Self> {
        self.faults.check(Op::CreateFolder)?;
        let is_new = create_private(&self.dir, OsStr::new(name))?;
        self.faults.check(Op::Open)?;
        let dir = self.dir.open_dir_nofollow(name)?;
        self.inside(name, ensure_private(dir, is_new)?)
    }

    /// Removes an empty directory inside of this one; `false` when it is not empty or not there.
    pub(crate) fn remove_child(&self, name: &str) -> io::Result<bool> {
        self.faults.check(Op::Remove)?;
        match self.dir.remove_dir(name) {
            Ok(()) => Ok(true),
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::DirectoryNotEmpty
                ) =>
            {
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }

    /// Creates a file that must not exist.
    pub(crate) fn create(&self, name: &str) -> io::Result<StoreFile> {
        self.open_for_writing(name, OpenOptions::new().create_new(true))
    }

    /// Opens a file, and creates it where it is missing.
    pub(crate) fn open_or_create(&self, name: &str) -> io::Result<StoreFile> {
        self.open_for_writing(name, OpenOptions::new().create(true))
    }

    /// Opens a file to write at its end, and creates it where it is missing.
    pub(crate) fn append(&self, name: &str) -> io::Result<StoreFile> {
        self.open_for_writing(name, OpenOptions::new().create(true).append(true))
    }

    /// Opens a file for reading; `None` when there is none.
    pub(crate) fn read(&self, name: &str) -> io::Result<Option<StoreFile>> {
        self.faults.check(Op::Open)?;
        match self.dir.symlink_metadata(name) {
            Ok(metadata) if metadata.is_file() => {}
            Ok(_) => return Err(io::Error::other("it is no regular file")),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        }
        let mut options = OpenOptions::new();
        options.read(true).follow(FollowSymlinks::No);
        match self.dir.open_with(name, &options) {
            Ok(file) => Ok(Some(self.file(file.into_std()))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Whether there is anything of that name.
    pub(crate) fn has(&self, name: &str) -> io::Result<bool> {
        match self.dir.symlink_metadata(name) {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Whether a name is that of something else than a file, such as a directory or a link.
    pub(crate) fn is_foreign(&self, name: &str) -> io::Result<bool> {
        match self.dir.symlink_metadata(name) {
            Ok(metadata) => Ok(!metadata.is_file()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// How long a file is; 0 where there is none.
    pub(crate) fn bytes(&self, name: &str) -> io::Result<u64> {
        match self.dir.symlink_metadata(name) {
            Ok(metadata) => Ok(metadata.len()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
            Err(error) => Err(error),
        }
    }

    /// Gives a file the name under which it is seen. The name must be free.
    pub(crate) fn publish(&self, from: &str, to: &str) -> io::Result<()> {
        self.faults.check(Op::Rename)?;
        match self.dir.symlink_metadata(to) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.dir.rename(from, &self.dir, to)
            }
            Err(error) => Err(error),
            Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
        }
    }

    /// Gives a file a name in place of whatever has it.
    pub(crate) fn replace(&self, from: &str, to: &str) -> io::Result<()> {
        self.faults.check(Op::Rename)?;
        self.dir.rename(from, &self.dir, to)
    }

    /// Removes a file, a symbolic link itself; `false` when there is none.
    pub(crate) fn remove(&self, name: &str) -> io::Result<bool> {
        self.faults.check(Op::Remove)?;
        match self.dir.remove_file(name) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// The names of everything in the directory. Names that are no text are not this store's.
    pub(crate) fn names(&self) -> io::Result<Vec<String>> {
        self.faults.check(Op::List)?;
        let mut names = Vec::new();
        for entry in self.dir.entries()? {
            names.extend(entry?.file_name().into_string());
        }
        Ok(names)
    }

    /// When a name came or went last, where the file system tells and that was so long ago that a
    /// later change would show.
    pub(crate) fn changed(&self) -> Option<SystemTime> {
        let changed = self.dir.dir_metadata().ok()?.modified().ok()?.into_std();
        // The file system's clock, not that of the store.
        let age = SystemTime::now().duration_since(changed).ok()?;
        (age >= COARSEST).then_some(changed)
    }

    /// Makes the names in the directory survive a power cut.
    pub(crate) fn sync(&self) -> io::Result<()> {
        self.faults.check(Op::Sync)?;
        self.dir.open(".")?.into_std().sync_all()
    }

    /// An error of this directory, for operators.
    pub(crate) fn failed(&self, what: &str, cause: io::Error) -> StoreError {
        failed(&self.root, what, cause)
    }

    /// Where it is, for operators.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    fn inside(&self, name: &str, dir: Dir) -> io::Result<Self> {
        Ok(Self {
            dir,
            root: self.root.join(name),
            faults: self.faults.clone(),
        })
    }

    fn open_for_writing(&self, name: &str, options: &mut OpenOptions) -> io::Result<StoreFile> {
        self.faults.check(Op::Open)?;
        options.read(true).write(true).follow(FollowSymlinks::No);
        #[cfg(unix)]
        cap_std::fs::OpenOptionsExt::mode(options, 0o600);
        let file = self.dir.open_with(name, options)?.into_std();
        // A umask can only have taken more away.
        restrict(&file, 0o600)?;
        Ok(self.file(file))
    }

    fn file(&self, file: fs::File) -> StoreFile {
        StoreFile::new(file, self.faults.clone())
    }
}

/// What went wrong with one file of a folder, which it names.
pub(crate) fn of_file(name: &str, source: io::Error) -> io::Error {
    let name = name.to_owned();
    io::Error::new(source.kind(), OfFile { name, source })
}

#[derive(Debug, Error)]
#[error("its file \"{}\" could not be used", name.escape_debug())]
struct OfFile {
    name: String,
    source: io::Error,
}

/// Whether a file still has a name.
#[cfg(unix)]
pub(crate) fn is_linked(file: &fs::File) -> io::Result<bool> {
    Ok(std::os::unix::fs::MetadataExt::nlink(&file.metadata()?) > 0)
}

/// Whether a file still has a name. Elsewhere an open file keeps it.
#[cfg(not(unix))]
pub(crate) fn is_linked(_file: &fs::File) -> io::Result<bool> {
    Ok(true)
}

/// As far apart as two changes may be and have one time, on file systems that count in seconds.
const COARSEST: Duration = Duration::from_secs(2);

fn failed(root: &Path, what: &str, cause: io::Error) -> StoreError {
    let detail = format!("output store {} {what}", root.display());
    StoreError::new(StoreErrorKind::Io, detail).because(cause)
}

fn open_private(root: &Path) -> io::Result<Dir> {
    let Some(name) = root.file_name() else {
        // `.`, `..` and the like: there is nothing to create.
        let dir = Dir::open_ambient_dir(root, ambient_authority())?;
        return ensure_private(dir, false);
    };
    let parent = match root.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    create_parents(parent)?;
    let parent = Dir::open_ambient_dir(parent, ambient_authority())?;
    let is_new = create_private(&parent, name)?;
    if !is_new && parent.symlink_metadata(name)?.is_symlink() {
        return Err(io::Error::other(
            "it is a symbolic link; name the directory itself",
        ));
    }
    ensure_private(parent.open_dir_nofollow(name)?, is_new)
}

fn create_parents(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Whether the directory is new.
fn create_private(parent: &Dir, name: &OsStr) -> io::Result<bool> {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "there is no mode to set"))]
    let mut builder = cap_std::fs::DirBuilder::new();
    #[cfg(unix)]
    cap_std::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match parent.create_dir_with(name, &builder) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error),
    }
}

/// Takes a directory that nobody else may enter, or that can be made so without changing anything
/// that is in use: a new one or an empty one.
#[cfg(unix)]
fn ensure_private(dir: Dir, is_new: bool) -> io::Result<Dir> {
    let mode = cap_std::fs::MetadataExt::mode(&dir.dir_metadata()?) & 0o777;
    if is_new || mode & 0o077 != 0 {
        if !is_new && dir.entries()?.next().is_some() {
            return Err(io::Error::other(format!(
                "others may enter it (mode {mode:03o}) and it is not empty; make it private with \
                 chmod 700"
            )));
        }
        // The handle itself may be good for nothing but names.
        restrict(&dir.open(".")?.into_std(), 0o700)?;
    }
    Ok(dir)
}

#[cfg(not(unix))]
fn ensure_private(dir: Dir, _is_new: bool) -> io::Result<Dir> {
    Ok(dir)
}

#[cfg(unix)]
fn restrict(file: &fs::File, mode: u32) -> io::Result<()> {
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(mode))
}

#[cfg(not(unix))]
fn restrict(_file: &fs::File, _mode: u32) -> io::Result<()> {
    Ok(())
}
