//! A path inside the workspace, as spelled and as resolved.

use std::fmt;
use std::io;
use std::path::{Component, Path, PathBuf};

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt, OpenOptionsSyncExt};
use cap_std::fs::{Dir, File, OpenOptions};
use tool_core::{HandlerError, Resource, ToolFailure};

/// A path as a model spelled it, made relative to the workspace without looking at the disk.
///
/// `.` and `..` are resolved by name, so that what policy judges is what is opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    relative: PathBuf,
}

/// Where a place leads, all links resolved, relative to the workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    /// The path. No component of it is a link, unless somebody makes it one meanwhile.
    pub(crate) path: PathBuf,
    /// Whether something is there.
    pub(crate) exists: bool,
}

/// Why a place leads nowhere.
#[derive(Debug)]
pub(crate) enum Unresolved {
    /// A link on the way leaves the workspace.
    Outside,
    /// The place is a link to nothing.
    Dangling,
    /// The operating system refused.
    Io(io::Error),
}

impl Place {
    pub(crate) fn parse<'a>(
        path: &str,
        roots: impl IntoIterator<Item = &'a PathBuf>,
    ) -> Result<Self, ToolFailure> {
        if path.is_empty() {
            return Err(ToolFailure::new(
                "the path is empty; \".\" names the workspace itself",
            ));
        }
        if path.contains('\0') {
            return Err(ToolFailure::new("the path holds a NUL character"));
        }
        if path == "~" || path.starts_with("~/") {
            return Err(outside());
        }
        let path = Path::new(path);
        let normal = normalise(path).ok_or_else(outside)?;
        if !path.has_root() {
            return Ok(Self { relative: normal });
        }
        roots
            .into_iter()
            .find_map(|root| normal.strip_prefix(root).ok())
            .map(|relative| Self {
                relative: relative.to_owned(),
            })
            .ok_or_else(outside)
    }

    /// The place of a resolved path.
    pub(crate) fn of(resolved: &Path) -> Self {
        Self {
            relative: resolved.to_owned(),
        }
    }

    /// Relative to the workspace; empty for the workspace itself.
    pub(crate) fn relative(&self) -> &Path {
        &self.relative
    }

    /// What policy is asked about.
    pub(crate) fn resource(&self, root: &Path) -> Resource {
        let relative = self.spelled();
        if relative.starts_with('~') {
            // Policy reads a leading tilde as the home folder.
            Resource::path(root, root.join(&self.relative))
        } else {
            Resource::path(root, relative)
        }
    }

    /// The pattern that allows exactly this place from now on, if a pattern can say that.
    pub(crate) fn pattern(&self) -> Option<String> {
        let spelled = self.spelled();
        let special = |c: char| matches!(c, '*' | '?' | '[' | ']' | '{' | '}' | '\\' | '!' | '~');
        (!spelled.contains(special)).then_some(spelled)
    }

    fn spelled(&self) -> String {
        if self.relative.as_os_str().is_empty() {
            ".".to_owned()
        } else {
            self.relative.to_string_lossy().into_owned()
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&shown(&self.relative))
    }
}

impl Unresolved {
    /// The same for the handler of a tool.
    pub(crate) fn explain(self, place: &Place) -> HandlerError {
        match self {
            Self::Outside => ToolFailure::new(format!(
                "{place} is behind a symbolic link that leaves the workspace; only the workspace is reachable"
            ))
            .into(),
            Self::Dangling => ToolFailure::new(format!(
                "{place} is a symbolic link to nothing; remove the link or name its target"
            ))
            .into(),
            Self::Io(error) => refused(&shown(&place.relative), error),
        }
    }
}

/// A path for a model: relative, with `/`, and in quotes with escapes where it holds characters
/// that would not show as themselves.
pub(crate) fn shown(path: &Path) -> String {
    if path.as_os_str().is_empty() {
        return ".".to_owned();
    }
    let lossy = path.to_string_lossy();
    let plain = |c: char| matches!(c, '"' | '\'' | '\\') || c.escape_debug().count() == 1;
    if lossy.chars().all(plain) {
        lossy.into_owned()
    } else {
        format!("\"{}\"", lossy.escape_debug())
    }
}

/// Opens a file for reading by a resolved path, whatever it is, without waiting for a pipe's other
/// end. A link in its place is refused.
pub(crate) fn open_file(dir: &Dir, path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).follow(FollowSymlinks::No).nonblock(true);
    dir.open_with(path, &options)
}

/// A failure of the operating system that a model may do something about; any other is a defect.
pub(crate) fn refused(shown: &str, error: io::Error) -> HandlerError {
    use io::ErrorKind as Kind;
    match error.kind() {
        Kind::NotFound
        | Kind::PermissionDenied
        | Kind::AlreadyExists
        | Kind::NotADirectory
        | Kind::IsADirectory
        | Kind::ReadOnlyFilesystem
        | Kind::StorageFull
        | Kind::QuotaExceeded
        | Kind::FileTooLarge
        | Kind::ResourceBusy
        | Kind::TooManyLinks
        | Kind::InvalidFilename => {
            let kind = error.kind();
            ToolFailure::new(format!("{shown} cannot be used: {kind}"))
                .because(error)
                .into()
        }
        _ if is_loop(&error) => ToolFailure::new(format!("{shown} is behind a loop of links"))
            .because(error)
            .into(),
        _ => error.into(),
    }
}

#[cfg(unix)]
fn is_loop(error: &io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error())
}

#[cfg(not(unix))]
fn is_loop(_error: &io::Error) -> bool {
    false
}

fn outside() -> ToolFailure {
    ToolFailure::new(
        "the path leads outside the workspace; only the workspace is reachable, so name paths relative to it",
    )
}

/// Resolves `.` and `..` by name. `None` when it climbs above its start.
fn normalise(path: &Path) -> Option<PathBuf> {
    let mut normal = PathBuf::new();
    let mut depth = 0_usize;
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir if path.has_root() => {
                // Above the root of the file system is the root again.
                if depth > 0 {
                    normal.pop();
                    depth -= 1;
                }
            }
            Component::ParentDir => {
                depth = depth.checked_sub(1)?;
                normal.pop();
            }
            Component::Prefix(_) | Component::RootDir => normal.push(component),
            Component::Normal(name) => {
                normal.push(name);
                depth += 1;
            }
        }
    }
    Some(normal)
}
