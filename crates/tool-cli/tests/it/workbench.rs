//! A place to try the program in.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::invocation::Invocation;

/// A temporary folder with a workspace, a state and the files that commands are told of.
pub(crate) struct Workbench {
    folder: TempDir,
}

/// Rules that let the shell run everything and upstream tools be called.
pub(crate) const OPEN: &str = r#"
version = 1
[[rule]]
effect = "allow"
action = "shell"
resource = "*"
[[rule]]
effect = "allow"
action = "call"
resource = "everything/*"
[[rule]]
effect = "allow"
action = "call"
resource = "git/*"
"#;

impl Workbench {
    /// An empty one.
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["root", "home"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        Self { folder }
    }

    /// One whose workspace is a small program.
    pub(crate) fn with_a_repository() -> Self {
        let bench = Self::new();
        bench.in_root("README.md", "# A small program\n");
        bench.in_root(
            "src/main.rs",
            "mod greeting;\n\nfn main() {\n    greeting::say();\n}\n",
        );
        bench.in_root(
            "src/greeting.rs",
            "pub fn say() {\n    println!(\"hello\");\n}\n",
        );
        bench
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The folder that the built-in tools work on.
    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().join("root")
    }

    /// The folder in which long output is kept.
    pub(crate) fn state(&self) -> PathBuf {
        self.folder.path().join("state")
    }

    /// Writes a file beside workspace and state; commands find it by its name alone.
    pub(crate) fn file(&self, name: &str, text: &str) -> PathBuf {
        write(self.folder.path().join(name), text)
    }

    /// Writes a file of the workspace.
    pub(crate) fn in_root(&self, name: &str, text: &str) -> PathBuf {
        write(self.root().join(name), text)
    }

    /// Whether the workspace has such a file.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.root().join(name).exists()
    }

    /// The program with these arguments, on this workspace and this state.
    pub(crate) fn tool(&self, args: &[&str]) -> Invocation {
        self.bare(args)
            .args(["--root"])
            .args([self.root()])
            .args(["--state"])
            .args([self.state()])
    }

    /// The program with these arguments only.
    pub(crate) fn bare(&self, args: &[&str]) -> Invocation {
        Invocation::of_tool(self).args(args)
    }

    /// The program with rules that allow what the stories do.
    pub(crate) fn open(&self, args: &[&str]) -> Invocation {
        let policy = self.file("open.toml", OPEN);
        self.tool(args).args(["--policy"]).args([policy])
    }

    /// Calls a tool with the open rules, and gives the document that is printed.
    #[track_caller]
    pub(crate) fn call(&self, name: &str, arguments: &serde_json::Value) -> serde_json::Value {
        let arguments = arguments.to_string();
        self.open(&["call", name, &arguments, "--json"])
            .end()
            .json()
    }
}

fn write(path: PathBuf, text: &str) -> PathBuf {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    path
}
