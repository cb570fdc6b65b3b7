//! Which file of settings is read.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::args::Common;
use crate::error::CliError;
use crate::render;

/// The name of a file of settings.
const NAME: &str = "tool.toml";
/// The variable that names one.
const VARIABLE: &str = "TOOL_CONFIG";

/// The file of settings that is read: the one that is named by `--config`, else by `TOOL_CONFIG`,
/// else the user's own.
///
/// Never what just lies in the current folder. Settings allow: they hold rules, and say where saved
/// approvals and pins are kept and which folder the tools work on. Whoever starts a command in a
/// folder that somebody else filled would run what that one likes.
pub(crate) fn read(common: &Common) -> Result<Option<PathBuf>, CliError> {
    if let Some(named) = &common.config {
        return Ok(Some(named.clone()));
    }
    if let Some(named) = std::env::var_os(VARIABLE).filter(|named| !named.is_empty()) {
        let named = PathBuf::from(named);
        // A relative one would be another file in each folder, and so whatever lies there.
        return match named.is_absolute() {
            true => Ok(Some(named)),
            false => Err(CliError::RelativeSettings {
                variable: VARIABLE,
                path: named,
            }),
        };
    }
    Ok(own().filter(|own| may_be_there(own)))
}

/// The file of settings that lies in the current folder and is not read, as nobody named it.
pub(crate) fn unread(common: &Common) -> Option<&'static Path> {
    let lies = Path::new(NAME);
    let named =
        common.config.is_some() || std::env::var_os(VARIABLE).is_some_and(|it| !it.is_empty());
    if named || !may_be_there(lies) {
        return None;
    }
    let whole = |path: &Path| path.canonicalize().ok();
    let is_own = own().is_some_and(|own| whole(&own).is_some() && whole(&own) == whole(lies));
    (!is_own).then_some(lies)
}

/// Tells of settings that lie in the current folder and are not read.
pub(crate) fn tell_unread(common: &Common) {
    if let Some(path) = unread(common) {
        let path = path.display();
        render::note(&format!(
            "{path} of this folder is not read, as nobody named it; \
             if you trust it: --config {path}"
        ));
    }
}

/// The settings of the user, where their system names a folder for them.
fn own() -> Option<PathBuf> {
    let absolute = |name: &str| {
        let path = PathBuf::from(std::env::var_os(name)?);
        path.is_absolute().then_some(path)
    };
    let base = absolute("XDG_CONFIG_HOME").or_else(|| Some(absolute("HOME")?.join(".config")))?;
    Some(base.join("tool").join(NAME))
}

/// Whether there is such a file, or it cannot be told: then reading it says what is wrong, as
/// nothing may run without the rules that it may hold.
fn may_be_there(path: &Path) -> bool {
    match path.symlink_metadata() {
        Ok(_) => true,
        Err(error) => !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory),
    }
}
