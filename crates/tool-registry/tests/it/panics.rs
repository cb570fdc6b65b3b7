//! Code of somebody else's that panics: the panic stays where it happens, one settlement comes out,
//! and whoever calls next is not touched by it.

use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use serde_json::{Value, json};
use tool_core::{
    AfterHook, Answer, Approver, ApproverError, Artifact, ArtifactError, ArtifactKind,
    ArtifactStore, Ask, BeforeHook, Bound, Bounded, BoxFuture, Call, Capability, CheckIn, Content,
    Context, Credential, CredentialError, CredentialNeed, Credentials, Decision, Decoder, Digest,
    Encoder, Event, Facts, HookError, Incoming, InvalidArguments, NeedsApproval, OutputPage,
    OutputStore, PageRequest, Permission, Policy, PolicyError, Progress, Request, Retained,
    Retention, Ruling, SettledCall, Settlement, State, StateError, StoreError, StoreErrorKind,
    TeardownScope, Tool,
};
use tool_registry::{
    GroundedArguments, MemoryState, Registry, RepeatedCalls, RequestHook, ResultClasses, View,
};

/// The place that panics, if any.
#[derive(Clone, Default)]
struct Fuse(Arc<Mutex<Option<&'static str>>>);

impl Fuse {
    fn burn(&self, place: Option<&'static str>) {
        *self.0.lock().unwrap() = place;
    }

    fn pass(&self, place: &str) {
        let burns = *self.0.lock().unwrap() == Some(place);
        assert!(!burns, "canary at {place}");
    }
}

impl Policy for Fuse {
    fn decide<'a>(&'a self, _: &'a Request<'a>) -> BoxFuture<'a, Result<Ruling, PolicyError>> {
        self.pass("policy");
        Box::pin(async {
            self.pass("policy later");
            Ok(Ruling::new(Decision::Ask, "the rule of this test"))
        })
    }

    fn governs(&self, _: &Capability) -> bool {
        self.pass("governs");
        false
    }
}

impl Approver for Fuse {
    fn ask<'a>(&'a self, _: Ask<'a>) -> BoxFuture<'a, Result<Answer, ApproverError>> {
        self.pass("approver");
        Box::pin(async {
            self.pass("approver later");
            Ok(Answer::Approved)
        })
    }
}

impl ArtifactStore for Fuse {
    fn get<'a>(
        &'a self,
        _: &'a Facts,
        _: &'a str,
    ) -> BoxFuture<'a, Result<Option<Artifact>, ArtifactError>> {
        self.pass("artifacts");
        let kind = ArtifactKind::new("report").unwrap();
        Box::pin(async { Ok(Some(Artifact::new(kind, "data"))) })
    }
}

impl Credentials for Fuse {
    fn acquire<'a>(
        &'a self,
        _: &'a Facts,
        _: &'a CredentialNeed,
    ) -> BoxFuture<'a, Result<Credential, CredentialError>> {
        self.pass("credentials");
        Box::pin(async { Ok(Credential::new("secret")) })
    }
}

impl BeforeHook for Fuse {
    fn before<'a>(
        &'a self,
        _: &'a mut Incoming,
        _: &'a Facts,
    ) -> BoxFuture<'a, Result<(), HookError>> {
        self.pass("before");
        Box::pin(async { Ok(()) })
    }
}

impl AfterHook for Fuse {
    fn after<'a>(
        &'a self,
        _: &'a mut Settlement,
        _: &'a SettledCall<'a>,
    ) -> BoxFuture<'a, Result<(), HookError>> {
        self.pass("after");
        Box::pin(async {
            self.pass("after later");
            Ok(())
        })
    }
}

impl RequestHook for Fuse {
    fn request(&self, _: &mut View, _: &Facts) {
        self.pass("request");
    }
}

impl OutputStore for Fuse {
    fn bound<'a>(&'a self, retention: Retention<'a>) -> BoxFuture<'a, Result<Bounded, StoreError>> {
        self.pass("outputs");
        let retained = Retained::new("out_1", 1, 1, Digest::of(b"x"));
        drop(retention);
        Box::pin(async move { Ok(Bounded::new(vec![Content::text("preview")], retained)) })
    }

    fn forget(&self, _: &Retained) {
        self.pass("forget");
    }

    fn page<'a>(&'a self, _: PageRequest<'a>) -> BoxFuture<'a, Result<OutputPage, StoreError>> {
        Box::pin(async { Err(StoreError::new(StoreErrorKind::NotFound, "no such output")) })
    }
}

struct Codec(Fuse);

impl Decoder<Value> for Codec {
    fn schema(&self) -> Value {
        json!({"type": "object", "properties": {"ref": {"type": "string"}}})
    }

    fn decode(&self, input: &Value) -> Result<Value, InvalidArguments> {
        self.0.pass("decoder");
        Ok(input.clone())
    }
}

impl Encoder<Value> for Codec {
    fn schema(&self) -> Option<Value> {
        None
    }

