//! How an imported server is doing.

/// How an imported server is doing, for operators.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerStatus {
    /// The name that the operator gave it.
    pub name: String,
    /// What it is at.
    pub state: ServerState,
    /// What is wrong with its entry in the configuration, one clause each, where it failed for
    /// that. Its state holds them all in one.
    pub problems: Vec<String>,
}

/// What an imported server is at.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ServerState {
    /// It is configured and switched off.
    Disabled,
    /// It was started and has not listed its tools yet.
    Connecting,
    /// Its tools can be called.
    Ready {
        /// How many.
        tools: usize,
        /// Tools that could not be registered, each with the reason.
        refused: Vec<String>,
    },
    /// It ended or failed and will be connected again; calls of its tools are refused by name.
    Away {
        /// Why.
        reason: String,
    },
    /// How it is reached is not as it was trusted, and waits for approval.
    Held {
        /// Why.
        reason: String,
    },
    /// Nobody is logged in to it, or nobody with enough rights.
    Locked {
        /// Why.
        reason: String,
    },
    /// It cannot be used.
    Failed {
        /// Why.
        reason: String,
    },
    /// It has ended.
    Stopped,
}

impl ServerState {
    /// One word, stable across versions.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Disabled => "disabled",
            Self::Connecting => "connecting",
            Self::Ready { .. } => "ready",
            Self::Away { .. } => "away",
            Self::Held { .. } => "held",
            Self::Locked { .. } => "locked",
            Self::Failed { .. } => "failed",
            Self::Stopped => "stopped",
        }
    }

    /// What there is to say beside the word.
    #[must_use]
    pub fn detail(&self) -> Option<String> {
        match self {
            Self::Ready { tools, refused } if refused.is_empty() => Some(format!("{tools} tools")),
            Self::Ready { tools, refused } => {
                Some(format!("{tools} tools, refused {}", refused.join("; ")))
            }
            Self::Away { reason }
            | Self::Held { reason }
            | Self::Locked { reason }
            | Self::Failed { reason } => Some(reason.clone()),
            Self::Disabled | Self::Connecting | Self::Stopped => None,
        }
    }
}

#[cfg(feature = "mcp-child")]
impl From<tool_mcp::UpstreamStatus> for ServerStatus {
    fn from(status: tool_mcp::UpstreamStatus) -> Self {
        use tool_mcp::UpstreamState;
        let state = match status.state {
            UpstreamState::Disabled => ServerState::Disabled,
            UpstreamState::Connecting => ServerState::Connecting,
            UpstreamState::Ready { tools, refused } => ServerState::Ready {
                tools,
                refused: refused
                    .into_iter()
                    .map(|tool| format!("\"{}\": {}", tool.name.escape_debug(), tool.reason))
                    .collect(),
            },
            UpstreamState::Away { reason, .. } => ServerState::Away { reason },
            UpstreamState::Held { reason } => ServerState::Held { reason },
            UpstreamState::Locked { reason } => ServerState::Locked { reason },
            UpstreamState::Failed { reason } => ServerState::Failed { reason },
            _ => ServerState::Stopped,
        };
        Self {
            name: status.name,
            state,
            problems: status.problems,
        }
    }
}
