//! The file of settings, by habit `tool.toml`.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::de::{self, Unexpected, Visitor};
use serde::{Deserialize, Deserializer};
use toml::Spanned;
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
/// dir = "state"              # or a bucket: "s3://bucket/prefix"
/// output_bytes = 67108864
/// total_bytes = 1073741824
/// days = 7
///
/// [audit]                    # one line for each call of the gateway
/// dir = "audit"
/// file_bytes = 16777216
/// total_bytes = 268435456
/// on_failure = "continue"    # or "refuse" calls that cannot be put on record
///
/// [workspace]                # the folder that the built-in tools work on
/// root = "."
///
/// [gateway]
/// same_failures = 5          # a call that failed so often in a row is denied; 0 denies none
/// status_tool = true         # a model may ask how the MCP servers are doing
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
    /// Where retained output and the rest of the state is kept.
    #[cfg(feature = "storage")]
    pub state: Option<crate::Place>,
    /// The most bytes of one retained output.
    pub output_bytes: Option<u64>,
    /// The most bytes of all retained outputs together.
    pub total_bytes: Option<u64>,
    /// How long an output is retained.
    pub time_to_live: Option<Duration>,
    /// The folder of the audit log.
    pub audit: Option<PathBuf>,
    /// How the audit log is kept.
    #[cfg(feature = "storage")]
    pub audit_options: tool_storage::AuditOptions,
    /// The folder that the built-in tools work on.
    pub root: Option<PathBuf>,
    /// After how many failures the same call of a caller is denied; 0 denies none.
    pub same_failures: Option<u32>,
    /// Whether a model is offered a tool that tells how MCP servers are doing.
    pub status_tool: Option<bool>,
}

/// The top-level keys that are no business of the rules.
const BESIDE_RULES: &[&str] = &["policy", "bound", "state", "audit", "workspace", "gateway"];
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
    policy: Vec<Spanned<PathBuf>>,
    #[serde(default)]
    bound: BoundTable,
    #[serde(default)]
    state: StateTable,
    #[serde(default)]
    audit: AuditTable,
    #[serde(default)]
    workspace: WorkspaceTable,
    #[serde(default)]
    gateway: GatewayTable,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct BoundTable {
    bytes: Option<Count>,
    lines: Option<Count>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct StateTable {
    #[cfg_attr(
        not(feature = "storage"),
        expect(
            dead_code,
            reason = "read, so that a file is right or wrong whatever is built in"
        )
    )]
    dir: Option<PathBuf>,
    output_bytes: Option<Count>,
    total_bytes: Option<Count>,
    days: Option<Count>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(
    not(feature = "storage"),
    expect(
        dead_code,
        reason = "read, so that a file is right or wrong whatever is built in"
    )
)]
struct AuditTable {
    dir: Option<PathBuf>,
    file_bytes: Option<Count>,
    total_bytes: Option<Count>,
    #[serde(default)]
    on_failure: OnFailure,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum OnFailure {
    #[default]
    Continue,
    Refuse,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct WorkspaceTable {
    root: Option<PathBuf>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct GatewayTable {
    same_failures: Option<u32>,
    status_tool: Option<bool>,
}

/// A number of something of which there must be one at least.
#[derive(Clone, Copy)]
struct Count(u64);

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Whole;

        impl Visitor<'_> for Whole {
            type Value = Count;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a whole number from 1 on, without quotes")
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Count, E> {
                match u64::try_from(number) {
                    Ok(number @ 1..) => Ok(Count(number)),
                    _ => Err(E::invalid_value(Unexpected::Signed(number), &self)),
                }
            }
        }

        deserializer.deserialize_i64(Whole)
    }
}

#[cfg(feature = "storage")]
impl AuditTable {
    fn options(&self) -> tool_storage::AuditOptions {
        use std::num::NonZeroU64;
        use tool_storage::{AuditFailure, AuditOptions};

        let mut options = AuditOptions::DEFAULT.on_failure(match self.on_failure {
            OnFailure::Continue => AuditFailure::Continue,
            OnFailure::Refuse => AuditFailure::Refuse,
        });
        let bytes = |count: Option<Count>| count.and_then(|count| NonZeroU64::new(count.0));
        if let Some(bytes) = bytes(self.file_bytes) {
            options = options.file_bytes(bytes);
        }
        if let Some(bytes) = bytes(self.total_bytes) {
            options = options.total_bytes(bytes);
        }
        options
    }
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
            let layer = Layer::load(base.join(policy.get_ref()));
            layers.push(layer.map_err(|source| RuntimeError::NamedPolicy {
                path: path.to_owned(),
                line: line_of(&text, policy.span().start),
                source,
            })?);
        }
        let size = |count: Count| usize::try_from(count.0).unwrap_or(usize::MAX);
        let bound = match (file.bound.bytes, file.bound.lines) {
            (None, None) => None,
            (bytes, lines) => {
                let bytes = bytes.map_or(Bound::DEFAULT.bytes(), size);
                let lines = lines.map_or(Bound::DEFAULT.lines(), size);
                let bound = Bound::new(bytes, lines);
                Some(bound.map_err(|error| wrong(None, format!("[bound]: {error}")))?)
            }
        };
        Ok(Self {
            layers,
            bound,
            #[cfg(feature = "storage")]
            state: file.state.dir.map(|dir| match dir.to_str() {
                Some(url) if url.contains("://") => url.into(),
                _ => base.join(dir).into(),
            }),
            output_bytes: file.state.output_bytes.map(|count| count.0),
            total_bytes: file.state.total_bytes.map(|count| count.0),
            time_to_live: file
                .state
                .days
                .map(|days| Duration::from_secs(days.0.saturating_mul(DAY))),
            audit: file.audit.dir.as_ref().map(|dir| base.join(dir)),
            #[cfg(feature = "storage")]
            audit_options: file.audit.options(),
            root: file.workspace.root.map(|root| base.join(root)),
            same_failures: file.gateway.same_failures,
            status_tool: file.gateway.status_tool,
        })
    }
}

fn line_of(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1
}
