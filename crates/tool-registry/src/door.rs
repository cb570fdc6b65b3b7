//! The ways by which a call comes in.

use tool_core::TeardownScope;

/// The way by which a call comes in. All lead through the same stages in the same order; they
/// differ only in what they can do, and a declaration that a door cannot honour is refused by
/// name.
///
/// | door | suspends | redeems artifacts | calls further tools | bounds text | teardown scopes |
/// |---|---|---|---|---|---|
/// | `Model` | yes | yes | yes | yes | call, run, session, shutdown |
/// | `Resumed` | yes | yes | yes | yes | call, run, session, shutdown |
/// | `Code` | yes | yes | yes | yes | call, run, session, shutdown |
/// | `Mcp` | yes | yes | yes | yes | call |
/// | `Inner` | no | no | no | no | call |
///
/// What an inner call gives is read by the handler that made it and not by a model; what that
/// handler makes of it is bounded in turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Door {
    /// A call of a model, alone or in a batch.
    Model,
    /// A call that waited and goes on.
    Resumed,
    /// A call of an MCP client.
    Mcp,
    /// A call that another tool makes while it runs.
    Inner,
    /// A call from code. The default.
    #[default]
    Code,
}

const ALL_SCOPES: &[TeardownScope] = &[
    TeardownScope::Call,
    TeardownScope::Run,
    TeardownScope::Session,
    TeardownScope::Shutdown,
];

impl Door {
    /// One word, stable across versions.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Resumed => "resumed",
            Self::Mcp => "mcp",
            Self::Inner => "inner",
            Self::Code => "code",
        }
    }

    /// Whether a call can wait for a decision as a suspension.
    #[must_use]
    pub fn suspends(self) -> bool {
        match self {
            Self::Model | Self::Resumed | Self::Code | Self::Mcp => true,
            Self::Inner => false,
        }
    }

    /// Whether references to artifacts can be redeemed.
    #[must_use]
    pub fn redeems_artifacts(self) -> bool {
        !matches!(self, Self::Inner)
    }

    /// Whether a handler can call further tools.
    #[must_use]
    pub fn dispatches(self) -> bool {
        !matches!(self, Self::Inner)
    }

    /// Whether long text is retained and shown in part.
    #[must_use]
    pub fn bounds_text(self) -> bool {
        !matches!(self, Self::Inner)
    }

    /// The scopes after which a cleanup can be run.
    #[must_use]
    pub fn teardown_scopes(self) -> &'static [TeardownScope] {
        match self {
            Self::Model | Self::Resumed | Self::Code => ALL_SCOPES,
            Self::Mcp | Self::Inner => &[TeardownScope::Call],
        }
    }
}
