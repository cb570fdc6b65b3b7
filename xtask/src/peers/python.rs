//! Peers from PyPI.

use std::path::Path;

use super::Kit;
use crate::{Error, Invocation};

const PINS: [&str; 1] = ["requirements.txt"];

/// Prints the version, and fails below the oldest that every pinned package takes or without what an
/// environment needs: distributions that split Python up leave `ensurepip` out.
const PROBE: &str = "import ensurepip, sys, venv; print(sys.version.split()[0]); \
                     sys.exit(sys.version_info < (3, 10))";

pub(super) const KIT: Kit = Kit {
    language: "python",
    pins: &PINS,
    probe,
    install,
};

fn probe() -> Result<String, String> {
    Invocation::new(python(), ".")
        .args(["-c", PROBE])
        .answer()
        .ok_or_else(|| format!("there is no {} of at least 3.10 with venv", python()))
}

fn install(pins: &Path, folder: &Path) -> Result<bool, Error> {
    let made = Invocation::new(python(), folder)
        .args(["-m", "venv", "."])
        .run()?;
    if !made {
        return Ok(false);
    }
    let inner = if cfg!(windows) {
        folder.join("Scripts").join("python.exe")
    } else {
        folder.join("bin").join("python")
    };
    Invocation::new(inner, folder)
        .args(["-m", "pip", "install", "--quiet", "--no-input"])
        .args([
            "--disable-pip-version-check",
            "--only-binary",
            ":all:",
            "-r",
        ])
        .args([pins.join(PINS[0])])
        .run()
}

fn python() -> &'static str {
    if cfg!(windows) { "python" } else { "python3" }
}
