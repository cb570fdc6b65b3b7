//! Which variables of the host's environment a server is given.

use std::ffi::{OsStr, OsString};

/// Names that a program needs to find its files, its language and its terminal. None of them
/// is where secrets are kept.
const ALLOWED: &[&str] = &[
    "HOME",
    "LANG",
    "LANGUAGE",
    "LOGNAME",
    "PATH",
    "SHELL",
    "TERM",
    "TMPDIR",
    "TZ",
    "USER",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
    #[cfg(windows)]
    "APPDATA",
    #[cfg(windows)]
    "COMSPEC",
    #[cfg(windows)]
    "LOCALAPPDATA",
    #[cfg(windows)]
    "PATHEXT",
    #[cfg(windows)]
    "PROGRAMFILES",
    #[cfg(windows)]
    "SYSTEMDRIVE",
    #[cfg(windows)]
    "SYSTEMROOT",
    #[cfg(windows)]
    "TEMP",
    #[cfg(windows)]
    "TMP",
    #[cfg(windows)]
    "USERNAME",
    #[cfg(windows)]
    "USERPROFILE",
];

/// The variables of the host that every server is given.
pub(crate) fn allowed() -> impl Iterator<Item = (OsString, OsString)> {
    std::env::vars_os().filter(|(name, _)| is_allowed(name))
}

fn is_allowed(name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| {
        let name = if cfg!(windows) {
            name.to_ascii_uppercase()
        } else {
            name.to_owned()
        };
        name.starts_with("LC_") || ALLOWED.contains(&name.as_str())
    })
}
