//! What is told of calls while they run.

use std::fmt;

use serde_json::Value;

use crate::{
    ArtifactErrorKind, ArtifactKind, ArtifactMeta, CallId, Capability, ColumnMismatch, Digest,
    Facts, Gate, Identity, Issue, Progress, Repair, Ruling, Settlement, SweptArtifact,
    TeardownReport,
};

/// Receives what happens to every call, for audit, metrics and tests.
///
/// Called in the course of the call: it must return at once and must not block; one that panics
/// changes nothing. The events of one call come in the order in which things happened, from the
/// first [`EventKind::Stage`] to [`EventKind::Settled`]; those of calls that run beside each other
/// are mixed, and [`Event::number`] tells them apart. The last event of a call that is dropped is
/// [`EventKind::Dropped`]. Only of cleanups that run later is told after either, as
/// [`EventKind::TornDown`]. Printing an event shows neither arguments nor results;
/// [`EventKind::Received`] and [`EventKind::Settled`] lend them.
#[diagnostic::on_unimplemented(message = "`{Self}` does not receive events")]
pub trait EventSink: Send + Sync {
    /// Takes one event.
    fn emit(&self, event: &Event<'_>);
}

/// Something that happened to one call, or after it.
#[derive(Debug)]
#[non_exhaustive]
pub struct Event<'a> {
    /// Which call of its registry, counted from 1, as ids may be absent and may repeat. `None` for
    /// what happens beside the course of a call: cleanups after it, artifacts that left their store
    /// for one that a call put too late, and the settlement of a call that was never started.
    pub number: Option<u64>,
    /// The id of the call, where it has one and the event is of a call.
    pub call: Option<&'a CallId>,
    /// The wire name of the tool, else the name as it was called. Empty for what is of no call.
    pub tool: &'a str,
    /// Whose call it is.
    pub facts: &'a Facts,
    /// What happened.
    pub kind: EventKind<'a>,
}

impl<'a> Event<'a> {
    /// An event of one call.
    #[must_use]
    pub fn new(
        call: Option<&'a CallId>,
        tool: &'a str,
        facts: &'a Facts,
        kind: EventKind<'a>,
    ) -> Self {
        Self {
            number: None,
            call,
            tool,
            facts,
            kind,
        }
    }

    /// Adds which call it is of.
    #[must_use]
    pub fn number(mut self, number: Option<u64>) -> Self {
        self.number = number;
        self
    }
}

