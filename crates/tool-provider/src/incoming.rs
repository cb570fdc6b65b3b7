//! The calls of a model's response, whoever the provider is.

use serde_json::Value;
use thiserror::Error;
use tool_core::{Arguments, Call, CallId, FinishReason};

use crate::unique_ids::UniqueIds;

/// The API that a response comes from and results go to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Api {
    /// Anthropic Messages.
    AnthropicMessages,
    /// OpenAI Chat Completions, and whoever speaks as it does.
    OpenAiChat,
    /// OpenAI Responses.
    OpenAiResponses,
    /// Gemini `generateContent`.
    Gemini,
    /// A `tools/call` of the Model Context Protocol.
    Mcp,
}

/// One call as a model made it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct IncomingCall {
    /// Which call of the response, from 0.
    pub position: usize,
    /// Its id, unique in the response. Where none was given, it is made from the position for the
    /// APIs whose results name their calls by it, and `None` for Gemini and MCP.
    pub id: Option<CallId>,
    /// The wire name of the tool.
    pub name: String,
    /// The arguments as they came.
    pub arguments: Arguments,
}

/// The response of a model: its message, as the next request has to repeat it, and its calls.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Response {
    /// What the next request repeats: a message, or the list of items of OpenAI Responses. An id
    /// that stood twice, or was missing and is needed, is another here. Null where there is
    /// nothing to repeat.
    pub message: Value,
    /// The calls, in their order.
    pub calls: Vec<IncomingCall>,
    /// Why it ended; `None` where it does not say. That of a `tools/call` of MCP is
    /// [`FinishReason::ToolCalls`].
    pub finish: Option<FinishReason>,
}

/// A response that has no calls where the API puts them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("response of {api} has no {missing}")]
pub struct ReadError {
    api: &'static str,
    missing: &'static str,
}

/// Why a response ended, by the word of its provider.
///
/// Source: the types of the official SDKs npm @anthropic-ai/sdk 1.14.0 (`StopReason`), openai
/// 6.49.0 (`finish_reason`, `ResponseStatus`, `IncompleteDetails`) and @google/genai 2.32.0
/// (`FinishReason`), read 2026-11-30; further words of Mistral and DeepSeek.
pub(crate) fn finish_reason(word: &str) -> FinishReason {
    match word.to_ascii_lowercase().as_str() {
        "stop" | "end_turn" | "stop_sequence" | "completed" => FinishReason::Stop,
        "tool_calls" | "tool_use" | "function_call" => FinishReason::ToolCalls,
        "pause_turn" => FinishReason::Pause,
        "length"
        | "max_tokens"
        | "max_output_tokens"
        | "model_length"
        | "model_context_window_exceeded" => FinishReason::Length,
        "content_filter"
        | "refusal"
        | "safety"
        | "blocklist"
        | "prohibited_content"
        | "spii"
        | "recitation"
        | "language"
        | "image_safety"
        | "image_prohibited_content"
        | "image_recitation" => FinishReason::ContentFilter,
        "error"
        | "failed"
        | "cancelled"
        | "malformed_function_call"
        | "unexpected_tool_call"
        | "too_many_tool_calls"
        | "insufficient_system_resource" => FinishReason::Error,
        _ => FinishReason::Other(word.to_owned()),
    }
}

impl IncomingCall {
    /// The call for the registry.
    #[must_use]
    pub fn into_call(self) -> Call {
        let call = Call::new(self.name, self.arguments);
        match self.id {
            Some(id) => call.id(id),
            None => call,
        }
    }
}

