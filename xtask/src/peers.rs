//! The peers of the end-to-end tests: programs that other people wrote, at pinned versions.
//!
//! They go below the target folder and nowhere else. The tests find them through one variable,
//! [`Peers::VARIABLE`]: `node/node_modules` and `python/bin` lie in the folder that it names, as far
//! as they could be installed.

mod node;
mod python;

use std::fmt;
use std::path::{Path, PathBuf};

use crate::{Error, Workspace};

/// The pins, and the folder into which they are installed.
#[derive(Clone, Debug)]
pub struct Peers {
    pins: PathBuf,
    folder: PathBuf,
}

/// What became of the peers of one language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    language: &'static str,
    state: State,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum State {
    Installed,
    AlreadyThere,
    Absent(String),
    Broke(String),
}

/// How the peers of a language are installed.
struct Kit {
    language: &'static str,
    /// The files of pins, relative to the folder of pins.
    pins: &'static [&'static str],
    /// The version of what is on this machine, or what is missing.
    probe: fn() -> Result<String, String>,
    /// Installs into an empty folder. Whether it succeeded is the value.
    install: fn(pins: &Path, folder: &Path) -> Result<bool, Error>,
}

const KITS: [Kit; 2] = [node::KIT, python::KIT];

/// Written last, so that a folder without it is one that was given up.
const STAMP: &str = "installed";

impl Peers {
    /// The variable that tells the tests where the peers are.
    pub const VARIABLE: &'static str = "TOOL_PEERS";

    /// The peers of a workspace.
    ///
    /// # Errors
    /// When the target folder cannot be found.
    pub fn of(workspace: &Workspace) -> Result<Self, Error> {
        Ok(Self {
            pins: workspace.root().join("tests/peers"),
            folder: workspace.target()?.join("peers"),
        })
    }

    /// The servers that the gateway is compared with.
    ///
    /// # Errors
    /// When the target folder cannot be found.
    pub fn servers(workspace: &Workspace) -> Result<Self, Error> {
        Ok(Self {
            pins: workspace.root().join("tests/servers"),
            folder: workspace.target()?.join("servers"),
        })
    }

    /// Where they are installed.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Installs what is not there yet with the same pins.
    ///
    /// # Errors
    /// When the pins cannot be read or the folder cannot be written. A machine that lacks a language
    /// and an install that fails are no errors: the peer says so.
    pub fn install(&self) -> Result<Vec<Peer>, Error> {
        KITS.iter().map(|kit| self.install_one(kit)).collect()
    }

    /// The folder, if there is anything in it that the present pins ask for.
    #[must_use]
    pub fn ready(&self) -> Option<&Path> {
        let is_ready = |kit: &Kit| {
            (kit.probe)()
                .ok()
                .and_then(|version| self.stamp(kit, &version).ok())
                .is_some_and(|stamp| self.bears(kit, &stamp))
        };
        KITS.iter().any(is_ready).then_some(self.folder.as_path())
    }

    fn install_one(&self, kit: &Kit) -> Result<Peer, Error> {
        let language = kit.language;
        let peer = |state| Ok(Peer { language, state });
        let version = match (kit.probe)() {
            Ok(version) => version,
            Err(missing) => return peer(State::Absent(missing)),
        };
        let stamp = self.stamp(kit, &version)?;
        if self.bears(kit, &stamp) {
            return peer(State::AlreadyThere);
        }
        let folder = self.folder.join(language);
        let written =
            |error| Error::because(format!("{} could not be written", folder.display()), error);
        if folder.exists() {
            std::fs::remove_dir_all(&folder).map_err(written)?;
        }
        std::fs::create_dir_all(&folder).map_err(written)?;
        match (kit.install)(&self.pins, &folder) {
            Ok(true) => {
                std::fs::write(folder.join(STAMP), stamp).map_err(written)?;
                peer(State::Installed)
            }
            Ok(false) => peer(State::Broke("the install failed, see above".to_owned())),
            Err(error) => peer(State::Broke(error.chain())),
        }
    }

    /// What an install of these pins by that version leaves behind.
    fn stamp(&self, kit: &Kit, version: &str) -> Result<String, Error> {
        let mut stamp = format!("{version}\n");
        for name in kit.pins {
            let path = self.pins.join(name);
            stamp += &std::fs::read_to_string(&path).map_err(|error| {
                Error::because(format!("{} could not be read", path.display()), error)
            })?;
        }
        Ok(stamp)
    }

    fn bears(&self, kit: &Kit, stamp: &str) -> bool {
        let path = self.folder.join(kit.language).join(STAMP);
        std::fs::read_to_string(path).is_ok_and(|found| found == stamp)
    }
}

impl Peer {
    /// Whether the tests can use it.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        matches!(self.state, State::Installed | State::AlreadyThere)
    }

    /// Whether the machine has the language and the install failed all the same.
    #[must_use]
    pub fn broke(&self) -> bool {
        matches!(self.state, State::Broke(_))
    }
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} peers: ", self.language)?;
        match &self.state {
            State::Installed => f.write_str("installed"),
            State::AlreadyThere => f.write_str("already there"),
            State::Absent(missing) => write!(f, "left out, {missing}"),
            State::Broke(reason) => f.write_str(reason),
        }
    }
}

#[cfg(test)]
mod tests;
