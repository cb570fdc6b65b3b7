use std::fs;

use tool_permission::{ProbedVolumes, Volume, Volumes};

/// Whether the volume of the temporary folder ignores case, found by using it.
fn by_use(folder: &std::path::Path) -> Volume {
    fs::write(folder.join("probe"), "").unwrap();
    if fs::exists(folder.join("PROBE")).unwrap() {
        Volume::IgnoresCase
    } else {
        Volume::KeepsCase
    }
}

#[test]
fn a_folder_is_probed_by_what_is_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let expected = by_use(folder.path());
    assert_eq!(ProbedVolumes::new().volume(folder.path()), expected);
}

#[test]
fn an_empty_folder_is_judged_by_the_one_above() {
    let folder = tempfile::tempdir().unwrap();
    let expected = by_use(folder.path());
    let empty = folder.path().join("0");
    fs::create_dir(&empty).unwrap();
    assert_eq!(ProbedVolumes::new().volume(&empty), expected);
}

#[test]
fn two_names_of_one_file_tell_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let expected = by_use(folder.path());
    if expected == Volume::IgnoresCase {
        return;
    }
    let inner = folder.path().join("0");
    fs::create_dir(&inner).unwrap();
    fs::write(inner.join("a"), "").unwrap();
    fs::hard_link(inner.join("a"), inner.join("A")).unwrap();
    assert_eq!(ProbedVolumes::new().volume(&inner), Volume::KeepsCase);
}

#[test]
fn a_folder_that_is_not_there_is_not_known() {
    let folder = tempfile::tempdir().unwrap();
    let absent = folder.path().join("absent");
    assert_eq!(ProbedVolumes::new().volume(&absent), Volume::Unknown);
}