impl Api {
    /// Reads a whole response.
    ///
    /// An id that stands twice is made unique, and one that is missing and needed is made, in the
    /// calls and in the message alike. All calls are given, also those of a response that was cut
    /// off; whether they may run is for [`Response::finish`] to say.
    ///
    /// # Errors
    /// [`ReadError`] for a body that is no response of the API.
    ///
    /// ```
    /// use tool_provider::{Api, FinishReason};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let body = serde_json::json!({"choices": [{
    ///     "finish_reason": "tool_calls",
    ///     "message": {"role": "assistant", "tool_calls": [
    ///         {"id": "c1", "type": "function", "function": {"name": "grep", "arguments": "{}"}},
    ///     ]},
    /// }]});
    /// let response = Api::OpenAiChat.read(&body)?;
    /// assert_eq!(response.calls[0].name, "grep");
    /// assert_eq!(response.finish, Some(FinishReason::ToolCalls));
    /// # Ok(())
    /// # }
    /// ```
    pub fn read(self, body: &Value) -> Result<Response, ReadError> {
        let part = |pointer: &str, name| {
            let part = body.pointer(pointer).cloned();
            part.ok_or(ReadError {
                api: self.as_str(),
                missing: name,
            })
        };
        let word = |pointer: &str| {
            body.pointer(pointer)
                .and_then(Value::as_str)
                .map(finish_reason)
        };
        let (mut message, place, finish) = match self {
            Self::AnthropicMessages => {
                let content = part("/content", "content")?;
                let message = serde_json::json!({"role": "assistant", "content": content});
                (message, "/content", word("/stop_reason"))
            }
            Self::OpenAiChat => {
                let message = part("/choices/0/message", "message")?;
                (message, "/tool_calls", word("/choices/0/finish_reason"))
            }
            Self::OpenAiResponses => {
                let finish = word("/incomplete_details/reason").or_else(|| word("/status"));
                (part("/output", "output")?, "", finish)
            }
            Self::Gemini => {
                let blocked = body.pointer("/promptFeedback/blockReason");
                let blocked = blocked.map(|_| FinishReason::ContentFilter);
                let finish = word("/candidates/0/finishReason").or(blocked);
                let content = match (part("/candidates/0/content", "content"), &finish) {
                    (Ok(content), _) => content,
                    // What was blocked or went wrong may have no content at all.
                    (Err(_), Some(_)) => Value::Null,
                    (Err(error), None) => return Err(error),
                };
                (content, "/parts", finish)
            }
            Self::Mcp => {
                let mut params = part("/params", "params")?;
                if let (Some(params), Some(id)) = (params.as_object_mut(), body.get("id")) {
                    params.insert("id".to_owned(), id.clone());
                }
                // It is one whole call or it is no message at all.
                (
                    Value::Array(vec![params]),
                    "",
                    Some(FinishReason::ToolCalls),
                )
            }
        };
        let mut calls = Vec::new();
        let mut ids = UniqueIds::default();
        let items = message.pointer_mut(place).and_then(Value::as_array_mut);
        for item in items.into_iter().flatten() {
            let call = self.call(item, calls.len(), &mut ids);
            calls.extend(call);
        }
        Ok(Response {
            message,
            calls,
            finish,
        })
    }

    /// The call that a part of a message is, if it is one.
    fn call(self, item: &mut Value, position: usize, ids: &mut UniqueIds) -> Option<IncomingCall> {
        let kind = item.get("type").and_then(Value::as_str);
        let (call, id, name, arguments) = match self {
            Self::AnthropicMessages if kind != Some("tool_use") => return None,
            Self::OpenAiResponses if kind != Some("function_call") => return None,
            Self::AnthropicMessages => (item, "id", "/name", "/input"),
            Self::OpenAiChat => (item, "id", "/function/name", "/function/arguments"),
            Self::OpenAiResponses => (item, "call_id", "/name", "/arguments"),
            Self::Gemini => (item.get_mut("functionCall")?, "id", "/name", "/args"),
            Self::Mcp => (item, "id", "/name", "/arguments"),
        };
        let name = call.pointer(name).and_then(Value::as_str);
        let name = name.unwrap_or_default().to_owned();
        let arguments = match call.pointer(arguments) {
            Some(Value::String(text)) => Arguments::Text(text.clone()),
            Some(value) => Arguments::from(value.clone()),
            None => Arguments::from(Value::Null),
        };
        let given = match call.get(id) {
            Some(Value::String(id)) => Some(id.clone()),
            None | Some(Value::Null) => None,
            Some(id) => Some(id.to_string()),
        };
        let unique = ids.of(self, given.as_deref(), position);
        if let (Some(unique), Some(call)) = (&unique, call.as_object_mut())
            && given.as_deref() != Some(unique.as_str())
        {
            call.insert(id.to_owned(), unique.as_str().into());
        }
        Some(IncomingCall {
            position,
            id: unique,
            name,
            arguments,
        })
    }

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::AnthropicMessages => "Anthropic Messages",
            Self::OpenAiChat => "OpenAI Chat Completions",
            Self::OpenAiResponses => "OpenAI Responses",
            Self::Gemini => "Gemini",
            Self::Mcp => "MCP",
        }
    }
}
