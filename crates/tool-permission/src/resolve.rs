//! Where a path really leads.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use thiserror::Error;

/// As many links as common systems follow before they call it a loop.
const MOST_LINKS: usize = 40;

/// Why a path leads nowhere that can be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub(crate) enum Unresolved {
    #[error("the links of the path go round in a loop")]
    Loop,
    #[error("a folder of the path cannot be looked into")]
    Hidden,
}

/// The absolute path with every link followed, in any component and also where the last file does
/// not exist yet. `..` goes up from where a link led to.
pub(crate) fn real(path: &Path) -> Result<PathBuf, Unresolved> {
    let mut todo: Vec<Step> = Vec::new();
    push(&mut todo, path);
    let mut real = PathBuf::new();
    let mut links = 0;

    while let Some(step) = todo.pop() {
        match step {
            Step::Root(root) => real = root,
            Step::Up => {
                real.pop();
            }
            Step::Down(name) => {
                real.push(name);
                match fs::symlink_metadata(&real) {
                    Ok(metadata) if metadata.is_symlink() => {
                        links += 1;
                        if links > MOST_LINKS {
                            return Err(Unresolved::Loop);
                        }
                        let target = fs::read_link(&real).map_err(|_| Unresolved::Hidden)?;
                        real.pop();
                        push(&mut todo, &target);
                    }
                    Ok(_) => {}
                    // What does not exist is no link, and neither is anything below a file.
                    Err(error) if is_absent(&error) => {}
                    Err(_) => return Err(Unresolved::Hidden),
                }
            }
        }
    }
    Ok(real)
}

/// The path without `.`, `..`, doubled and last slashes, by its text alone.
pub(crate) fn lexical(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => {
                plain.push(component);
            }
            Component::CurDir => {}
            Component::ParentDir => {
                // The root is its own parent.
                plain.pop();
            }
        }
    }
    plain
}

/// The nearest folder at or above the path that exists.
pub(crate) fn nearest_folder(path: &Path) -> &Path {
    path.ancestors()
        .find(|above| above.is_dir())
        .unwrap_or(path)
}

enum Step {
    Root(PathBuf),
    Up,
    Down(OsString),
}

fn push(todo: &mut Vec<Step>, path: &Path) {
    let mut root = PathBuf::new();
    let mut steps = Vec::new();
    for component in path.components() {
        match component {
            Component::Prefix(_) | Component::RootDir => root.push(component),
            Component::CurDir => {}
            Component::ParentDir => steps.push(Step::Up),
            Component::Normal(name) => steps.push(Step::Down(name.to_owned())),
        }
    }
    todo.extend(steps.into_iter().rev());
    if !root.as_os_str().is_empty() {
        todo.push(Step::Root(root));
    }
}

fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}
