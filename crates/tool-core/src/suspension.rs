//! A call that waits for somebody's word.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

use crate::{CallId, Component, Consent, Facts};

/// A call that waits for a decision, as data: keep it, send it, resume it, in this process or in
/// another.
///
/// It is bound to the tool, to its definition, to the arguments and to the caller; it is good for
/// one decision and until it expires; and it is sealed, so that what was altered is refused. It
/// holds the arguments, which whoever decides must see: treat it as confidential.
///
/// Carry it as the JSON that it serialises to. The order of keys and the spacing do not matter; a
/// carrier that rounds numbers breaks the seal, and the call is then refused.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Suspension {
    /// Unguessable, and different for every suspension.
    pub id: String,
    /// What the call waits for.
    pub gate: Gate,
    /// Gates that were passed by earlier decisions on the same call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub passed: Vec<Gate>,
    /// Why it is asked, for whoever decides.
    pub because: String,
    /// The component to ask with, where the tool brings one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub component: Option<Component>,
    /// Where consent is given, for the host that shows it. It is in memory only: what is
    /// serialised leaves it out.
    #[serde(skip)]
    pub consent: Option<Consent>,
    /// The id of the call, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<CallId>,
    /// The name as it was called.
    pub name: String,
    /// The wire name of the tool that would run.
    pub tool: String,
    /// The tool itself, whatever name it goes by in the request.
    pub identity: String,
    /// The digest of that tool's source, name and definition.
    pub definition: String,
    /// The arguments that would run.
    pub arguments: Value,
    /// The arguments as they were delivered: text as a string, else the value in an array of one.
    pub delivered: Value,
    /// Whose call it is.
    pub facts: Facts,
    /// When it expires, in milliseconds since 1970-01-01 UTC.
    pub expires_at_ms: u64,
    /// The seal over everything else.
    pub seal: String,
}

/// What a call waits for. One that was passed never stands for another.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Gate {
    /// Policy said to ask about this action: `call`, or a capability.
    Policy {
        /// The action.
        action: String,
    },
    /// The tool needs approval.
    Approval,
    /// The tool checks in.
    CheckIn,
    /// A person must give consent to a service first.
    Consent {
        /// The service.
        service: String,
    },
    /// The result comes from outside.
    External,
}

/// A decision on a suspended call: `{"decision":"approve"}`, or `{"decision":"decline"}` with an
/// optional `note`, and nothing else.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Spoken", into = "Spoken")]
#[expect(
    clippy::exhaustive_enums,
    reason = "a further decision must break every match"
)]
pub enum Verdict {
    /// Go on. The call runs once, if everything else still holds.
    Approve,
    /// Do not. The model reads the note.
    Decline {
        /// What the model reads.
        note: Option<String>,
    },
}

/// A decision as it is written.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Spoken {
    decision: Word,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Word {
    Approve,
    Decline,
}

impl TryFrom<Spoken> for Verdict {
    type Error = &'static str;

    fn try_from(spoken: Spoken) -> Result<Self, Self::Error> {
        match (spoken.decision, spoken.note) {
            (Word::Approve, None) => Ok(Self::Approve),
            (Word::Approve, Some(_)) => Err("an approval takes no note"),
            (Word::Decline, note) => Ok(Self::Decline { note }),
        }
    }
}

impl From<Verdict> for Spoken {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Approve => Self {
                decision: Word::Approve,
                note: None,
            },
            Verdict::Decline { note } => Self {
                decision: Word::Decline,
                note,
            },
        }
    }
}

/// An answer that is no decision, or none on what was asked. Nothing was recorded; a proper one may
/// follow.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{gate} of tool \"{tool}\" needs a decision{fault}")]
pub struct DecisionRequired {
    gate: Gate,
    tool: String,
    fault: Fault,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Fault {
    /// It is no decision, but of this shape.
    Shape(String),
    /// It is about another artifact than the question.
    Stale {
        /// Whether the question shows any.
        shows: bool,
    },
}

impl Suspension {
    /// A suspension at a gate, still without its bindings and its seal. The registry fills them
    /// in; one that was made otherwise resumes nothing.
    pub fn new(id: impl Into<String>, gate: Gate, name: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            gate,
            passed: Vec::new(),
            because: String::new(),
            component: None,
            consent: None,
            call: None,
            name: name.into(),
            tool: String::new(),
            identity: String::new(),
            definition: String::new(),
            arguments: Value::Null,
            delivered: Value::Null,
            facts: Facts::new(),
            expires_at_ms: 0,
            seal: String::new(),
        }
    }

    /// Reads a decision on this suspension from JSON. Beside the decision it may name, as `from`,
    /// the artifact on which it was made: that must be the one which the question shows.
    ///
    /// # Errors
    /// [`DecisionRequired`], naming the gate and the shape of what came, never its contents; a
    /// [stale](DecisionRequired::is_stale) one for a decision on another artifact.
    pub fn verdict(&self, answer: &Value) -> Result<Verdict, DecisionRequired> {
        let required = |fault| DecisionRequired {
            gate: self.gate.clone(),
            tool: self.tool.clone(),
            fault,
        };
        let no_decision = || required(Fault::Shape(shape(answer)));
        // An array would be read as the fields of a decision in their order.
        let mut decision = answer.as_object().ok_or_else(no_decision)?.clone();
        let from = decision.remove("from");
        let verdict = Verdict::deserialize(Value::Object(decision)).map_err(|_| no_decision())?;
        let asked = self.component.as_ref();
        let asked = asked.and_then(|component| component.props_ref.as_ref());
        match from {
            None => Ok(verdict),
            Some(Value::String(from)) if asked == Some(&from) => Ok(verdict),
            Some(Value::String(_)) => Err(required(Fault::Stale {
                shows: asked.is_some(),
            })),
            Some(_) => Err(no_decision()),
        }
    }
}

impl DecisionRequired {
    /// Whether it is a decision, but one that names another artifact than the question shows, or one
    /// where the question shows none.
    #[must_use]
    pub fn is_stale(&self) -> bool {
        matches!(self.fault, Fault::Stale { .. })
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shape(shape) => write!(
                f,
                ", got {shape}; give {{\"decision\":\"approve\"}} or {{\"decision\":\"decline\"}}"
            ),
            Self::Stale { shows: true } => f.write_str(
                " on the artifact that it shows, got one on another; look at that one and decide anew",
            ),
            Self::Stale { shows: false } => f.write_str(
                ", got one on an artifact where none is shown; leave \"from\" out",
            ),
        }
    }
}

fn shape(value: &Value) -> String {
    match value {
        Value::Null => "nothing".to_owned(),
        Value::Bool(_) => "a boolean".to_owned(),
        Value::Number(_) => "a number".to_owned(),
        Value::String(_) => "a string".to_owned(),
        Value::Array(items) => format!("an array of {}", items.len()),
        Value::Object(map) => format!("an object of {} keys", map.len()),
    }
}

impl fmt::Display for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Policy { action } => write!(f, "policy on {action}"),
            Self::Approval => f.write_str("approval"),
            Self::CheckIn => f.write_str("check-in"),
            Self::Consent { service } => write!(f, "consent to {service}"),
            Self::External => f.write_str("outside result"),
        }
    }
}