/// What happened.
#[non_exhaustive]
pub enum EventKind<'a> {
    /// A stage of the pipeline began.
    Stage(Stage),
    /// The tool was found and the arguments were read.
    Received {
        /// Which tool it is, whatever it was called.
        identity: &'a Identity,
        /// The digest of the tool's definition.
        definition: Digest,
        /// The arguments; `None` for what could not be read.
        arguments: Option<&'a Value>,
    },
    /// Policy ruled on the call, or on one of its capabilities.
    Ruled {
        /// The capability, where the ruling is on one.
        capability: Option<&'a Capability>,
        /// The ruling.
        ruling: &'a Ruling,
    },
    /// The handler asked for permission itself, and policy ruled on it.
    Asserted {
        /// What it is about to do.
        action: &'a str,
        /// The ruling.
        ruling: &'a Ruling,
    },
    /// Arguments were repaired.
    Repaired(&'a Repair),
    /// Somebody's word is wanted: the approver's, or that of whoever decides on the suspension.
    Asked(&'a Gate),
    /// Somebody gave his word, or nobody was there to give it.
    Answered {
        /// What the question was.
        gate: &'a Gate,
        /// Whether the call may go on, as far as this question goes.
        approved: bool,
        /// Who gave it, as the approver or whoever resumed the call says; `client` for the person
        /// who uses the client that made the call, who is its principal. `None` where nobody gave
        /// one, and where it is not said who.
        by: Option<&'a str>,
    },
    /// An argument that names an artifact was redeemed, or was not.
    Artifact {
        /// The argument.
        argument: &'a str,
        /// The kind that the tool wants.
        kind: &'a ArtifactKind,
        /// Whether the data was there.
        redeemed: bool,
    },
    /// The handler, or the placement of its result, put an artifact. What left for it was told
    /// before.
    ArtifactKept(&'a ArtifactMeta),
    /// An artifact left its store to make room, or as it had its time. The event names no call where
    /// that was for an artifact whose own call had settled meanwhile.
    ArtifactSwept(&'a SweptArtifact),
    /// The handler read an artifact.
    ArtifactRead {
        /// `head`, `get` or `get_stream`.
        verb: &'static str,
        /// Its kind.
        kind: &'a ArtifactKind,
    },
    /// The handler, or the placement of its result, asked something of the artifact store that was
    /// not done.
    ArtifactRefused {
        /// `put`, `head`, `get`, `delete`, `list`, `put_stream` or `get_stream`.
        verb: &'static str,
        /// Why; `None` for what is missing, expired or another caller's.
        reason: Option<ArtifactErrorKind>,
    },
    /// A credential was asked for on behalf of the call.
    Credential {
        /// The service that it opens.
        service: &'a str,
        /// How far that got.
        step: CredentialStep,
    },
    /// The output is not what its schema says, and is given all the same, as the tool declares.
    /// Without an issue there is no output at all.
    OutputMismatch(&'a [Issue]),
    /// Columns of the result hold something else than the tool declares.
    Columns(&'a [ColumnMismatch]),
    /// The handler reported progress.
    Progress(&'a Progress),
    /// A cleanup that a call registered came to its end. Cleanups of a run or a session do so long
    /// after the call.
    TornDown(&'a TeardownReport),
    /// The call was settled. The last event of a call, but for cleanups that run after it
    /// ([`TornDown`](Self::TornDown)).
    Settled(&'a Settlement),
    /// Whoever waited for the call went away, and it was stopped. The last event of such a call, but
    /// for cleanups that run after it ([`TornDown`](Self::TornDown)); it names no tool where none was
    /// found yet.
    Dropped,
}

/// How far it got to acquire a credential.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CredentialStep {
    /// The provider was asked.
    Requested,
    /// The provider gave it.
    Acquired,
    /// A person must give consent first.
    ConsentRequired,
    /// The provider did not give it.
    Failed,
}

impl fmt::Debug for EventKind<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stage(stage) => write!(f, "Stage({stage})"),
            Self::Received {
                definition,
                arguments,
                ..
            } => f
                .debug_struct("Received")
                .field("definition", definition)
                .field("arguments", &arguments.is_some())
                .finish(),
            Self::Ruled { capability, ruling } => f
                .debug_struct("Ruled")
                .field("capability", capability)
                .field("ruling", ruling)
                .finish(),
            Self::Asserted { action, ruling } => f
                .debug_struct("Asserted")
                .field("action", action)
                .field("ruling", ruling)
                .finish(),
            Self::Repaired(repair) => f.debug_tuple("Repaired").field(repair).finish(),
            Self::Asked(gate) => write!(f, "Asked({gate})"),
            Self::Answered { gate, approved, .. } => write!(f, "Answered({gate}: {approved})"),
            // The reference is an argument.
            Self::Artifact {
                argument,
                kind,
                redeemed,
            } => write!(f, "Artifact({argument} as {kind}: {redeemed})"),
            Self::ArtifactKept(meta) => write!(f, "ArtifactKept({})", meta.kind),
            Self::ArtifactSwept(swept) => {
                write!(f, "ArtifactSwept({}: {:?})", swept.kind, swept.reason)
            }
            Self::ArtifactRead { verb, kind } => write!(f, "ArtifactRead({verb} {kind})"),
            Self::ArtifactRefused { verb, reason } => {
                let reason = reason.map_or("absent", ArtifactErrorKind::as_str);
                write!(f, "ArtifactRefused({verb}: {reason})")
            }
            Self::Credential { service, step } => write!(f, "Credential({service}: {step:?})"),
            Self::OutputMismatch(issues) => f.debug_tuple("OutputMismatch").field(issues).finish(),
            Self::Columns(mismatches) => f.debug_tuple("Columns").field(mismatches).finish(),
            Self::Progress(_) => f.write_str("Progress(..)"),
            Self::TornDown(report) => f.debug_tuple("TornDown").field(report).finish(),
            Self::Settled(settlement) => write!(f, "Settled({})", settlement.outcome.as_str()),
            Self::Dropped => f.write_str("Dropped"),
        }
    }
}

/// The stages of the pipeline, in the order in which a call passes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a further stage must break every match"
)]
pub enum Stage {
    /// Hooks that run ahead of lookup.
    Before,
    /// Lookup in the captured snapshot.
    Resolve,
    /// From text to JSON.
    Parse,
    /// The gate, and a question for each governed capability.
    Policy,
    /// Validation against the tool's own schema, and decoding.
    Validate,
    /// Whoever has to be asked.
    Approval,
    /// References to artifacts are redeemed.
    Artifacts,
    /// The credential is acquired.
    Credentials,
    /// The handler runs.
    Execute,
    /// The output is encoded and validated.
    Encode,
    /// The author's ceiling.
    Judge,
    /// What programs and the model are shown.
    Project,
    /// Long text is retained and previewed.
    Bound,
    /// Hooks that run on the bounded settlement.
    After,
    /// The settlement is given out.
    Settle,
}

impl Stage {
    /// The name in the design and in logs.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Before => "before",
            Self::Resolve => "resolve",
            Self::Parse => "parse",
            Self::Policy => "policy",
            Self::Validate => "validate",
            Self::Approval => "approval",
            Self::Artifacts => "artifacts",
            Self::Credentials => "credentials",
            Self::Execute => "execute",
            Self::Encode => "encode",
            Self::Judge => "judge",
            Self::Project => "project",
            Self::Bound => "bound",
            Self::After => "after",
            Self::Settle => "settle",
        }
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl<F: Fn(&Event<'_>) + Send + Sync> EventSink for F {
    fn emit(&self, event: &Event<'_>) {
        self(event);
    }
}
