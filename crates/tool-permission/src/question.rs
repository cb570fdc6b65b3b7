//! A question that waits for an answer.

use std::fmt;
use std::num::ParseIntError;
use std::str::FromStr;

use serde_json::{Map, Value};
use tool_core::{Action, Ask, CallId, Digest, Facts, Identity, Request, Resources, Source};

/// A question that waits for an answer, with all that a person needs to give one.
///
/// Printing it for debugging shows its id and its action only.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct Question {
    /// Under which it is answered.
    pub id: QuestionId,
    /// What is to be done.
    pub action: String,
    /// What it is done to.
    pub resources: Resources<'static>,
    /// The patterns that "always" would allow from now on, exactly. Empty: it means "once".
    pub save: Vec<String>,
    /// Further data from the tool.
    pub metadata: Map<String, Value>,
    /// Who asks.
    pub facts: Facts,
    /// The call that it belongs to, where it has an id.
    pub call: Option<CallId>,
    /// The tool that asks, where it is registered.
    pub tool: Option<Identity>,
    /// Who provides that tool.
    pub source: Option<Source>,
    /// The digest of that tool's definition.
    pub definition: Option<Digest>,
    /// The arguments of the call, where they are known.
    pub arguments: Option<Value>,
    /// Why it is asked.
    pub because: String,
    /// The reason that the rule's author wrote.
    pub reason: Option<String>,
    pub(crate) asserts: bool,
}

/// The name of a question, unique at its desk.
///
/// ```
/// use tool_permission::QuestionId;
///
/// let id: QuestionId = "ask_7".parse()?;
/// assert_eq!(id.to_string(), "ask_7");
/// # Ok::<(), tool_permission::QuestionIdError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QuestionId(u64);

/// A text that names no question.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a question is named \"ask_\" and a number")]
pub struct QuestionIdError {
    #[source]
    source: Option<ParseIntError>,
}

const PREFIX: &str = "ask_";

impl Question {
    pub(crate) fn new(id: QuestionId, ask: &Ask<'_>) -> Self {
        let request = ask.request;
        Self {
            id,
            action: request.action.as_str().to_owned(),
            resources: request.resources.clone().into_owned(),
            save: request.save.to_vec(),
            metadata: request.metadata.cloned().unwrap_or_default(),
            facts: request.facts.clone(),
            call: request.call.cloned(),
            tool: request.tool.cloned(),
            source: request.source.cloned(),
            definition: request.definition.copied(),
            arguments: request.arguments().cloned(),
            because: ask.ruling.because.to_string(),
            reason: ask.ruling.reason.clone(),
            asserts: request.asserts,
        }
    }

    /// The request as policy sees it.
    pub(crate) fn request(&self) -> Request<'_> {
        let action = Action::new(self.action.as_str());
        let mut request = Request::new(action, self.resources.borrowed(), &self.facts);
        request.save = &self.save;
        request.metadata = Some(&self.metadata);
        request.call = self.call.as_ref();
        request.tool = self.tool.as_ref();
        request.source = self.source.as_ref();
        request.definition = self.definition.as_ref();
        request.set_arguments(self.arguments.as_ref());
        request.asserts = self.asserts;
        request
    }
}

impl QuestionId {
    pub(crate) fn new(number: u64) -> Self {
        Self(number)
    }
}

impl fmt::Debug for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Question")
            .field("id", &self.id)
            .field("action", &self.action)
            .finish_non_exhaustive()
    }
}

impl fmt::Display for QuestionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}{}", self.0)
    }
}

impl FromStr for QuestionId {
    type Err = QuestionIdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = text
            .strip_prefix(PREFIX)
            .ok_or(QuestionIdError { source: None })?;
        match number.parse() {
            Ok(number) => Ok(Self(number)),
            Err(error) => Err(QuestionIdError {
                source: Some(error),
            }),
        }
    }
}
