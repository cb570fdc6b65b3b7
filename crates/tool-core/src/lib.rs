#![doc = include_str!("../README.md")]

mod annotations;
mod approver;
mod artifact;
mod bound;
mod call;
mod cancellation;
mod capability;
mod concurrency;
mod content;
mod context;
mod control;
mod credential;
mod declarations;
mod definition;
mod digest;
mod dynamic;
mod event;
mod executor;
mod facts;
mod failure;
mod handler_error;
mod hooks;
mod ids;
mod invalid_arguments;
mod name;
mod outcome;
mod output_store;
mod permission;
mod policy;
mod problem;
mod produced;
mod progress;
mod projection;
mod refusal;
mod request;
mod resource;
mod schema;
mod settlement;
mod source;
mod tool;
mod typed;
mod wire_name;

pub use annotations::Annotations;
pub use approver::{Answer, Approver, ApproverError, Ask, NobodyToAsk};
pub use artifact::{Artifact, ArtifactError, ArtifactKind, ArtifactStore, NoArtifacts};
pub use bound::{Bound, BoundError, Bounding};
pub use call::{Arguments, Call};
pub use cancellation::Cancellation;
pub use capability::Capability;
pub use concurrency::Concurrency;
pub use content::{Content, Embedded, EmbeddedBody, Link, Media, MediaKind, Text};
pub use context::Context;
pub use control::{CallControl, CallControlBuilder};
pub use credential::{
    Credential, CredentialError, CredentialMode, CredentialNeed, Credentials, NoCredentials,
};
pub use declarations::Declarations;
pub use definition::Definition;
pub use digest::{Digest, canonical_json};
pub use event::{Event, EventKind, EventSink, Stage};
pub use executor::{Executor, Finished, Prepared};
pub use facts::{Facts, Identification};
pub use failure::ToolFailure;
pub use handler_error::{HandlerError, HandlerErrorKind};
pub use hooks::{AfterHook, BeforeHook, HookError, Incoming};
pub use ids::{AgentId, CallId, MessageId, RunId, SessionId};
pub use invalid_arguments::{InvalidArguments, Issue};
pub use name::{Namespace, ToolName};
pub use outcome::{Defect, DefectKind, Outcome};
pub use output_store::{
    Bounded, OutputPage, OutputStore, PageRequest, Retained, Retention, StoreError, StoreErrorKind,
};
pub use permission::{Assertion, Permission};
pub use policy::{ClosedPolicy, Decision, Policy, PolicyError, Ruling};
pub use problem::{Problem, ProblemKind};
pub use produced::Produced;
pub use progress::{Progress, ProgressSink};
pub use projection::ProjectionError;
pub use refusal::{Denial, Refusal, RefusalKind};
pub use request::{Action, Request};
pub use resource::Resource;
pub use schema::{Schema, SchemaError};
pub use settlement::{Repair, Settlement};
pub use source::{Identity, Source};
pub use tool::Tool;
pub use typed::TypedTool;
pub use wire_name::WireName;

/// A boxed future, as every object-safe port of this crate returns it.
pub type BoxFuture<'a, T> = futures_core::future::BoxFuture<'a, T>;
