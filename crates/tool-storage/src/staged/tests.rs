use std::fs;

use super::*;

/// Ids cannot be guessed, so that only a unit test can occupy the name of the next output.
#[test]
fn a_name_that_is_taken_is_refused_and_left_alone() -> io::Result<()> {
    let root = tempfile::tempdir()?;
    let folder = Arc::new(
        Folder::open(root.path(), crate::faults::Faults::default()).map_err(io::Error::other)?,
    );
    let id = Id::mint().map_err(io::Error::other)?;
    let victim = root.path().join("victim");
    fs::write(&victim, "untouched")?;
    #[cfg(unix)]
    std::os::unix::fs::symlink(&victim, root.path().join(id.to_string()))?;
    #[cfg(not(unix))]
    fs::copy(&victim, root.path().join(id.to_string()))?;

    let mut staged = Staged::create(&folder, id.to_string(), crate::gauge::Hash::None)?;
    staged.write_now(b"new")?;
    staged.finish(b"", false)?;
    let refused = staged.publish().map_err(|error| error.kind());

    assert_eq!(refused, Err(io::ErrorKind::AlreadyExists));
    assert_eq!(fs::read_to_string(&victim)?, "untouched");
    assert!(!folder.names()?.iter().any(|name| is_staged_name(name)));
    Ok(())
}
