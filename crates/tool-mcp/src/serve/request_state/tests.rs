use serde_json::{Map, Value};
use tool_core::{Facts, ResumeFault};

use super::{Bound, MOST_BYTES, RequestState, StateKey, Unclosed};

fn state(bytes: usize) -> RequestState {
    let mut answers = Map::new();
    answers.insert("a".to_owned(), Value::String("x".repeat(bytes)));
    RequestState {
        answers,
        ..RequestState::default()
    }
}

#[test]
fn a_state_that_was_made_can_be_opened_and_one_that_could_not_be_is_not_made() {
    let key = StateKey::new([7; 32]);
    let facts = Facts::new();
    let bound = Bound {
        method: "tools/call",
        name: "t",
        arguments: "{}",
        facts: &facts,
    };
    // Of four characters three are bytes; the nonce, the tag and the rest are not the answer.
    let about = MOST_BYTES / 4 * 3;
    let (mut longest, mut over) = (about - 400, about);
    while over - longest > 1 {
        let middle = longest.midpoint(over);
        match key.close(state(middle), &bound) {
            Ok(_) => longest = middle,
            Err(_) => over = middle,
        }
    }
    let closed = key.close(state(longest), &bound).expect("it fits");
    assert!(closed.len() <= MOST_BYTES && closed.len() > MOST_BYTES - 4);
    let opened = key.open(&closed, &bound).expect("it is whole");
    assert_eq!(opened.answers, state(longest).answers);
    match key.close(state(longest + 1), &bound) {
        Err(Unclosed::TooLong(bytes)) => assert!(bytes > MOST_BYTES),
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_is_too_old_is_told_from_what_was_altered() {
    let key = StateKey::new([7; 32]);
    let facts = Facts::new();
    let bound = |arguments| Bound {
        method: "tools/call",
        name: "t",
        arguments,
        facts: &facts,
    };
    let old = RequestState::default();
    let old = key.sealed(&old, &bound("{}")).expect("there is randomness");
    let fault = |text: &str, arguments| key.open(text, &bound(arguments)).err();
    assert_eq!(fault(&old, "{}"), Some(ResumeFault::Expired));
    assert_eq!(fault(&old, r#"{"a":1}"#), Some(ResumeFault::Forged));
    assert_eq!(
        fault(&old.replace(&old[40..44], "AAAA"), "{}"),
        Some(ResumeFault::Forged)
    );
    let fresh = key
        .close(RequestState::default(), &bound("{}"))
        .expect("it fits");
    assert_eq!(fault(&fresh, "{}"), None);
}
