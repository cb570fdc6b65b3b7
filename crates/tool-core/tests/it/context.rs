//! What a handler is given.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use tool_core::{
    ArtifactKind, CallControl, CallControlBuilder, Context, Credential, Facts, Identification,
    Identity, Loss, Progress, ProgressSink, Source, ToolName,
};

fn identity() -> Identity {
    Identity::new(&Source::Host, ToolName::new("echo").unwrap())
}

fn control(facts: Facts) -> CallControlBuilder {
    CallControl::builder(facts, Some("c1".into()), identity(), Source::Host)
}

#[test]
fn a_context_gives_the_facts_of_the_host_exactly() {
    let facts = Facts::new()
        .session("s")
        .agent("")
        .identity(Identification::principal("ada"));
    let control = control(facts.clone()).build();
    let cx = control.context();
    assert_eq!(cx.facts(), &facts);
    assert_eq!(cx.session_id().unwrap().as_str(), "s");
    assert_eq!(cx.agent_id().unwrap().as_str(), "");
    assert_eq!((cx.message_id(), cx.run_id()), (None, None));
    assert_eq!(cx.identification().unwrap().tenant, None);
    assert_eq!(cx.call_id().unwrap().as_str(), "c1");
    assert_eq!(cx.tool(), Some(&identity()));
    assert_eq!(cx.source(), Some(&Source::Host));
    assert!(cx.credential().is_none());
    assert_eq!(cx.wanted("ref"), None);
}

#[test]
fn a_detached_context_belongs_to_no_call() {
    let cx = Context::detached();
    assert_eq!(cx.facts(), &Facts::new());
    assert_eq!((cx.call_id(), cx.tool(), cx.source()), (None, None, None));
    assert!(!cx.cancellation().is_cancelled());
    cx.progress("heard by nobody");
}

#[test]
fn a_context_gives_what_was_acquired_for_the_call() {
    let kind = ArtifactKind::new("report").unwrap();
    let control = control(Facts::new())
        .credential(Some(Credential::new("secret")))
        .wanted(BTreeMap::from([("ref".to_owned(), kind.clone())]))
        .build();
    let cx = control.context();
    assert_eq!(cx.credential().unwrap().expose(), "secret");
    assert_eq!(cx.wanted("ref"), Some(&kind));
    assert_eq!(cx.wanted("other"), None);
    let printed = format!("{cx:?} {control:?} {:?}", cx.credential());
    assert!(!printed.contains("secret"), "{printed}");
}

#[test]
fn progress_is_heard_until_the_call_settles_also_through_clones() {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let sink: Arc<dyn ProgressSink> = {
        let heard = Arc::clone(&heard);
        Arc::new(move |progress: Progress| heard.lock().unwrap().push(progress))
    };
    let control = control(Facts::new()).progress(Some(sink)).build();
    let (cx, clone) = (control.context(), control.context().clone());
    cx.progress("one");
    clone.progress(Progress::new().done(2.0));
    control.settle();
    cx.progress("late");
    clone.progress(String::from("late"));
    let expected = [Progress::new().message("one"), Progress::new().done(2.0)];
    assert_eq!(*heard.lock().unwrap(), expected);
}

#[test]
fn dropping_the_control_ends_progress_and_gives_the_signal() {
    let heard = Arc::new(Mutex::new(0));
    let sink: Arc<dyn ProgressSink> = {
        let heard = Arc::clone(&heard);
        Arc::new(move |_: Progress| *heard.lock().unwrap() += 1)
    };
    let control = control(Facts::new()).progress(Some(sink)).build();
    let cx = control.context();
    assert!(!cx.cancellation().is_cancelled());
    drop(control);
    assert!(cx.cancellation().is_cancelled());
    cx.progress("late");
    assert_eq!(*heard.lock().unwrap(), 0);
}

#[test]
fn facts_survive_a_round_trip_and_absent_ones_leave_no_key() {
    let facts = Facts::new().session("s1").message("m1");
    let json = serde_json::to_value(&facts).unwrap();
    assert_eq!(json, serde_json::json!({"session": "s1", "message": "m1"}));
    assert_eq!(serde_json::from_value::<Facts>(json).unwrap(), facts);
    assert_eq!(serde_json::to_string(&Facts::new()).unwrap(), "{}");
    let whole = facts
        .agent("a")
        .run("r")
        .identity(Identification::principal("ada").tenant("acme"));
    let json = serde_json::to_string(&whole).unwrap();
    assert_eq!(serde_json::from_str::<Facts>(&json).unwrap(), whole);
}

#[test]
fn a_handler_asks_for_credentials_where_somebody_hands_them_out_and_until_it_has_settled() {
    use futures_util::FutureExt as _;
    use tool_core::{BoxFuture, CredentialError, CredentialNeed, Credentials};
    struct Keys;
    impl Credentials for Keys {
        fn acquire<'a>(
            &'a self,
            facts: &'a Facts,
            need: &'a CredentialNeed,
        ) -> BoxFuture<'a, Result<Credential, CredentialError>> {
            let session = facts.session_id().unwrap();
            let secret = format!("{session} {}", need.service);
            Box::pin(async move { Ok(Credential::new(secret)) })
        }
    }
    let need = CredentialNeed::new("mail");
    let control = control(Facts::new().session("s"))
        .credentials(Some(Arc::new(Keys)))
        .build();
    let cx = control.context();
    let acquire = |cx: &Context| cx.acquire(&need).now_or_never().unwrap();
    assert_eq!(acquire(&cx).unwrap().expose(), "s mail");
    control.settle();
    assert_eq!(
        acquire(&cx).unwrap_err().to_string(),
        "the call has settled already"
    );
    assert!(acquire(&Context::detached()).is_err());
}

/// Panics again when what it panicked with is given up.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            panic!("dropped");
        }
    }
}

#[test]
fn a_listener_that_panics_is_no_reason_for_the_handler_to() {
    let sink = |_: Progress| std::panic::panic_any(Bomb);
    let control = control(Facts::new()).progress(Some(Arc::new(sink))).build();
    control.context().progress("heard");
    control.context().progress("heard again");
}

#[test]
fn the_first_loss_counts_and_none_after_the_call_has_settled() {
    let running = control(Facts::new()).build();
    running.context().report_loss(Loss::bytes(0));
    assert_eq!(running.loss(), None);
    running.context().report_loss(Loss::bytes(3));
    running.context().report_loss(Loss::bytes(9));
    assert_eq!(running.loss(), Some(Loss::bytes(3)));

    let settled = control(Facts::new()).build();
    settled.settle();
    settled.context().report_loss(Loss::bytes(3));
    assert_eq!(settled.loss(), None);
}
