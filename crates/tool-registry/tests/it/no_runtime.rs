//! The straight path needs no runtime: nothing is spawned and no clock is looked at.

use std::pin::pin;
use std::task::{Context as TaskContext, Poll, Waker};

use serde_json::json;
use tool_core::{Call, Context, Facts, Tool};

use crate::ports::open;

#[test]
fn a_call_that_waits_for_nothing_settles_in_one_poll_without_a_runtime() {
    let registry = open().build();
    let tool = Tool::dynamic(
        "Echo",
        json!({"type": "object"}),
        |input, _: Context| async { Ok(input) },
    );
    registry.register([("echo", tool)]).unwrap().keep();
    let call = Call::new("echo", r#"{"a": 1}"#).id("c1");
    // No executor, no timer and no waker: whatever needed one would panic or stay pending.
    assert!(tokio::runtime::Handle::try_current().is_err());
    let mut settling = pin!(
        registry
            .snapshot()
            .settle(call, &Facts::new())
            .into_future()
    );
    let mut cx = TaskContext::from_waker(Waker::noop());
    let Poll::Ready(settled) = settling.as_mut().poll(&mut cx) else {
        panic!("the call waits");
    };
    assert_eq!(settled.structured(), Some(&json!({"a": 1})));
}
