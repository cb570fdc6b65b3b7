//! The kinds of tools.

use serde_json::{Map, Value};

/// What kind a tool is.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum ToolKind {
    /// Defined by types of the host. The default.
    #[default]
    Typed,
    /// Defined by schemas that are known at run time only.
    Dynamic,
    /// Defined by a model provider.
    Provider(ProviderDefined),
    /// Advertised here and settled elsewhere.
    External,
}

/// A tool that a model provider defines.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ProviderDefined {
    /// `provider.tool`, which names it among all providers.
    pub id: String,
    /// The name that the provider knows it by.
    pub provider_name: String,
    /// How the provider is to set it up.
    pub arguments: Map<String, Value>,
    /// Whether calls are handled here. Where they are not, the provider runs them itself.
    pub handled_here: bool,
}

impl ToolKind {
    /// Whether its schemas are known at run time only.
    #[must_use]
    pub fn is_dynamic(&self) -> bool {
        matches!(self, Self::Dynamic)
    }

    /// What the provider defines of it, where one does.
    #[must_use]
    pub fn provider(&self) -> Option<&ProviderDefined> {
        match self {
            Self::Provider(defined) => Some(defined),
            _ => None,
        }
    }
}

/// Whether arguments are validated against the input schema before a tool runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "there is no third way")]
pub enum Validation {
    /// Arguments that do not fit are refused. The default.
    #[default]
    Enforce,
    /// The schema is advertised only; the handler takes what comes.
    Advertise,
}
