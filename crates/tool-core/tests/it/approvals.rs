//! Whose leave a tool wants, asked of its predicates.

use std::task::{Context as TaskContext, Poll, Waker};

use futures_util::FutureExt as _;
use serde_json::{Value, json};
use tool_core::{CallFacts, CheckIn, Component, ComponentFault, Facts, NeedsApproval};

#[derive(serde::Deserialize)]
struct Refund {
    cents: u64,
}

fn holds(approval: &NeedsApproval, input: &Value) -> bool {
    let facts = || CallFacts::new(Facts::new().session("s"), Some("c1".into()));
    approval.holds(input, facts).now_or_never().unwrap()
}

#[test]
fn approval_is_for_no_call_for_every_call_or_for_those_of_a_predicate() {
    let refund = json!({"cents": 5});
    assert!(!holds(&NeedsApproval::default(), &refund));
    assert!(holds(&true.into(), &refund) && !holds(&false.into(), &refund));
    let large = NeedsApproval::when(|refund: Refund, facts: CallFacts| async move {
        assert_eq!(facts.facts.session_id().unwrap().as_str(), "s");
        assert_eq!(facts.call.unwrap().as_str(), "c1");
        Ok(refund.cents > 10)
    });
    assert!(!holds(&large, &refund));
    assert!(holds(&large, &json!({"cents": 11})));
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
fn a_predicate_that_fails_panics_or_cannot_read_says_yes() {
    let asks: [NeedsApproval; 4] = [
        NeedsApproval::when(|_: Refund, _| async { Err("broken".into()) }),
        NeedsApproval::when(|_: Refund, _| -> std::future::Ready<_> { panic!("at once") }),
        NeedsApproval::when(|_: Refund, _| async { panic!("later") }),
        NeedsApproval::when(|_: Refund, _| async { std::panic::panic_any(Bomb) }),
    ];
    for approval in &asks {
        assert!(holds(approval, &json!({"cents": 5})), "{approval:?}");
    }
    let never = NeedsApproval::when(|_: Refund, _| async { Ok(false) });
    assert!(holds(&never, &json!({"cents": "five"})));

    let checks = [
        CheckIn::when(|_: Refund| Err("broken".into())),
        CheckIn::when(|_: Refund| panic!("at once")),
        CheckIn::when(|_: Refund| std::panic::panic_any(Bomb)),
    ];
    for check_in in &checks {
        assert!(check_in.trips(&json!({"cents": 5})));
    }
    assert!(CheckIn::when(|_: Refund| Ok(false)).trips(&json!([])));
    assert!(!CheckIn::when(|_: Refund| Ok(false)).trips(&json!({"cents": 5})));
    assert!(CheckIn::always().trips(&Value::Null));
}

#[test]
fn a_predicate_is_polled_until_it_has_an_answer() {
    let slow = NeedsApproval::when(|_: Refund, _| async {
        let mut waited = false;
        std::future::poll_fn(|_| {
            if std::mem::replace(&mut waited, true) {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        })
        .await;
        Ok(false)
    });
    let input = json!({"cents": 5});
    let mut holds = Box::pin(slow.holds(&input, CallFacts::default));
    let mut cx = TaskContext::from_waker(Waker::noop());
    assert_eq!(holds.as_mut().poll(&mut cx), Poll::Pending);
    assert_eq!(holds.as_mut().poll(&mut cx), Poll::Ready(false));
}

#[test]
fn a_component_goes_with_its_check_in_and_nowhere_else() {
    let props = json!({"min": 1}).as_object().unwrap().clone();
    let component = Component::new("slider").props(props);
    assert_eq!(CheckIn::always().asks_with(), None);
    let check_in = CheckIn::always().component(component.clone());
    assert_eq!(check_in.asks_with(), Some(&component));
    let json = serde_json::to_value(Component::new("plain")).unwrap();
    assert_eq!(json, json!({"id": "plain"}));
}

#[test]
fn a_component_takes_its_artifact_from_an_argument_and_survives_json() {
    let check_in = CheckIn::always()
        .component(Component::new("preview").props_ref("art_fixed"))
        .props_from("draft");
    assert!(check_in.shows_artifacts() && !CheckIn::always().shows_artifacts());
    for (input, reference) in [
        (json!({"draft": "art_1"}), Some("art_1")),
        (json!({"draft": null}), None),
        (json!({}), None),
    ] {
        let component = check_in.component_for(&input).unwrap().unwrap();
        assert_eq!(component.props_ref.as_deref(), reference);
        let json = serde_json::to_value(&component).unwrap();
        assert_eq!(json.get("props_ref").is_some(), reference.is_some());
        let back: Component = serde_json::from_value(json).unwrap();
        assert_eq!(back, component);
    }
    for input in [json!({"draft": 5}), json!({"draft": " "})] {
        let fault = check_in.component_for(&input).unwrap_err();
        assert_eq!(fault, ComponentFault::Shape);
    }
    // What an argument names is nothing without a component.
    let bare = CheckIn::always().props_from("draft");
    assert_eq!(bare.component_for(&json!({"draft": "art_1"})), Ok(None));
}
