//! One question to policy.

use std::borrow::Cow;
use std::fmt;

use serde_json::{Map, Value};

use crate::spoken::Named;
use crate::{CallId, Digest, Facts, Identity, IntoResources, Resources, Source, Spoken};

/// What a request wants to do: `read`, `write`, `shell`, a capability, or `call` for a tool as a
/// whole.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Action<'a>(Cow<'a, str>);

/// One question to policy, from the gate before a call runs or from a handler while it runs.
///
/// It names at least one resource, by its type.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Request<'a> {
    /// What is to be done.
    pub action: Action<'a>,
    /// What it is done to.
    pub resources: Resources<'a>,
    /// The patterns that "always" would allow from now on. Empty: "always" means "once".
    pub save: &'a [String],
    /// Data for the person who is asked.
    pub metadata: Option<&'a Map<String, Value>>,
    /// Who asks.
    pub facts: &'a Facts,
    /// The call that the question belongs to, where it has an id.
    pub call: Option<&'a CallId>,
    /// The tool that the question belongs to, where it is registered.
    pub tool: Option<&'a Identity>,
    /// Who provides that tool.
    pub source: Option<&'a Source>,
    /// The digest of that tool's definition, where it is registered. An approval that was given to
    /// one definition is none for another.
    pub definition: Option<&'a Digest>,
    arguments: Option<Named<'a>>,
    /// The tool asks itself while it runs, so that a policy without a rule for the tool as a
    /// whole may leave the question to it. Only the gate's question for `call` sets it.
    pub asserts: bool,
}

impl Action<'static> {
    /// A call of a tool as a whole: the gate's question. Its resource is the tool's identity.
    pub const CALL: Self = Self(Cow::Borrowed("call"));
}

impl<'a> Action<'a> {
    /// An action of that word.
    #[inline]
    pub fn new(word: impl Into<Cow<'a, str>>) -> Self {
        Self(word.into())
    }

    /// The word.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Action<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'a> Request<'a> {
    /// A question about an action on resources, with nothing else said.
    #[inline]
    #[must_use]
    pub fn new(action: Action<'a>, resources: impl IntoResources<'a>, facts: &'a Facts) -> Self {
        Self {
            action,
            resources: resources.into_resources(),
            save: &[],
            metadata: None,
            facts,
            call: None,
            tool: None,
            source: None,
            definition: None,
            arguments: None,
            asserts: false,
        }
    }

    /// The arguments of the call, where they could be parsed.
    #[must_use]
    pub fn arguments(&self) -> Option<&'a Value> {
        self.arguments.map(Named::value)
    }

    /// Whether the arguments could be parsed. Costs nothing, unlike a look at them.
    #[must_use]
    pub fn has_arguments(&self) -> bool {
        self.arguments.is_some()
    }

    /// Sets the arguments of the call.
    pub fn set_arguments(&mut self, arguments: Option<&'a Value>) {
        self.arguments = arguments.map(Named::Value);
    }

    /// Sets the arguments of the call, as they were read.
    #[inline]
    pub fn set_spoken(&mut self, arguments: Option<&'a Spoken<'a>>) {
        self.arguments = arguments.map(Named::Spoken);
    }
}
