//! Policy and approver together, as the gate and the tools use them.

use std::sync::{Arc, Mutex};

use futures_util::FutureExt as _;
use serde_json::{Value, json};
use tool_core::{
    Action, Answer, Approver, ApproverError, Ask, BoxFuture, CallControl, ClosedPolicy, Context,
    Decision, Facts, Identity, IntoResources, NoResources, NobodyToAsk, Permission, Policy,
    PolicyError, Refusal, Request, Resource, Resources, Ruling, Source, ToolName, Word,
};

/// Rules by the first resource, and keeps what it was asked.
#[derive(Clone, Default)]
struct ByName(Arc<Mutex<Vec<Value>>>);

impl Policy for ByName {
    fn decide<'a>(
        &'a self,
        request: &'a Request<'a>,
    ) -> BoxFuture<'a, Result<Ruling, PolicyError>> {
        self.0.lock().unwrap().push(json!({
            "action": request.action.as_str(),
            "resources": request.resources.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "save": request.save,
            "metadata": request.metadata,
            "call": request.call.map(|id| id.as_str()),
            "tool": request.tool.map(ToString::to_string),
            "asserts": request.asserts,
        }));
        let ruling = match request.resources[0].to_string().as_str() {
            "allowed" => Ok(Ruling::new(Decision::Allow, "rule 1")),
            "denied" => Ok(Ruling::new(Decision::Deny, "rule 2").reason(Some("frozen".into()))),
            "broken" => Err(PolicyError::new(std::io::Error::other("EIO"))),
            _ => Ok(Ruling::new(Decision::Ask, "no rule")),
        };
        Box::pin(async move { ruling })
    }
}

struct Says(Result<Answer, &'static str>);

impl Approver for Says {
    fn ask<'a>(&'a self, _: Ask<'a>) -> BoxFuture<'a, Result<Word, ApproverError>> {
        let answer = self.0.clone().map(|answer| answer.by("ada"));
        let answer = answer.map_err(ApproverError::new);
        Box::pin(async move { answer })
    }
}

fn assert_on<const N: usize>(
    permission: &Permission,
    resources: &[&'static str; N],
) -> Result<(), Refusal>
where
    [&'static str; N]: for<'a> IntoResources<'a>,
{
    let cx = Context::detached();
    let asking = permission.assert(&cx, "write", *resources);
    asking.into_future().now_or_never().unwrap()
}

#[test]
fn allowed_is_allowed_and_denied_is_denied_with_the_reason_of_the_rule() {
    let permission = Permission::new(ByName::default(), Says(Ok(Answer::Approved)));
    assert_eq!(assert_on(&permission, &["allowed"]), Ok(()));
    let refusal = assert_on(&permission, &["denied"]).unwrap_err();
    assert_eq!(
        refusal.to_string(),
        "permission for write was denied: frozen"
    );
    assert_eq!(refusal.operator(), "write denied: rule 2");
}

#[test]
fn resources_are_never_none() {
    let one = || Resource::from("a");
    assert_eq!(Resources::try_from(Vec::new()), Err(NoResources));
    assert_eq!(Resources::try_from(&[][..]), Err(NoResources));
    assert_eq!(*Resources::new("a", [""; 0]), [one()]);
    assert_eq!(*Resources::try_from(vec![one()]).unwrap(), [one()]);
    assert_eq!(
        *["a"; 16].into_resources(),
        [const { "a" }; 16].map(Resource::from)
    );
    let owned = Resources::new("a", ["b"]);
    assert_eq!(owned.borrowed().into_owned(), owned);
}

#[test]
fn a_broken_policy_denies_and_tells_the_operator_every_cause() {
    let permission = Permission::new(ByName::default(), Says(Ok(Answer::Approved)));
    let refusal = assert_on(&permission, &["broken"]).unwrap_err();
    assert!(!refusal.to_string().contains("EIO"));
    assert_eq!(
        refusal.operator(),
        "write denied: policy could not decide: EIO"
    );
}

#[test]
fn ask_is_what_the_answer_says() {
    let answered = |answer| {
        let permission = Permission::new(ByName::default(), Says(answer));
        assert_on(&permission, &["unknown"])
    };
    assert_eq!(answered(Ok(Answer::Approved)), Ok(()));
    let note = Some("not now".to_owned());
    assert_eq!(
        answered(Ok(Answer::Declined { note: note.clone() })),
        Err(Refusal::Declined { note: note.clone() })
    );
    assert_eq!(
        answered(Ok(Answer::Stopped { note: note.clone() })),
        Err(Refusal::Stopped { note })
    );
    let nobody = answered(Ok(Answer::Nobody)).unwrap_err();
    assert_eq!(
        nobody.operator(),
        "write denied: no rule, and nobody is there to ask"
    );
    let broken = answered(Err("desk is down")).unwrap_err();
    assert!(!broken.to_string().contains("desk"));
    assert_eq!(
        broken.operator(),
        "write denied: approver could not ask: desk is down"
    );
}

#[test]
fn an_assertion_asks_what_was_formulated_for_the_call_that_it_belongs_to() {
    let policy = ByName::default();
    let permission = Permission::new(policy.clone(), NobodyToAsk);
    let identity = Identity::new(&Source::Host, ToolName::new("edit").unwrap());
    let control =
        CallControl::builder(Facts::new(), Some("c1".into()), identity, Source::Host).build();
    let cx = control.context();
    let asking = permission
        .assert(&cx, "write", ["allowed", "b"])
        .save("src/*")
        .save("docs/*")
        .metadata("lines", 3);
    asking.into_future().now_or_never().unwrap().unwrap();
    assert_eq!(
        *policy.0.lock().unwrap(),
        [json!({
            "action": "write",
            "resources": ["allowed", "b"],
            "save": ["src/*", "docs/*"],
            "metadata": {"lines": 3},
            "call": "c1",
            "tool": "edit",
            "asserts": false,
        })]
    );
    assert!(control.asserted());
    assert_eq!(control.refusal(), None);
}

#[test]
fn the_first_refusal_of_an_assertion_sticks_to_its_call() {
    let permission = Permission::new(ByName::default(), Says(Ok(Answer::Declined { note: None })));
    let identity = Identity::new(&Source::Host, ToolName::new("edit").unwrap());
    let control = CallControl::builder(Facts::new(), None, identity, Source::Host).build();
    let cx = control.context();
    for resource in ["unknown", "denied", "allowed"] {
        let asking = permission.assert(&cx, "write", [resource]);
        let _ = asking.into_future().now_or_never().unwrap();
    }
    assert_eq!(control.refusal(), Some(Refusal::Declined { note: None }));
}

#[test]
fn without_a_policy_the_gate_leaves_a_tool_that_asks_to_its_own_question() {
    let facts = Facts::new();
    let mut request = Request::new(Action::CALL, [Resource::from("tool")], &facts);
    let permission = Permission::new(ClosedPolicy, NobodyToAsk);
    let decided = |request: &Request<'_>| {
        let ruling = permission.decide(request).now_or_never().unwrap();
        ruling.decision
    };
    assert_eq!(decided(&request), Decision::Ask);
    request.asserts = true;
    assert_eq!(decided(&request), Decision::Allow);
    // And that question is then answered as any other: there is nobody.
    let refusal = assert_on(&Permission::closed(), &["it"]).unwrap_err();
    assert!(matches!(refusal, Refusal::Denied(_)));
}

#[test]
fn deny_is_more_than_ask_and_ask_is_more_than_allow() {
    assert!(Decision::Deny > Decision::Ask && Decision::Ask > Decision::Allow);
}
