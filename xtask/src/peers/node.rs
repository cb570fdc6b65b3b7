//! Peers from npm.

use std::path::Path;

use super::Kit;
use crate::{Error, Invocation};

/// The oldest major version that every pinned package takes.
const OLDEST: u32 = 20;

const PINS: [&str; 2] = ["package.json", "package-lock.json"];

pub(super) const KIT: Kit = Kit {
    language: "node",
    pins: &PINS,
    probe,
    install,
};

fn probe() -> Result<String, String> {
    let ask = |program: &str| Invocation::new(program, ".").args(["--version"]).answer();
    let node = ask("node").ok_or("there is no node")?;
    let major = node.trim_start_matches('v').split('.').next();
    let major: Option<u32> = major.and_then(|major| major.parse().ok());
    if major.is_none_or(|major| major < OLDEST) {
        return Err(format!("node is {node}, and the peers need {OLDEST}"));
    }
    ask(npm()).ok_or("there is no npm")?;
    Ok(node)
}

fn install(pins: &Path, folder: &Path) -> Result<bool, Error> {
    for name in PINS {
        std::fs::copy(pins.join(name), folder.join(name))
            .map_err(|error| Error::because(format!("{name} could not be copied"), error))?;
    }
    // No package may run a program of its own while it is installed.
    Invocation::new(npm(), folder)
        .args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"])
        .run()
}

fn npm() -> &'static str {
    if cfg!(windows) { "npm.cmd" } else { "npm" }
}
