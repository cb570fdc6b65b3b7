//! The profiles by name.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use crate::rules::Rules;
use crate::table;

/// What a provider takes as tool definitions.
///
/// A strict profile has the provider hold the model to the schema, and falls back to its plain
/// twin for a tool that strictness cannot express.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Profile {
    /// Anthropic Messages.
    Anthropic,
    /// Anthropic Messages, strict.
    AnthropicStrict,
    /// OpenAI Chat Completions.
    OpenAiChat,
    /// OpenAI Chat Completions, strict.
    OpenAiChatStrict,
    /// OpenAI Responses.
    OpenAiResponses,
    /// OpenAI Responses, strict.
    OpenAiResponsesStrict,
    /// Gemini, in its own form of schemas (`parameters`).
    Gemini,
    /// Gemini, in JSON Schema (`parametersJsonSchema`).
    GeminiJson,
    /// Mistral.
    Mistral,
    /// Moonshot's Kimi.
    Kimi,
    /// Groq.
    Groq,
    /// The Model Context Protocol.
    Mcp,
    /// Whoever else speaks as OpenAI Chat Completions does.
    Generic,
}

/// A name that is no profile's.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("there is no profile \"{name}\"; there are {}", Profile::names())]
pub struct UnknownProfile {
    name: String,
}

impl Profile {
    /// Every profile.
    pub const ALL: [Self; 13] = [
        Self::Anthropic,
        Self::AnthropicStrict,
        Self::OpenAiChat,
        Self::OpenAiChatStrict,
        Self::OpenAiResponses,
        Self::OpenAiResponsesStrict,
        Self::Gemini,
        Self::GeminiJson,
        Self::Mistral,
        Self::Kimi,
        Self::Groq,
        Self::Mcp,
        Self::Generic,
    ];

    /// The name, as it is written on a command line.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::AnthropicStrict => "anthropic-strict",
            Self::OpenAiChat => "openai-chat",
            Self::OpenAiChatStrict => "openai-chat-strict",
            Self::OpenAiResponses => "openai-responses",
            Self::OpenAiResponsesStrict => "openai-responses-strict",
            Self::Gemini => "gemini",
            Self::GeminiJson => "gemini-json",
            Self::Mistral => "mistral",
            Self::Kimi => "kimi",
            Self::Groq => "groq",
            Self::Mcp => "mcp",
            Self::Generic => "generic",
        }
    }

    /// Whether the provider holds the model to the schema.
    #[must_use]
    pub fn is_strict(self) -> bool {
        self.rules().strict
    }

    /// The profile without strictness; itself where it has none.
    #[must_use]
    pub fn plain(self) -> Self {
        match self {
            Self::AnthropicStrict => Self::Anthropic,
            Self::OpenAiChatStrict => Self::OpenAiChat,
            Self::OpenAiResponsesStrict => Self::OpenAiResponses,
            plain => plain,
        }
    }

    /// The profile with strictness; itself where it has none.
    #[must_use]
    pub fn strict(self) -> Self {
        match self {
            Self::Anthropic => Self::AnthropicStrict,
            Self::OpenAiChat => Self::OpenAiChatStrict,
            Self::OpenAiResponses => Self::OpenAiResponsesStrict,
            other => other,
        }
    }

    pub(crate) fn rules(self) -> &'static Rules {
        match self {
            Self::Anthropic => &table::ANTHROPIC,
            Self::AnthropicStrict => &table::ANTHROPIC_STRICT,
            Self::OpenAiChat => &table::OPENAI_CHAT,
            Self::OpenAiChatStrict => &table::OPENAI_CHAT_STRICT,
            Self::OpenAiResponses => &table::OPENAI_RESPONSES,
            Self::OpenAiResponsesStrict => &table::OPENAI_RESPONSES_STRICT,
            Self::Gemini => &table::GEMINI,
            Self::GeminiJson => &table::GEMINI_JSON,
            Self::Mistral => &table::MISTRAL,
            Self::Kimi => &table::KIMI,
            Self::Groq => &table::GROQ,
            Self::Mcp => &table::MCP,
            Self::Generic => &table::GENERIC,
        }
    }

    fn names() -> String {
        Self::ALL.map(Self::as_str).join(", ")
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Profile {
    type Err = UnknownProfile;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|it| it.as_str() == name);
        found.ok_or_else(|| UnknownProfile {
            name: name.escape_debug().to_string(),
        })
    }
}
