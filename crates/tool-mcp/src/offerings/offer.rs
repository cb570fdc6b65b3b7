//! One thing that is offered beside tools.

use serde_json::{Map, Value};

/// A kind of things that are offered beside tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum OfferKind {
    /// `resources/list`.
    Resource,
    /// `resources/templates/list`.
    Template,
    /// `prompts/list`.
    Prompt,
}

/// One resource, template or prompt.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Offer {
    /// The configured name of the server whose it is; empty for the host's own.
    pub server: String,
    /// Its URI, its URI template, or the name under which a prompt is asked for here.
    pub key: String,
    /// The whole entry of the list, with [`key`](Self::key) in its place.
    pub definition: Map<String, Value>,
}

impl Offer {
    /// An entry of a list.
    pub fn new(
        server: impl Into<String>,
        key: impl Into<String>,
        definition: Map<String, Value>,
    ) -> Self {
        Self {
            server: server.into(),
            key: key.into(),
            definition,
        }
    }
}

/// What is to be completed: one argument of a prompt or of a template.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Completion {
    /// Whether `key` is a prompt or a template.
    pub kind: OfferKind,
    /// The name or the URI template, as listed here.
    pub key: String,
    /// The `argument` of the request: its name and what was typed so far.
    pub argument: Map<String, Value>,
    /// The `context` of the request, where it has one.
    pub context: Option<Map<String, Value>>,
}

impl Completion {
    /// Asks how one argument goes on.
    pub fn new(kind: OfferKind, key: impl Into<String>, argument: Map<String, Value>) -> Self {
        Self {
            kind,
            key: key.into(),
            argument,
            context: None,
        }
    }
}

impl OfferKind {
    /// Every kind.
    pub const ALL: [Self; 3] = [Self::Resource, Self::Template, Self::Prompt];

    /// The method that lists things of this kind.
    #[must_use]
    pub fn list_method(self) -> &'static str {
        match self {
            Self::Resource => "resources/list",
            Self::Template => "resources/templates/list",
            Self::Prompt => "prompts/list",
        }
    }

    /// The member of the list's result in which they stand.
    #[must_use]
    pub fn list_member(self) -> &'static str {
        match self {
            Self::Resource => "resources",
            Self::Template => "resourceTemplates",
            Self::Prompt => "prompts",
        }
    }

    /// The member of an entry that tells it from the others.
    #[must_use]
    pub fn key_member(self) -> &'static str {
        match self {
            Self::Resource => "uri",
            Self::Template => "uriTemplate",
            Self::Prompt => "name",
        }
    }
}
