//! The file `tool.toml`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use tool_core::Bound;
use tool_permission::Layer;

use crate::RuntimeError;

/// What a file of settings says: policy, bounds and state in one.
///
/// ```toml
/// version = 1
/// policy = ["team.toml"]     # further policy files, relative to this one
///
/// [[rule]]                   # rules, as in a policy file
/// effect = "allow"
/// action = "shell"
/// resource = "cargo *"
///
/// [bound]                    # what a model is shown of one result
/// bytes = 51200
/// lines = 2000
///
/// [state]                    # where and how long the rest is kept
/// dir = "state"
/// output_bytes = 67108864
/// total_bytes = 1073741824
/// days = 7
///
/// [workspace]                # the folder that the built-in tools work on
/// root = "."
/// ```
///
/// Every key but `version` may be left out. Unknown keys, and files that cannot be read whole, are
/// errors: a policy is in force as written or not at all.
#[derive(Debug)]
#[non_exhaustive]
pub struct Settings {
    /// The rules of the file itself, then those of the files that it names.
    pub layers: Vec<Layer>,
    /// The bound on model-facing text.
    pub bound: Option<Bound>,
    /// The folder for retained output.
    pub state: Option<PathBuf>,
    /// The most bytes of one retained output.
    pub output_bytes: Option<u64>,
    /// The most bytes of all retained outputs together.
    pub total_bytes: Option<u64>,
    /// How long an output is retained.
    pub time_to_live: Option<Duration>,
    /// The folder that the built-in tools work on.
    pub root: Option<PathBuf>,
}

/// The top-level keys that are no business of the rules.
const BESIDE_RULES: &[&str] = &["policy", "bound", "state", "workspace"];
const DAY: u64 = 24 * 60 * 60;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    /// Checked with the rules.
    #[serde(rename = "version")]
    _version: toml::Value,
    /// Read with the rules.
    #[serde(default, rename = "rule")]
    _rule: Vec<toml::Value>,
    #[serde(default)]
    policy: Vec<PathBuf>,
    #[serde(default)]
    bound: BoundTable,
    #[serde(default)]
    state: StateTable,
    #[serde(default)]
    workspace: WorkspaceTable,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct BoundTable {
    bytes: Option<usize>,
    lines: Option<usize>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct StateTable {
    dir: Option<PathBuf>,
    output_bytes: Option<u64>,
    total_bytes: Option<u64>,
    days: Option<u64>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct WorkspaceTable {
    root: Option<PathBuf>,
}

impl Settings {
    /// Reads a file of settings, and the policy files that it names. It blocks.
    ///
    /// # Errors
    /// [`RuntimeError`] naming the file, the line and what to put right.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, RuntimeError> {
        let path = path.as_ref();
        let text = std::fs::read_to_string(path).map_err(|source| RuntimeError::ReadSettings {
            path: path.to_owned(),
            source,
        })?;
        // The rules first: their errors say more, and a later version has keys unknown here.
        let own = Layer::parse_beside(path.display().to_string(), &text, BESIDE_RULES)?;
        let wrong = |line, problem: String| RuntimeError::Settings {
            path: path.to_owned(),
            line,
            problem,
        };
        let file: File = toml::from_str(&text).map_err(|error| {
            let line = error.span().map(|span| line_of(&text, span.start));
            wrong(line, error.message().to_owned())
        })?;

        let base = path.parent().unwrap_or_else(|| Path::new(""));
        let mut layers = vec![own];
        for policy in &file.policy {
            layers.push(Layer::load(base.join(policy))?);
        }
        let bound = match (file.bound.bytes, file.bound.lines) {
            (None, None) => None,
            (bytes, lines) => {
                let bytes = bytes.unwrap_or(Bound::DEFAULT.bytes());
                let lines = lines.unwrap_or(Bound::DEFAULT.lines());
                let bound = Bound::new(bytes, lines);
                Some(bound.map_err(|error| wrong(None, format!("[bound]: {error}")))?)
            }
        };
        Ok(Self {
            layers,
            bound,
            state: file.state.dir.map(|dir| base.join(dir)),
            output_bytes: file.state.output_bytes,
            total_bytes: file.state.total_bytes,
            time_to_live: file
                .state
                .days
                .map(|days| Duration::from_secs(days.saturating_mul(DAY))),
            root: file.workspace.root.map(|root| base.join(root)),
        })
    }
}

fn line_of(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1
}
