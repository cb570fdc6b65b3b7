//! Replacing a file in one step.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt};
use cap_std::fs::{Dir, File, OpenOptions, Permissions};

use crate::Workspace;
use crate::offload::Stop;

/// Puts contents in place of a file, or where there was none, by a resolved path.
///
/// They are written aside, in the same folder, and renamed: whoever reads the file meanwhile sees
/// the old contents or the new, never a part. Nothing is renamed once nobody waits.
pub(crate) fn replace(
    workspace: &Workspace,
    path: &Path,
    contents: &[u8],
    mode: Option<Permissions>,
    stop: &Stop,
) -> io::Result<()> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidFilename)?;
    let parent = workspace.open_folder(path.parent().unwrap_or(Path::new("")))?;
    let (mut file, aside) = Aside::create(&parent)?;
    file.write_all(contents)?;
    if let Some(mode) = mode {
        file.set_permissions(mode)?;
    }
    file.sync_all()?;
    if stop.is_set() {
        return Err(io::ErrorKind::TimedOut.into());
    }
    aside.rename(name.as_ref())
}

/// A file that is removed unless it is renamed.
struct Aside<'a> {
    folder: &'a Dir,
    name: Option<PathBuf>,
}

impl<'a> Aside<'a> {
    fn create(folder: &'a Dir) -> io::Result<(File, Self)> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let mut options = OpenOptions::new();
        options
            .write(true)
            .create_new(true)
            .follow(FollowSymlinks::No);
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let name = PathBuf::from(format!(".tool-write-{}-{number}.tmp", std::process::id()));
            match folder.open_with(&name, &options) {
                Ok(file) => {
                    let name = Some(name);
                    return Ok((file, Self { folder, name }));
                }
                // Left behind by another process of the same number.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn rename(mut self, name: &Path) -> io::Result<()> {
        if let Some(aside) = &self.name {
            self.folder.rename(aside, self.folder, name)?;
        }
        self.name = None;
        Ok(())
    }
}

impl Drop for Aside<'_> {
    fn drop(&mut self) {
        if let Some(name) = &self.name {
            // Whatever made the write fail is what gets reported.
            let _ = self.folder.remove_file(name);
        }
    }
}
