//! Shared ports forward every method, those with a default too.

use std::sync::Arc;

use futures_util::FutureExt as _;
use tool_core::{
    Answer, Approver, ApproverError, Ask, BoxFuture, Capability, Decision, Facts, Policy,
    PolicyError, Progress, ProgressSink, Request, Resource, Ruling, Word,
};

/// Answers every method otherwise than its default does.
struct Odd;

impl Policy for Odd {
    fn decide<'a>(&'a self, _: &'a Request<'a>) -> BoxFuture<'a, Result<Ruling, PolicyError>> {
        Box::pin(async { Ok(Ruling::new(Decision::Allow, "odd")) })
    }

    fn governs(&self, capability: &Capability) -> bool {
        *capability == Capability::UserData
    }
}

impl Approver for Odd {
    fn ask<'a>(&'a self, _: Ask<'a>) -> BoxFuture<'a, Result<Word, ApproverError>> {
        Box::pin(async { Ok(Answer::Declined { note: None }.into()) })
    }
}

fn ruled(policy: &impl Policy) -> (Ruling, bool, bool) {
    let facts = Facts::new();
    let request = Request::new(tool_core::Action::CALL, [Resource::from("it")], &facts);
    let ruling = policy.decide(&request).now_or_never().unwrap().unwrap();
    let governs = |capability| policy.governs(&capability);
    (
        ruling,
        governs(Capability::UserData),
        governs(Capability::MemoryRead),
    )
}

#[test]
fn a_shared_policy_is_the_policy() {
    let expected = (Ruling::new(Decision::Allow, "odd"), true, false);
    assert_eq!(ruled(&Odd), expected);
    assert_eq!(ruled(&Arc::new(Odd)), expected);
    assert_eq!(ruled(&(Arc::new(Odd) as Arc<dyn Policy>)), expected);
}

#[test]
fn a_shared_approver_is_the_approver() {
    fn asked(approver: &impl Approver) -> Answer {
        let facts = Facts::new();
        let request = Request::new(tool_core::Action::CALL, [Resource::from("it")], &facts);
        let ruling = Ruling::new(Decision::Ask, "it");
        let answer = approver.ask(Ask::new(&request, &ruling)).now_or_never();
        answer.unwrap().unwrap().answer
    }
    assert_eq!(asked(&Arc::new(Odd)), Answer::Declined { note: None });
    assert_eq!(
        asked(&(Arc::new(Odd) as Arc<dyn Approver>)),
        Answer::Declined { note: None }
    );
}

#[test]
fn shared_progress_is_heard_once() {
    let heard = Arc::new(std::sync::Mutex::new(Vec::new()));
    let sink: Arc<dyn ProgressSink> = {
        let heard = Arc::clone(&heard);
        Arc::new(move |progress: Progress| heard.lock().unwrap().push(progress.done))
    };
    ProgressSink::report(&sink, Progress::new().done(1.0));
    assert_eq!(*heard.lock().unwrap(), [Some(1.0)]);
}

#[test]
fn the_ports_are_object_safe_and_can_be_shared() {
    fn port<T: Send + Sync + ?Sized>() {}
    port::<dyn Policy>();
    port::<dyn Approver>();
    port::<dyn tool_core::OutputStore>();
    port::<dyn tool_core::ArtifactStore>();
    port::<dyn tool_core::Credentials>();
    port::<dyn tool_core::BeforeHook>();
    port::<dyn tool_core::AfterHook>();
    port::<dyn tool_core::EventSink>();
    port::<dyn tool_core::Executor>();
    port::<dyn ProgressSink>();
}
