//! The ways by which a call comes in.

/// The way by which a call comes in. All lead through the same stages in the same order; they
/// differ only in what they can do, and a declaration that a door cannot honour is refused by
/// name.
///
/// | door | redeems artifacts |
/// |---|---|
/// | `Model` | yes |
/// | `Mcp` | yes |
/// | `Inner` | no |
/// | `Code` | yes |
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Door {
    /// A call of a model, alone or in a batch.
    Model,
    /// A call of an MCP client.
    Mcp,
    /// A call that another tool makes while it runs.
    Inner,
    /// A call from code. The default.
    #[default]
    Code,
}

impl Door {
    /// Whether references to artifacts can be redeemed behind this door.
    #[must_use]
    pub fn redeems_artifacts(self) -> bool {
        match self {
            Self::Model | Self::Mcp | Self::Code => true,
            Self::Inner => false,
        }
    }
}
