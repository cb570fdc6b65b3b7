//! Other people's programs, where they are installed.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::invocation::Invocation;
use crate::workbench::Workbench;

/// The folder that `cargo xtask peers` made.
pub(crate) struct Peers {
    folder: PathBuf,
}

/// A client of an official SDK.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Sdk {
    TypeScript,
    /// As the SDK begins by itself: with the newest revision of the protocol.
    Python,
    /// With the handshake of the revisions before.
    PythonLegacy,
}

/// What the peers of a language need, which is what they are installed with.
struct Language {
    program: &'static str,
    probe: &'static [&'static str],
}

const NODE: Language = Language {
    program: "node",
    probe: &[
        "-e",
        "process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)",
    ],
};

const PYTHON: Language = Language {
    program: "python3",
    probe: &[
        "-c",
        "import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 10))",
    ],
};

impl Language {
    fn is_usable(&self) -> bool {
        succeeds(self.program, self.probe)
    }
}

impl Peers {
    const VARIABLE: &str = "TOOL_PEERS";

    /// The peers with node's packages; without them the test is skipped by name.
    #[track_caller]
    pub(crate) fn node(test: &str) -> Option<Self> {
        Self::find(
            test,
            &NODE,
            "node/node_modules/@modelcontextprotocol/sdk/package.json",
        )
    }

    /// The peers with Python's packages; without them the test is skipped by name.
    #[track_caller]
    pub(crate) fn python(test: &str) -> Option<Self> {
        Self::find(test, &PYTHON, "python/bin/python")
    }

    #[track_caller]
    fn find(test: &str, language: &Language, sign: &str) -> Option<Self> {
        let missing = match std::env::var_os(Self::VARIABLE) {
            None => format!("{} is not set; run cargo xtask peers", Self::VARIABLE),
            Some(folder) => {
                // The programs run in folders of their own.
                let folder = std::path::absolute(folder).unwrap();
                if folder.join(sign).exists() {
                    return Some(Self { folder });
                }
                format!("{} has no peers of {}", Self::VARIABLE, language.program)
            }
        };
        let in_ci = std::env::var("CI").is_ok_and(|ci| ci == "true");
        let must = in_ci && language.is_usable();
        assert!(
            !must,
            "{test}: {} is there, and {missing}",
            language.program
        );
        skip(test, &missing);
        None
    }

    /// The `mcpServers` entry of the server "everything".
    pub(crate) fn everything(&self) -> Value {
        let package = "node/node_modules/@modelcontextprotocol/server-everything";
        json!({"command": "node", "args": [self.folder.join(package).join("dist/index.js"), "stdio"]})
    }

    /// The `mcpServers` entry of `mcp-server-git` on a repository.
    pub(crate) fn git(&self, repository: &Path) -> Value {
        json!({"command": self.folder.join("python/bin/mcp-server-git"), "args": ["--repository", repository]})
    }

    /// Runs a client over HTTP.
    #[track_caller]
    pub(crate) fn over_http(
        &self,
        bench: &Workbench,
        sdk: Sdk,
        url: &str,
        steps: Value,
    ) -> Vec<Value> {
        self.run(bench, sdk, &json!({"url": url}), steps)
    }

    /// Runs a client that starts the server by itself.
    #[track_caller]
    pub(crate) fn over_stdio(
        &self,
        bench: &Workbench,
        sdk: Sdk,
        serve: Invocation,
        steps: Value,
    ) -> Vec<Value> {
        self.run(bench, sdk, &stdio(serve), steps)
    }

    #[track_caller]
    fn run(&self, bench: &Workbench, sdk: Sdk, server: &Value, steps: Value) -> Vec<Value> {
        let ended = self.client(bench, sdk, server, steps).end().succeeded();
        match ended.json() {
            Value::Array(results) => results,
            other => panic!("no list of results: {other}"),
        }
    }

    /// A client that is about to do these steps.
    pub(crate) fn client(
        &self,
        bench: &Workbench,
        sdk: Sdk,
        server: &Value,
        steps: Value,
    ) -> Invocation {
        let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/peers");
        let (program, script) = match sdk {
            Sdk::TypeScript => (PathBuf::from("node"), "client.mjs"),
            _ => (self.folder.join("python/bin/python"), "client.py"),
        };
        let mode = match sdk {
            Sdk::PythonLegacy => "legacy",
            _ => "auto",
        };
        Invocation::new(program, bench)
            .args([scripts.join(script)])
            .env(Self::VARIABLE, &self.folder)
            // Scripts that are read leave nothing beside them.
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .stdin(json!({"server": server, "mode": mode, "steps": steps}).to_string())
    }
}

/// A server to be started by a client, in the workbench.
pub(crate) fn stdio(serve: Invocation) -> Value {
    let command = serve.into_command();
    let args: Vec<_> = command
        .get_args()
        .map(|arg| arg.to_str().unwrap())
        .collect();
    json!({
        "command": command.get_program().to_str().unwrap(),
        "args": args,
        "cwd": command.get_current_dir().unwrap(),
    })
}

/// Says by name that a test did not do its work. It does so past the harness, which keeps what tests
/// print that succeed.
pub(crate) fn skip(test: &str, reason: &str) {
    // In one piece, as tests beside this one write too.
    let line = format!("skipped {test}: {reason}\n");
    let _ = std::io::stderr().lock().write_all(line.as_bytes());
}

/// Whether there is such a program.
pub(crate) fn is_there(program: &str) -> bool {
    succeeds(program, &["--version"])
}

fn succeeds(program: &str, args: &[&str]) -> bool {
    Command::new(program)
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}
