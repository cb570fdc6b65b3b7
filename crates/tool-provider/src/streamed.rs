//! A response that comes in pieces.

mod anthropic;
mod calls;
mod chat;
mod gemini;
mod responses;

use serde_json::Value;
use tool_core::{CallId, FinishReason};

use crate::{Api, IncomingCall, Response};
use calls::Calls;

/// What an event of a stream says.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum StreamPart {
    /// A call began.
    CallStarted {
        /// Which call of the response, from 0.
        position: usize,
        /// Its id, unique in the response; `None` where the API does without.
        id: Option<CallId>,
        /// The wire name of the tool.
        name: String,
    },
    /// A piece of a call's arguments, as it came.
    ArgumentsPiece {
        /// Which call of the response, from 0.
        position: usize,
        /// The text.
        piece: String,
    },
    /// A call is whole. What was cut off never gets here.
    Call(IncomingCall),
    /// Text for the reader.
    Text(String),
    /// Text by which the model says that it will not answer.
    Refusal(String),
    /// The response ended.
    Finish(FinishReason),
    /// The provider failed, or the stream ended before the response did. Nothing that is still
    /// open is whole.
    Failed {
        /// Its kind of error, for the operator.
        kind: String,
    },
}

/// Assembles one response from its parsed events, in the order in which they come.
///
/// | made by | what its events are | when a call is whole |
/// |---|---|---|
/// | [`anthropic`](Self::anthropic) | events of Anthropic Messages | its block stopped and the response went on; the last one waits for the reason of the end, since a response that became too long stops its last block too |
/// | [`openai_chat`](Self::openai_chat) | chunks of OpenAI Chat Completions, and of whoever speaks as it does | at the end, as pieces of several calls may be mixed |
/// | [`openai_responses`](Self::openai_responses) | events of OpenAI Responses | its item is done, unless the item says that it is incomplete |
/// | [`gemini`](Self::gemini) | chunks of Gemini `streamGenerateContent` | the response went on, or ended as a whole one does |
///
/// Gemini's arguments come in one piece, as a value, and give no [`StreamPart::ArgumentsPiece`].
/// Arguments in parts, which a request to Gemini has to ask for, are not read: they fail the
/// response. Of several choices or candidates only the first counts.
///
/// Source: the types of the official SDKs npm openai 6.49.0, @anthropic-ai/sdk 1.14.0 and
/// @google/genai 2.32.0, read 2026-11-30.
///
/// ```
/// use tool_provider::{ResponseStream, StreamPart};
///
/// let chunk = serde_json::json!({"choices": [{
///     "delta": {"tool_calls": [
///         {"index": 0, "id": "c1", "function": {"name": "grep", "arguments": "{}"}},
///     ]},
///     "finish_reason": "tool_calls",
/// }]});
/// let mut stream = ResponseStream::openai_chat();
/// let parts = stream.feed(&chunk);
/// assert!(parts.iter().any(|part| matches!(part, StreamPart::Call(call) if call.name == "grep")));
/// assert!(stream.end().is_empty(), "the response ended before its stream did");
/// assert_eq!(stream.response().message["tool_calls"][0]["id"], "c1");
/// ```
#[derive(Clone, Debug)]
pub struct ResponseStream {
    message: Message,
    calls: Calls,
}

/// The message of the model, as the next request has to repeat it.
#[derive(Clone, Debug)]
enum Message {
    Anthropic(anthropic::Blocks),
    Chat(chat::Chat),
    Responses(responses::Items),
    Gemini(gemini::Parts),
}

impl ResponseStream {
    /// Of Anthropic Messages.
    #[must_use]
    pub fn anthropic() -> Self {
        Self::of(
            Message::Anthropic(anthropic::Blocks::default()),
            Api::AnthropicMessages,
        )
    }

    /// Of OpenAI Chat Completions, and of whoever speaks as it does.
    #[must_use]
    pub fn openai_chat() -> Self {
        Self::of(Message::Chat(chat::Chat::default()), Api::OpenAiChat)
    }

    /// Of OpenAI Responses.
    #[must_use]
    pub fn openai_responses() -> Self {
        Self::of(
            Message::Responses(responses::Items::default()),
            Api::OpenAiResponses,
        )
    }

    /// Of Gemini `streamGenerateContent`.
    #[must_use]
    pub fn gemini() -> Self {
        Self::of(Message::Gemini(gemini::Parts::default()), Api::Gemini)
    }

    fn of(message: Message, api: Api) -> Self {
        Self {
            message,
            calls: Calls::of(api),
        }
    }

    /// What one parsed event says. Events that say nothing of calls, text or the end give nothing,
    /// and so does whatever comes after the end.
    pub fn feed(&mut self, event: &Value) -> Vec<StreamPart> {
        let mut parts = Vec::new();
        if self.calls.has_ended() {
            return parts;
        }
        let calls = &mut self.calls;
        match &mut self.message {
            Message::Anthropic(blocks) => blocks.read(event, calls, &mut parts),
            Message::Chat(chat) => chat.read(event, calls, &mut parts),
            Message::Responses(items) => items.read(event, calls, &mut parts),
            Message::Gemini(content) => content.read(event, calls, &mut parts),
        }
        parts
    }

    /// Says that no event is to come. A response that has not ended was cut off: it failed, and
    /// what is open never becomes whole. Gives nothing where the response ended or failed before.
    pub fn end(&mut self) -> Vec<StreamPart> {
        if self.calls.has_ended() {
            return Vec::new();
        }
        vec![self.calls.fail("the stream ended before the response did")]
    }

    /// The response as far as it has come, as [`Api::read`] gives a whole one.
    ///
    /// Its calls are all that began. One that was cut off stands in the message with empty
    /// arguments, so that the next request is accepted with the answer that it was not started. A
    /// call of Gemini comes in one piece and stands there as it came, also if it may not run.
    #[must_use]
    pub fn response(&self) -> Response {
        let message = match &self.message {
            Message::Anthropic(blocks) => blocks.message(&self.calls),
            Message::Chat(chat) => chat.message(&self.calls),
            Message::Responses(items) => items.message(&self.calls),
            Message::Gemini(content) => content.message(),
        };
        Response {
            message,
            calls: self.calls.made().map(|made| made.call.clone()).collect(),
            finish: self.calls.finish_reason().cloned(),
        }
    }
}