    fn encode(&self, output: &Value) -> Result<Value, Box<dyn std::error::Error + Send + Sync>> {
        self.0.pass("encoder");
        Ok(output.clone())
    }
}

/// A registry all of whose parts can panic, and a tool that uses them all.
fn registry(fuse: &Fuse) -> Registry {
    let tell = |place| {
        let fuse = fuse.clone();
        move || fuse.pass(place)
    };
    let (events, grounded, classes, repeated, clock) = (
        tell("events"),
        tell("grounded"),
        tell("classes"),
        tell("repeated"),
        tell("clock"),
    );
    let registry = Registry::builder()
        .permission(Permission::new(fuse.clone(), fuse.clone()))
        .artifacts(fuse.clone())
        .credentials(fuse.clone())
        .outputs(Arc::new(fuse.clone()))
        .bound(Bound::new(4, 1).unwrap())
        .before(fuse.clone())
        .after(fuse.clone())
        .after(GroundedArguments::new(move |_: &_| grounded()))
        .after(ResultClasses::new(move |_: &_| classes()))
        .after(RepeatedCalls::new().report(move |_: &_| repeated()))
        .on_request(fuse.clone())
        .clock(move || {
            clock();
            SystemTime::now()
        })
        .events(move |_: &Event<'_>| events())
        .build();
    registry.register([("tool", tool(fuse))]).unwrap().keep();
    registry
}

fn tool(fuse: &Fuse) -> Tool {
    let tell = |place| {
        let fuse = fuse.clone();
        move || fuse.pass(place)
    };
    let (handler, approval, later, checks, model) = (
        fuse.clone(),
        tell("approval"),
        fuse.clone(),
        tell("check-in"),
        tell("model"),
    );
    let approval = NeedsApproval::when(move |_: Value, _| {
        approval();
        let later = later.clone();
        async move {
            later.pass("approval later");
            Ok(false)
        }
    });
    let check_in = CheckIn::when(move |_: Value| {
        checks();
        Ok(false)
    });
    let tool = Tool::with_codecs(
        "Uses everything",
        Codec(fuse.clone()),
        Codec(fuse.clone()),
        move |_: Value, cx: Context| {
            handler.pass("handler");
            let fuse = handler.clone();
            async move {
                fuse.pass("handler later");
                let cleaning = fuse.clone();
                cx.on_teardown(TeardownScope::Call, "k", move || {
                    cleaning.pass("cleanup");
                    async move { cleaning.pass("cleanup later") }
                })?;
                cx.progress("half way");
                Ok(json!("longer than the bound"))
            }
        },
    );
    Tool::from(tool)
        .model(move |_, output: Value| {
            model();
            [Content::text(output.to_string())]
        })
        .wants("ref", ArtifactKind::new("report").unwrap())
        .needs(CredentialNeed::new("mail"))
        .capabilities([Capability::UserData])
        .needs_approval(approval)
        .check_in(check_in)
        .arguments_from(["list"])
        .result_class(tool_core::ResultClass::Triage)
}

async fn settle(registry: &Registry, fuse: &Fuse) -> Settlement {
    let facts = Facts::new().run("r");
    let listening = fuse.clone();
    registry
        .request(&facts)
        .settle(Call::new("tool", r#"{"ref":"a1"}"#).id("c1"), &facts)
        .progress(move |_: Progress| listening.pass("progress"))
        .await
}

/// What panics, and what the call then comes to.
const PLACES: [(&str, &str); 27] = [
    // Nothing was decided: nothing runs.
    ("before", "defect"),
    ("policy", "defect"),
    ("policy later", "defect"),
    ("governs", "defect"),
    ("approver", "defect"),
    ("approver later", "defect"),
    ("request", "refused"),
    // A predicate that panics asks, and here somebody says yes.
    ("approval", "completed"),
    ("approval later", "completed"),
    ("check-in", "completed"),
    ("decoder", "defect"),
    ("artifacts", "defect"),
    ("credentials", "defect"),
    ("handler", "defect"),
    ("handler later", "defect"),
    ("encoder", "defect"),
    ("model", "defect"),
    ("outputs", "defect"),
    ("after", "defect"),
    ("after later", "defect"),
    // Who only listens changes nothing.
    ("events", "completed"),
    ("progress", "completed"),
    ("grounded", "completed"),
    ("classes", "completed"),
    ("repeated", "completed"),
    ("cleanup", "completed"),
    ("cleanup later", "completed"),
];

#[tokio::test]
async fn a_panic_of_anybodys_code_stays_where_it_happens_and_poisons_nothing() {
    let fuse = Fuse::default();
    let registry = registry(&fuse);
    assert_eq!(settle(&registry, &fuse).await.outcome.as_str(), "completed");
    for (place, ends) in PLACES {
        fuse.burn(Some(place));
        let settled = settle(&registry, &fuse).await;
        assert_eq!(
            settled.outcome.as_str(),
            ends,
            "{place}: {}",
            settled.text()
        );
        assert_eq!(settled.call.as_ref().unwrap().as_str(), "c1", "{place}");
        // Nothing of the panic reaches the model.
        assert!(!settled.text().contains("canary"), "{place}");
        fuse.burn(None);
        let next = settle(&registry, &fuse).await;
        assert_eq!(next.outcome.as_str(), "completed", "after {place}");
    }
}

#[tokio::test]
async fn a_panic_in_a_batch_or_a_stream_touches_no_sibling() {
    use futures_util::StreamExt as _;
    for (place, _) in PLACES {
        let fuse = Fuse::default();
        let registry = registry(&fuse);
        let any = json!({"type": "object"});
        let bystander = crate::tools::mirror(any, &crate::ports::Count::default());
        registry
            .register([("bystander", bystander)])
            .unwrap()
            .keep();
        let snapshot = registry.snapshot();
        let calls = || ["tool", "bystander"].map(|name| Call::new(name, r#"{"ref":"a1"}"#));
        fuse.burn(Some(place));
        let settled = snapshot.settle_all(calls(), &Facts::new().run("r")).await;
        assert_eq!(settled.len(), 2, "{place}");
        let batch = snapshot.batch(calls(), &Facts::new().run("r"));
        let events: Vec<_> = batch.stream().collect().await;
        let ends = events
            .iter()
            .filter(|(_, event)| matches!(event, tool_registry::SettlementEvent::Settled(_)));
        assert_eq!(ends.count(), 2, "{place}");
    }
}

#[tokio::test]
async fn a_clock_or_a_state_that_panics_lets_nothing_go_on() {
    struct Breaks(Fuse, MemoryState);
    impl State for Breaks {
        fn claim<'a>(
            &'a self,
            key: &'a str,
            until: SystemTime,
        ) -> BoxFuture<'a, Result<bool, StateError>> {
            self.0.pass("state");
            self.1.claim(key, until)
        }
    }
    let (fuse, runs) = (Fuse::default(), crate::ports::Count::default());
    let (ticks, keeps) = (fuse.clone(), fuse.clone());
    let registry = crate::ports::open()
        .clock(move || {
            ticks.pass("clock");
            SystemTime::now()
        })
        .state(Breaks(keeps, MemoryState::default()))
        .build();
    let tool = crate::tools::mirror(json!({"type": "object"}), &runs).needs_approval(true);
    registry.register([("tool", tool)]).unwrap().keep();
    let suspend = async || {
        let settling = registry
            .snapshot()
            .settle(Call::new("tool", "{}"), &Facts::new());
        settling.approvals(tool_registry::Approvals::Suspend).await
    };
    for place in ["clock", "state"] {
        let tool_core::Outcome::Suspended(suspension) = suspend().await.outcome else {
            panic!("expected a suspension")
        };
        fuse.burn(Some(place));
        let resume = || {
            let approve = tool_core::Verdict::Approve;
            let snapshot = registry.snapshot();
            snapshot.resume((*suspension).clone(), approve, &Facts::new())
        };
        assert_eq!(resume().await.outcome.as_str(), "defect", "{place}");
        if place == "clock" {
            assert_eq!(suspend().await.outcome.as_str(), "defect");
        }
        fuse.burn(None);
        assert_eq!(resume().await.outcome.as_str(), "completed", "{place}");
    }
    assert_eq!(runs.get(), 2);
}

#[tokio::test]
async fn a_store_that_panics_when_it_is_to_forget_takes_nobody_along() {
    let fuse = Fuse::default();
    let registry = Registry::builder()
        .permission(Permission::new(fuse.clone(), fuse.clone()))
        .outputs(Arc::new(fuse.clone()))
        .bound(Bound::new(4, 1).unwrap())
        .after(crate::ports::Stuck::default())
        .build();
    let tool = crate::tools::fixed("longer than the bound");
    registry.register([("tool", tool)]).unwrap().keep();
    fuse.burn(Some("forget"));
    let mut settling = registry
        .snapshot()
        .settle(Call::new("tool", "{}"), &Facts::new())
        .into_future();
    assert!(futures_util::poll!(settling.as_mut()).is_pending());
    drop(settling);
}

/// Panics with another of its kind when it is given up.
struct Endless;

impl Drop for Endless {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            std::panic::panic_any(Self);
        }
    }
}

#[tokio::test]
async fn what_a_panic_carries_may_panic_for_ever_and_takes_nobody_along() {
    let registry = crate::ports::open()
        .events(|_: &Event<'_>| std::panic::panic_any(Endless))
        .build();
    let tool = crate::tools::run(|cx| async move {
        cx.on_teardown(TeardownScope::Call, "k", || async {
            std::panic::panic_any(Endless)
        })?;
        cx.progress("heard");
        std::panic::panic_any(Endless)
    });
    registry.register([("tool", tool)]).unwrap().keep();
    let calls = ["tool", "tool"].map(|name| Call::new(name, "{}"));
    let settled = registry.snapshot().settle_all(calls, &Facts::new()).await;
    assert!(settled.iter().all(|one| one.outcome.as_str() == "defect"));
}
