use std::fs;
use std::os::unix::fs::symlink;

use super::*;

/// A path that was resolved holds no link. Only a unit test puts one there between that and the
/// opening without a race.
#[test]
fn a_link_in_a_resolved_path_is_refused_also_where_it_stays_inside() -> io::Result<()> {
    let root = tempfile::tempdir()?;
    fs::create_dir_all(root.path().join("real/inner"))?;
    fs::write(root.path().join("real/inner/file"), "text")?;
    symlink("real", root.path().join("link"))?;
    symlink("file", root.path().join("real/inner/other"))?;
    let workspace = Workspace::open(root.path()).map_err(io::Error::other)?;

    assert!(workspace.open_folder(Path::new("real/inner")).is_ok());
    assert!(workspace.open_file(Path::new("real/inner/file")).is_ok());
    for path in ["link", "link/inner"] {
        assert!(workspace.open_folder(Path::new(path)).is_err(), "{path}");
        assert!(workspace.make_folder(Path::new(path)).is_err(), "{path}");
    }
    for path in ["link/inner/file", "real/inner/other"] {
        assert!(workspace.open_file(Path::new(path)).is_err(), "{path}");
    }
    Ok(())
}
