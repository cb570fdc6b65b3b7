//! The pipeline: the same tool, registered and settled.

use std::sync::Arc;

use futures_util::StreamExt as _;
use tool_core::{
    Bounded, BoxFuture, Call, Context, Decision, Facts, NobodyToAsk, OutputPage, OutputStore,
    PageRequest, Permission, Policy, PolicyError, Request, Retention, Ruling, Settlement,
    StoreError, StoreErrorKind, Tool,
};
use tool_registry::{Registration, Registry, Snapshot};

use crate::add::{Add, DESCRIPTION, NAME, Sum, add};

/// A registry with its tools, and what one model request sees of it.
pub struct Pipeline {
    registry: Registry,
    snapshot: Snapshot,
    facts: Facts,
    _registered: Vec<Registration>,
}

impl Pipeline {
    /// A registry of that many tools, one of which adds. Calls are allowed, nobody listens, and
    /// output that is too long has nowhere to go.
    pub fn new(tools: usize) -> Result<Self, Box<dyn std::error::Error>> {
        Self::build(tools, None)
    }

    /// The same, with a store for output that is too long. This tool's never is.
    pub fn with_store(tools: usize) -> Result<Self, Box<dyn std::error::Error>> {
        Self::build(tools, Some(Arc::new(Unneeded)))
    }

    /// A registry of that many tools, each with a registration of its own.
    pub fn registered_apart(tools: usize) -> Result<Self, Box<dyn std::error::Error>> {
        let mut one = Self::new(1)?;
        let adds = tool();
        for number in 1..tools {
            let registered = one
                .registry
                .register([(format!("tool_{number}"), adds.clone())]);
            one._registered.push(registered?);
        }
        one.snapshot = one.registry.snapshot();
        Ok(one)
    }

    fn build(
        tools: usize,
        outputs: Option<Arc<dyn OutputStore>>,
    ) -> Result<Self, Box<dyn std::error::Error>> {
        let mut builder =
            Registry::builder().permission(Permission::new(AllowEverything, NobodyToAsk));
        if let Some(outputs) = outputs {
            builder = builder.outputs(outputs);
        }
        let registry = builder.build();
        let adds = tool();
        let names = (1..tools).map(|number| format!("tool_{number}"));
        let registered = registry.register(
            std::iter::once(NAME.to_owned())
                .chain(names)
                .map(|name| (name, adds.clone())),
        )?;
        Ok(Self {
            snapshot: registry.snapshot(),
            registry,
            // As many as a host that streams a model's answer knows.
            facts: Facts::new()
                .session("session")
                .agent("agent")
                .message("message"),
            _registered: vec![registered],
        })
    }

    pub async fn settle(&self, name: &str, arguments: &str) -> Settlement {
        let call = Call::new(name, arguments).id("call_1");
        self.snapshot.settle(call, &self.facts).await
    }

    pub fn snapshot(&self) -> Snapshot {
        self.registry.snapshot()
    }

    /// Registers one tool more and takes it away again.
    pub fn change(&self) -> Result<(), Box<dyn std::error::Error>> {
        let _one_more = self.registry.register([("one_more", tool())])?;
        Ok(())
    }

    /// Registers one tool more, takes the snapshot that sees it, and takes the tool away again.
    pub fn change_and_snapshot(&self) -> Result<Snapshot, Box<dyn std::error::Error>> {
        let _one_more = self.registry.register([("one_more", tool())])?;
        Ok(self.registry.snapshot())
    }
}

/// A tool that hands out results before its last.
pub struct Streaming {
    snapshot: Snapshot,
    facts: Facts,
    _registered: Registration,
}

impl Streaming {
    pub fn new() -> Result<Self, Box<dyn std::error::Error>> {
        let counts = Tool::new(DESCRIPTION, |input: Add, cx: Context| async move {
            for early in 0..input.a {
                cx.preliminary(&Sum { sum: early }).await?;
            }
            Ok(add(input).await)
        });
        let registry = Registry::builder()
            .permission(Permission::new(AllowEverything, NobodyToAsk))
            .build();
        let registered = registry.register([(NAME, Tool::from(counts))])?;
        Ok(Self {
            snapshot: registry.snapshot(),
            facts: Facts::new().session("session"),
            _registered: registered,
        })
    }

    /// Takes so many preliminary results and the settlement. How many events that were.
    pub async fn take(&self, results: u32) -> usize {
        let arguments = format!(r#"{{"a": {results}, "b": 1}}"#);
        let call = Call::new(NAME, arguments).id("call_1");
        let events = self.snapshot.settle(call, &self.facts).stream();
        events.count().await
    }
}

fn tool() -> Tool {
    Tool::new(DESCRIPTION, |input: Add, _cx: Context| async move {
        Ok(add(input).await)
    })
    .into()
}

/// Stands for a policy whose rules are not what is measured here.
struct AllowEverything;

impl Policy for AllowEverything {
    fn decide<'a>(
        &'a self,
        _request: &'a Request<'a>,
    ) -> BoxFuture<'a, Result<Ruling, PolicyError>> {
        Box::pin(async { Ok(everything()) })
    }

    fn decide_at_once(&self, _request: &Request<'_>) -> Option<Result<Ruling, PolicyError>> {
        Some(Ok(everything()))
    }
}

fn everything() -> Ruling {
    Ruling::new(Decision::Allow, "everything is allowed")
}

/// Stands for a store that is there and that no call needs.
struct Unneeded;

impl OutputStore for Unneeded {
    fn bound<'a>(&'a self, _: Retention<'a>) -> BoxFuture<'a, Result<Bounded, StoreError>> {
        Box::pin(async { Err(unneeded()) })
    }

    fn page<'a>(&'a self, _: PageRequest<'a>) -> BoxFuture<'a, Result<OutputPage, StoreError>> {
        Box::pin(async { Err(unneeded()) })
    }
}

fn unneeded() -> StoreError {
    StoreError::new(StoreErrorKind::Io, "the store keeps nothing")
}
