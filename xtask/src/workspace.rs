//! The repository on this disk.

use std::path::{Path, PathBuf};
use std::process::Command;

use cargo_metadata::{Metadata, MetadataCommand};

use crate::{Error, Exceptions, Graph, LayerTable, LockFile, SourceFile, manifests};

/// A clone of the repository.
#[derive(Clone, Debug)]
pub struct Workspace {
    root: PathBuf,
}

impl Workspace {
    /// The repository from which cargo runs this program or this test.
    ///
    /// Asked when it runs: clones that share a target folder share the program too, and it is one
    /// clone's only when it is built.
    #[must_use]
    pub fn here() -> Self {
        let built = || PathBuf::from(env!("CARGO_MANIFEST_DIR"));
        let member = std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(built, PathBuf::from);
        let root = member
            .ancestors()
            .find(|folder| folder.join("xtask/Cargo.toml").is_file());
        Self::at(root.unwrap_or(&member))
    }

    /// The repository in that folder.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// The folder of the repository.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The cargo that runs this program, else the one on the search path.
    #[must_use]
    pub fn cargo() -> PathBuf {
        std::env::var_os("CARGO").map_or_else(|| PathBuf::from("cargo"), PathBuf::from)
    }

    /// Every text file that git tracks, or would track with the next `git add`. What is deleted
    /// but still in the index is left out, and so is what is not UTF-8.
    ///
    /// # Errors
    /// When git cannot be run, fails, or lists nothing.
    pub fn files(&self) -> Result<Vec<SourceFile>, Error> {
        let listing = [
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ];
        let output = Command::new("git")
            .args(listing)
            .current_dir(&self.root)
            .output()
            .map_err(|error| Error::because("git could not be run", error))?;
        if !output.status.success() {
            return Err(Error::new(format!(
                "git could not list the files: {}",
                String::from_utf8_lossy(&output.stderr).trim()
            )));
        }
        let names = String::from_utf8_lossy(&output.stdout);
        let mut files = Vec::new();
        for name in names.split('\0').filter(|name| !name.is_empty()) {
            if let Ok(text) = std::fs::read_to_string(self.root.join(name)) {
                files.push(SourceFile::new(name, text));
            }
        }
        files.sort_by(|one, other| one.path.cmp(&other.path));
        files.dedup_by(|one, other| one.path == other.path);
        if files.is_empty() {
            return Err(Error::new("git lists no file; is this a clone?"));
        }
        Ok(files)
    }

    /// One file as text.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn read(&self, path: &str) -> Result<String, Error> {
        std::fs::read_to_string(self.root.join(path))
            .map_err(|error| Error::because(format!("{path} could not be read"), error))
    }

    /// What cargo knows of the members, without their dependencies: needs no network.
    ///
    /// # Errors
    /// When cargo refuses the manifests.
    pub fn metadata(&self) -> Result<Metadata, Error> {
        metadata_of(&self.root.join("Cargo.toml"))
    }

    /// The crates of the workspace.
    ///
    /// # Errors
    /// When cargo refuses a manifest.
    pub fn members(&self) -> Result<Graph, Error> {
        Ok(Graph::from_metadata(&[self.metadata()?]))
    }

    /// Where cargo puts what it builds.
    ///
    /// # Errors
    /// When cargo refuses a manifest.
    pub fn target(&self) -> Result<PathBuf, Error> {
        Ok(self.metadata()?.target_directory.into_std_path_buf())
    }

    /// The crates of the workspace and of `bench/`, which is a workspace of its own.
    ///
    /// # Errors
    /// When cargo refuses a manifest.
    pub fn graph(&self) -> Result<Graph, Error> {
        let mut parts = vec![self.metadata()?];
        let bench = self.root.join("bench/Cargo.toml");
        if bench.exists() {
            parts.push(metadata_of(&bench)?);
        }
        Ok(Graph::from_metadata(&parts))
    }

    /// The layer table of ARCHITECTURE.md.
    ///
    /// # Errors
    /// When the table is missing or malformed.
    pub fn layers(&self) -> Result<LayerTable, Error> {
        LayerTable::parse(&self.read("ARCHITECTURE.md")?)
    }

    /// Cargo.lock: every package of every platform and feature, without asking the network.
    ///
    /// # Errors
    /// When it is missing or malformed.
    pub fn lock(&self) -> Result<LockFile, Error> {
        LockFile::parse(&self.read("Cargo.lock")?)
    }

    /// The manifests of the root and of every member.
    ///
    /// # Errors
    /// When one is missing or malformed.
    pub fn manifests(&self) -> Result<manifests::Manifests, Error> {
        let metadata = self.metadata()?;
        let mut members = Vec::new();
        for package in metadata.workspace_packages() {
            let path = package
                .manifest_path
                .strip_prefix(&metadata.workspace_root)
                .map_err(|error| Error::because("a member lies outside the repository", error))?;
            let path = path.as_str().replace('\\', "/");
            let text = self.read(&path)?;
            members.push(SourceFile::new(path, text));
        }
        manifests::Manifests::parse(&self.read("Cargo.toml")?, &members)
    }

    /// The excuses, each with its reason.
    ///
    /// # Errors
    /// When the list is missing or malformed.
    pub fn exceptions(&self) -> Result<Exceptions, Error> {
        Exceptions::parse(&self.read(Exceptions::PATH)?)
    }
}

fn metadata_of(manifest: &Path) -> Result<Metadata, Error> {
    MetadataCommand::new()
        .cargo_path(Workspace::cargo())
        .manifest_path(manifest)
        .no_deps()
        .exec()
        .map_err(|error| Error::because("cargo metadata failed", error))
}
