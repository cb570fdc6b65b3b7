//! Hints about a tool's behaviour.

use serde::{Deserialize, Serialize};

/// Hints about what a tool does. They inform; they never authorise.
///
/// The defaults are those of the Model Context Protocol: a tool that says nothing may write,
/// destroy, differ on repetition and reach the outside world.
///
/// Source: Model Context Protocol 2025-11-25, `ToolAnnotations`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
#[non_exhaustive]
pub struct Annotations {
    /// A name for people. Absent by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The tool changes nothing. Defaults to `false`.
    #[serde(rename = "readOnlyHint")]
    pub read_only: bool,
    /// The tool may destroy something. Defaults to `true`; meaningless when `read_only`.
    #[serde(rename = "destructiveHint")]
    pub destructive: bool,
    /// Calling again with the same arguments changes nothing more. Defaults to `false`.
    #[serde(rename = "idempotentHint")]
    pub idempotent: bool,
    /// The tool reaches things outside a closed set. Defaults to `true`.
    #[serde(rename = "openWorldHint")]
    pub open_world: bool,
    /// Whether a provider should hold the model strictly to the schema. Unset leaves it to the
    /// provider's profile, which is not the same as `Some(false)`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strict: Option<bool>,
}

impl Default for Annotations {
    fn default() -> Self {
        Self {
            title: None,
            read_only: false,
            destructive: true,
            idempotent: false,
            open_world: true,
            strict: None,
        }
    }
}
