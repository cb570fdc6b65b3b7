use std::future::pending;
use std::sync::Arc;

use serde_json::json;
use tool_core::{
    Bound, Bounded, BoxFuture, CallHost, CallState, Context, Facts, HandlerErrorKind, Loss,
    OutputSink, StoreError,
};

use crate::fixture::Room;

/// The host of a call, with a store that hangs.
struct Host {
    facts: Facts,
    state: CallState,
}

impl CallHost for Host {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn state(&self) -> &CallState {
        &self.state
    }

    fn output_bound(&self) -> Option<Bound> {
        Bound::new(2_048, 100).ok()
    }

    fn stream_output(&self, _: Bound) -> Result<Option<Box<dyn OutputSink>>, StoreError> {
        Ok(Some(Box::new(Sink)))
    }
}

struct Sink;

impl OutputSink for Sink {
    fn write<'a>(&'a mut self, _: &'a str) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async {
            // From now on nothing else happens, and what is waited for comes at once.
            tokio::time::pause();
            pending().await
        })
    }

    fn report_loss(&mut self, _: Loss) {}

    fn finish(self: Box<Self>) -> BoxFuture<'static, Result<Bounded, StoreError>> {
        Box::pin(pending())
    }
}

#[tokio::test]
async fn a_store_that_hangs_does_not_hang_the_command() {
    let room = Room::new();
    let host = Host {
        facts: Facts::new().session("s1"),
        state: CallState::default(),
    };
    let input = json!({"command": "head -c 5000 /dev/zero | tr '\\0' x; exec sleep 1000"});
    let shell = room.tool("shell");
    let prepared = shell.executor().prepare(&input).unwrap();
    let mut running = prepared.run(Context::of(Arc::new(host)));
    let error = running.as_mut().await.unwrap_err();
    let HandlerErrorKind::Defect(cause) = error.into_kind() else {
        panic!("a store that hangs is a defect");
    };
    assert!(cause.to_string().contains("in time"), "{cause}");
}
