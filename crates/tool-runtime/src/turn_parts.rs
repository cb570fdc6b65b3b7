//! From what a provider's stream says to what the registry's turn takes.

use std::collections::{BTreeMap, VecDeque};

use futures_util::stream::{self, Stream, StreamExt as _};
use serde_json::Value;
use thiserror::Error;
use tool_core::Arguments;
use tool_provider::{FinishReason, Response, ResponseStream, StreamPart, ToolList};
use tool_registry::Part;

/// Feeds a [`Turn`](tool_registry::Turn) with the response of a model, whoever the provider is.
///
/// The arguments of each call are given back as its tool takes them, by the list that the request
/// carried. A call reaches the turn when it is whole; one that was cut off is known to the turn,
/// which answers it as not started. When the events end before the response does, the turn fails
/// and nothing that is open runs.
///
/// Afterwards [`response`](Self::response) has the message that the next request repeats and the
/// calls that [`Api::results`](tool_provider::Api::results) answers.
///
/// ```
/// use futures_util::{StreamExt as _, stream};
/// use serde_json::json;
/// use tool_runtime::TurnParts;
/// use tool_runtime::core::Facts;
/// use tool_runtime::provider::{Api, Profile, ResponseStream};
/// use tool_runtime::registry::{Registry, TurnEvent};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let request = Registry::default().snapshot();
/// let tools = Profile::OpenAiChat.tools(request.definitions());
/// let events = stream::iter([Ok::<_, std::io::Error>(json!({"choices": [{
///     "delta": {"tool_calls": [{"index": 0, "id": "c1", "function": {"name": "gone"}}]},
///     "finish_reason": "tool_calls",
/// }]}))]);
///
/// let mut parts = TurnParts::new(ResponseStream::openai_chat(), &tools);
/// let mut settled = Vec::new();
/// let mut turn = request.turn(&Facts::new()).run(parts.follow(events));
/// while let Some(event) = turn.next().await {
///     if let TurnEvent::Settled { settlement, .. } = event {
///         settled.push(*settlement);
///     }
/// }
/// drop(turn);
///
/// let response = parts.response();
/// let next = Api::OpenAiChat.results(&response.calls, &settled);
/// assert_eq!(next[0]["tool_call_id"], "c1");
/// # }
/// ```
#[derive(Debug)]
pub struct TurnParts<'a> {
    stream: ResponseStream,
    tools: &'a ToolList,
    /// The arguments of the calls that are not whole yet.
    open: BTreeMap<usize, String>,
    ended: bool,
}

/// A response that failed, or whose events ended before it did.
#[derive(Debug, Error)]
#[error("the response of the model failed with \"{kind}\"")]
#[non_exhaustive]
pub struct ResponseFailure {
    /// The provider's kind of error, for the operator.
    pub kind: String,
    /// What the connection failed with, if it did.
    #[source]
    pub source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl<'a> TurnParts<'a> {
    /// Of a response to a request that carried these tools.
    #[must_use]
    pub fn new(stream: ResponseStream, tools: &'a ToolList) -> Self {
        Self {
            stream,
            tools,
            open: BTreeMap::new(),
            ended: false,
        }
    }

    /// The parts of a response that came as a whole. Its text stays in its message.
    ///
    /// No call of a response that was cut off, or that does not say why it ended, runs; the turn
    /// answers all of them as not started.
    #[must_use]
    pub fn of(response: &Response, tools: &ToolList) -> Vec<Part> {
        let missing = || FinishReason::Other("missing".to_owned());
        let finish = response.finish.clone().unwrap_or_else(missing);
        let mut parts = Vec::new();
        for call in &response.calls {
            if finish.is_complete() {
                parts.push(Part::Call(tools.restore(call.clone()).into_call()));
            } else {
                parts.push(Part::CallStarted {
                    index: call.position,
                    id: call.id.clone(),
                    name: call.name.clone(),
                });
                parts.push(Part::Arguments {
                    index: call.position,
                    text: text(call.arguments.clone()),
                });
            }
        }
        parts.push(Part::Finish(finish));
        parts
    }

    /// What one parsed event adds to the turn.
    pub fn feed(&mut self, event: &Value) -> Vec<Result<Part, ResponseFailure>> {
        let parts = self.stream.feed(event);
        self.parts(parts, None)
    }

    /// What the turn is told when no event is to come: that the response failed, unless it ended.
    pub fn end(&mut self) -> Vec<Result<Part, ResponseFailure>> {
        let parts = self.stream.end();
        self.parts(parts, None)
    }

    /// The parts of a response from its parsed events. They end with the response, whose events
    /// may go on: give `&mut events` to read what follows, as of tokens that were used.
    ///
    /// # Cancel safety
    /// Between two parts nothing is lost.
    pub fn follow<S, E>(
        &mut self,
        events: S,
    ) -> impl Stream<Item = Result<Part, ResponseFailure>> + use<'_, 'a, S, E>
    where
        S: Stream<Item = Result<Value, E>>,
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let state = (self, Box::pin(events), VecDeque::new());
        stream::unfold(state, async |(parts, mut events, mut ready)| {
            loop {
                if let Some(part) = ready.pop_front() {
                    return Some((part, (parts, events, ready)));
                }
                if parts.ended {
                    return None;
                }
                match events.next().await {
                    Some(Ok(event)) => ready.extend(parts.feed(&event)),
                    Some(Err(error)) => {
                        let more = parts.stream.end();
                        ready.extend(parts.parts(more, Some(error.into())));
                    }
                    None => ready.extend(parts.end()),
                }
            }
        })
    }

    /// The response as far as it has come.
    #[must_use]
    pub fn response(&self) -> Response {
        self.stream.response()
    }

    fn parts(
        &mut self,
        from: Vec<StreamPart>,
        mut source: Option<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Vec<Result<Part, ResponseFailure>> {
        let mut parts = Vec::new();
        for part in from {
            match part {
                StreamPart::Text(text) | StreamPart::Refusal(text) => {
                    parts.push(Ok(Part::Text(text)));
                }
                StreamPart::CallStarted { position, id, name } => {
                    self.open.insert(position, String::new());
                    let index = position;
                    parts.push(Ok(Part::CallStarted { index, id, name }));
                }
                StreamPart::ArgumentsPiece { position, piece } => {
                    self.open.entry(position).or_default().push_str(&piece);
                }
                StreamPart::Call(call) => {
                    let index = call.position;
                    self.open.remove(&index);
                    let text = text(self.tools.restore(call).arguments);
                    parts.push(Ok(Part::Arguments { index, text }));
                    parts.push(Ok(Part::CallComplete { index }));
                }
                StreamPart::Finish(reason) => {
                    parts.extend(self.rest());
                    self.ended = true;
                    parts.push(Ok(Part::Finish(reason)));
                }
                StreamPart::Failed { kind } => {
                    parts.extend(self.rest());
                    self.ended = true;
                    let source = source.take();
                    parts.push(Err(ResponseFailure { kind, source }));
                }
                // Whatever else there will be says nothing of calls.
                _ => {}
            }
        }
        parts
    }

    /// What was cut off, so that it is on record as far as it came.
    fn rest(&mut self) -> impl Iterator<Item = Result<Part, ResponseFailure>> + use<> {
        let open = std::mem::take(&mut self.open).into_iter();
        open.map(|(index, text)| Ok(Part::Arguments { index, text }))
    }
}

fn text(arguments: Arguments) -> String {
    match arguments {
        Arguments::Text(text) => text,
        Arguments::Value(value) => value.to_string(),
        _ => String::new(),
    }
}
