//! What a client can be asked for.

use serde_json::{Map, Value, json};

use super::capabilities::Capabilities;
#[cfg(feature = "child")]
use super::shown_pages::shown_id;

/// Something that only a client can give: a word of the person who uses it, an answer of its
/// model, or the folders that it works on.
#[derive(Clone, Debug, PartialEq)]
pub struct Ask {
    kind: AskKind,
    params: Value,
}

/// The sort of an [`Ask`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AskKind {
    /// A person fills in a form.
    Form,
    /// A person opens a page.
    Page,
    /// The client's model answers.
    Sample,
    /// The client names the folders that it works on.
    Roots,
}

impl Ask {
    /// Lets a person fill in a form. The schema is an object of plain values; the answer is the
    /// protocol's `ElicitResult`, with `action` and, once accepted, `content`.
    #[must_use]
    pub fn form(message: impl Into<String>, schema: Value) -> Self {
        let params = [
            ("message".to_owned(), message.into().into()),
            ("requestedSchema".to_owned(), schema),
        ];
        Self {
            kind: AskKind::Form,
            params: Value::Object(params.into_iter().collect()),
        }
    }

    /// Lets a person open a page. The answer tells that it was opened, not what came of it.
    #[must_use]
    pub fn page(message: impl Into<String>, url: &str, id: &str) -> Self {
        Self {
            kind: AskKind::Page,
            params: json!({
                "mode": "url",
                "message": message.into(),
                "url": url,
                "elicitationId": id,
            }),
        }
    }

    /// Asks the client's model. The parameters are the protocol's, with `messages` and
    /// `maxTokens`; so is the answer.
    #[must_use]
    pub fn sample(params: Value) -> Self {
        Self {
            kind: AskKind::Sample,
            params,
        }
    }

    /// Asks for the folders that the client works on. The answer holds `roots`.
    #[must_use]
    pub fn roots() -> Self {
        Self {
            kind: AskKind::Roots,
            params: json!({}),
        }
    }

    /// Which sort it is.
    #[must_use]
    pub fn kind(&self) -> AskKind {
        self.kind
    }

    /// The parameters, as the protocol writes them.
    #[must_use]
    pub fn params(&self) -> &Value {
        &self.params
    }

    /// What a server asks by a method. `None` for a method that asks for nothing of a client.
    #[cfg(feature = "child")]
    pub(crate) fn read(method: &str, params: Value) -> Option<Self> {
        let is_page = || params.get("mode").and_then(Value::as_str) == Some("url");
        let kind = match method {
            "elicitation/create" if is_page() => AskKind::Page,
            "elicitation/create" => AskKind::Form,
            "sampling/createMessage" => AskKind::Sample,
            "roots/list" => AskKind::Roots,
            _ => return None,
        };
        let params = match params {
            Value::Object(_) => params,
            _ => json!({}),
        };
        Some(Self { kind, params })
    }

    /// The same with another message to whoever is asked.
    #[cfg(feature = "child")]
    pub(crate) fn saying(mut self, message: String) -> Self {
        if let Some(params) = self.params.as_object_mut() {
            params.insert("message".to_owned(), message.into());
        }
        self
    }

    /// The same with the id under which a client knows a page of that server. Anything else stays
    /// as it is.
    #[cfg(feature = "child")]
    pub(crate) fn shown_of(mut self, server: &str) -> Self {
        if let Some(Value::String(id)) = self.params.get_mut("elicitationId")
            && self.kind == AskKind::Page
        {
            *id = shown_id(server, id);
        }
        self
    }

    pub(crate) fn into_params(self) -> Value {
        self.params
    }

    /// As it stands in the result that asks for it.
    pub(crate) fn request(&self) -> Value {
        json!({"method": self.kind.method(), "params": self.params})
    }
}

impl AskKind {
    /// Every kind.
    pub const ALL: [Self; 4] = [Self::Form, Self::Page, Self::Sample, Self::Roots];

    /// The word for it in rules and settings.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Form => "form",
            Self::Page => "page",
            Self::Sample => "sample",
            Self::Roots => "roots",
        }
    }

    pub(crate) fn method(self) -> &'static str {
        match self {
            Self::Form | Self::Page => "elicitation/create",
            Self::Sample => "sampling/createMessage",
            Self::Roots => "roots/list",
        }
    }

    pub(crate) fn is_met_by(self, capabilities: Capabilities) -> bool {
        match self {
            Self::Form => capabilities.forms,
            Self::Page => capabilities.pages,
            Self::Sample => capabilities.sampling,
            Self::Roots => capabilities.roots,
        }
    }

    /// What a client that meets it declares.
    pub(crate) fn capability(self) -> Value {
        match self {
            Self::Form => json!({"elicitation": {"form": {}}}),
            Self::Page => json!({"elicitation": {"url": {}}}),
            Self::Sample => json!({"sampling": {}}),
            Self::Roots => json!({"roots": {}}),
        }
    }

    /// What a client that meets all of them declares.
    pub(crate) fn capabilities(kinds: &[Self]) -> Map<String, Value> {
        let mut all = Map::new();
        for kind in kinds {
            let Value::Object(one) = kind.capability() else {
                continue;
            };
            for (name, ways) in one {
                match (all.get_mut(&name).and_then(Value::as_object_mut), ways) {
                    (Some(all), Value::Object(ways)) => all.extend(ways),
                    (_, ways) => {
                        all.insert(name, ways);
                    }
                }
            }
        }
        all
    }

    /// The kinds that meet all of these capabilities. `None` where something else is among them.
    #[cfg(feature = "child")]
    pub(crate) fn all_of(capabilities: &Value) -> Option<Vec<Self>> {
        let capabilities = capabilities.as_object()?;
        let known = |name: &String| matches!(name.as_str(), "elicitation" | "sampling" | "roots");
        let declared = Capabilities::of(capabilities);
        let kinds = Self::ALL
            .into_iter()
            .filter(|kind| kind.is_met_by(declared));
        capabilities.keys().all(known).then(|| kinds.collect())
    }

    /// Whether an answer could be one to this. What a person wrote is for whoever asked to judge.
    pub(crate) fn fits(self, answer: &Value) -> bool {
        match self {
            Self::Form | Self::Page => match answer.get("action").and_then(Value::as_str) {
                Some("accept") => self == Self::Page || answer.get("content").is_some(),
                Some("decline" | "cancel") => true,
                _ => false,
            },
            Self::Sample => answer.get("content").is_some(),
            Self::Roots => answer.get("roots").is_some_and(Value::is_array),
        }
    }

    /// In a sentence about a client.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Form => "show a form",
            Self::Page => "open a page",
            Self::Sample => "ask its model",
            Self::Roots => "name its folders",
        }
    }
}
