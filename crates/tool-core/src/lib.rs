#![doc = include_str!("../README.md")]

mod annotations;
mod approval;
mod approver;
mod artifact;
mod artifact_error;
mod artifact_meta;
mod artifact_ref;
mod artifact_scope;
mod artifact_store;
mod artifacts;
mod base64_bytes;
mod bound;
mod call;
mod call_host;
mod call_name;
mod call_state;
mod cancellation;
mod capability;
mod check_in;
mod codec;
mod coded;
mod columns;
mod component;
mod component_fault;
mod concurrency;
mod contained;
mod content;
mod context;
mod control;
mod credential;
mod declaration_setters;
mod declarations;
mod definition;
#[cfg(all(unix, feature = "processes"))]
mod descendants;
mod digest;
mod dispatch;
mod dynamic;
mod error_chain;
mod event;
mod executor;
mod facts;
mod failure;
mod failure_mode;
mod finish_reason;
mod handler_error;
mod hooks;
mod ids;
mod invalid_arguments;
mod issue;
mod issue_kind;
mod kind;
mod loss;
mod name;
mod no_artifacts;
mod outcome;
mod output;
mod output_reading;
mod output_store;
mod output_stream;
mod owner;
mod permission;
mod plain;
mod policy;
mod preliminary;
mod problem;
#[cfg(all(unix, feature = "processes"))]
mod process_mark;
#[cfg(all(target_os = "linux", feature = "processes"))]
mod process_table;
mod produced;
mod progress;
mod projection;
mod refusal;
mod repair;
mod repeat;
mod request;
mod resource;
mod resources;
mod result_class;
mod resume_fault;
mod schema;
mod serde_codec;
mod settlement;
mod shown;
mod source;
mod spoken;
mod state;
mod suspension;
mod teardown;
mod tool;
mod tool_parts;
mod typed;
mod wanted;
mod wire_name;

pub use annotations::Annotations;
pub use approval::{CallFacts, NeedsApproval};
pub use approver::{Answer, Approver, ApproverError, Ask, NobodyToAsk, Word};
pub use artifact::{Artifact, ArtifactKind, Payload};
pub use artifact_error::{ArtifactError, ArtifactErrorKind};
pub use artifact_meta::{ArtifactDraft, ArtifactMeta, ArtifactOrigin};
pub use artifact_ref::ArtifactRef;
pub use artifact_scope::ArtifactScope;
pub use artifact_store::{
    ArtifactPage, ArtifactQuery, ArtifactStore, ByteStream, Kept, StreamingArtifacts, SweepReason,
    SweptArtifact,
};
pub use artifacts::Artifacts;
pub use bound::{Bound, BoundError, Bounding};
pub use call::{Arguments, Call};
pub use call_host::CallHost;
pub use call_name::CallName;
pub use call_state::CallState;
pub use cancellation::Cancellation;
pub use capability::Capability;
pub use check_in::CheckIn;
pub use codec::{Decoder, Encoder};
pub use columns::{Column, ColumnMismatch, ColumnType, Columns, judge_columns};
pub use component::Component;
pub use component_fault::ComponentFault;
pub use concurrency::Concurrency;
pub use content::{Content, Embedded, EmbeddedBody, Link, Media, MediaKind, Speaker, Text};
pub use context::Context;
pub use control::{CallControl, CallControlBuilder};
pub use credential::{
    Consent, Credential, CredentialError, CredentialMode, CredentialNeed, Credentials,
    NoCredentials,
};
pub use declarations::Declarations;
pub use definition::Definition;
#[cfg(all(unix, feature = "processes"))]
pub use descendants::Descendants;
pub use digest::{Digest, canonical_json};
pub use dispatch::Dispatch;
pub use error_chain::ErrorChain;
pub use event::{CredentialStep, Event, EventKind, EventSink, Stage};
pub use executor::{Executor, Prepared, Running, producing};
pub use facts::{Facts, Identification};
pub use failure::ToolFailure;
pub use failure_mode::{FailureMode, FailureOrigin};
pub use finish_reason::FinishReason;
pub use handler_error::{HandlerError, HandlerErrorKind};
pub use hooks::{AfterHook, BeforeHook, HookError, Incoming, SettledCall};
pub use ids::{AgentId, CallId, MessageId, RunId, SessionId};
pub use invalid_arguments::InvalidArguments;
pub use issue::{Issue, Unrepresentable};
pub use issue_kind::IssueKind;
pub use kind::{ProviderDefined, ToolKind, Validation};
pub use loss::Loss;
pub use name::{Namespace, ToolName};
pub use no_artifacts::NoArtifacts;
pub use outcome::{Defect, DefectKind, Outcome};
pub use output::Output;
pub use output_reading::{OutputLines, OutputMatch, OutputMatches, OutputReading, OutputValue};
pub use output_store::{
    Bounded, OutputPage, OutputStore, PageRequest, Retained, Retention, StoreError, StoreErrorKind,
};
pub use output_stream::{OutputSink, OutputStream, Streamed};
pub use owner::Owner;
pub use permission::{Assertion, Permission};
pub use plain::Plain;
pub use policy::{ClosedPolicy, Decision, Policy, PolicyError, Ruling};
pub use preliminary::{PreliminaryError, PreliminarySink};
pub use problem::{Problem, ProblemKind};
#[cfg(all(unix, feature = "processes"))]
pub use process_mark::ProcessMark;
pub use produced::Produced;
pub use progress::{Progress, ProgressSink};
pub use projection::ProjectionError;
pub use refusal::{Denial, Refusal, RefusalKind};
pub use repair::{Repair, RepairRule, Repairs};
pub use repeat::RepeatedWhen;
pub use request::{Action, Request};
pub use resource::Resource;
pub use resources::{IntoResources, NoResources, Resources};
pub use result_class::ResultClass;
pub use resume_fault::ResumeFault;
pub use schema::{Schema, SchemaError};
pub use serde_codec::Serde;
pub use settlement::{CallError, Settlement, Structured};
pub use source::{Identity, Source};
pub use spoken::Spoken;
pub use state::{State, StateError, StateReading, StateVersion};
pub use suspension::{DecisionRequired, Gate, Suspension, Verdict};
pub use teardown::{
    Cleanup, Registered, Teardown, TeardownEnd, TeardownError, TeardownReport, TeardownScope,
};
pub use tool::Tool;
pub use typed::TypedTool;
pub use wanted::Wanted;
pub use wire_name::WireName;

/// A boxed future, as every object-safe port of this crate returns it.
pub type BoxFuture<'a, T> = futures_core::future::BoxFuture<'a, T>;
