//! Servers that misbehave.

use serde_json::json;
use tool_core::{Namespace, Outcome};
use tool_mcp::{Limits, ServerConfig, ServersConfig, UpstreamState, Upstreams};
use tool_registry::Registry;

use crate::support::eventually;
use crate::support::imported::{Imported, server};

#[tokio::test]
async fn lines_that_are_no_messages_are_skipped_and_counted() {
    let srv = Imported::new("noisy").await;
    let before = srv.status().skipped_lines;
    // Three of the server, one of the test harness that it runs in; blank ones do not count.
    assert_eq!(before, 4);
    assert_eq!(srv.call("noise", json!({})).await.text(), "heard");
    assert_eq!(srv.status().skipped_lines, before + 5);
}

#[tokio::test]
async fn stderr_is_drained_and_its_end_is_kept() {
    let srv = Imported::new("ordinary").await;
    let settlement = srv.call("loud", json!({"n": 256 * 1024})).await;
    assert_eq!(settlement.text(), "said");
    eventually("the end is kept", || {
        srv.status().stderr.ends_with("the end")
    })
    .await;
    assert_eq!(srv.status().stderr.len(), 64 * 1024);
}

#[tokio::test]
async fn an_answer_that_is_too_long_fails_its_call_alone() {
    let srv = Imported::with(
        "ordinary",
        Limits::default().retries(0).frame_bytes(64 * 1024),
    )
    .await;
    let settlement = srv.call("huge", json!({"n": 1_000_000})).await;
    assert!(matches!(settlement.outcome, Outcome::Failed(_)));
    assert!(settlement.text().contains("longer than 65536 bytes"));
    let settlement = srv.call("huge", json!({"n": 60_000})).await;
    assert_eq!(settlement.text().len(), 60_000);
}

#[tokio::test]
async fn an_answer_of_the_default_limit_passes_and_one_above_it_does_not_hang() {
    let srv = Imported::new("ordinary").await;
    let settlement = srv.call("huge", json!({"n": 16 * 1024 * 1024 - 200})).await;
    assert_eq!(settlement.text().len(), 16 * 1024 * 1024 - 200);
    let settlement = srv.call("huge", json!({"n": 16 * 1024 * 1024})).await;
    assert!(settlement.text().contains("longer than 16777216 bytes"));
}

#[tokio::test]
async fn an_answer_that_is_nested_too_deeply_fails_its_call() {
    let srv = Imported::new("ordinary").await;
    let settlement = srv.call("deep", json!({})).await;
    assert_eq!(settlement.text(), "the answer of server srv cannot be read");
}

#[tokio::test]
async fn a_server_that_dies_fails_the_call_and_takes_its_tools_with_it() {
    let srv = Imported::new("ordinary").await;
    let snapshot = srv.registry.snapshot();
    let settlement = srv.call("die", json!({})).await;
    assert!(matches!(settlement.outcome, Outcome::Failed(_)));
    assert_eq!(
        settlement.text(),
        "server srv is not available; the call may have run in part"
    );
    eventually("the server is shown as failed", || {
        srv.status().state
            == UpstreamState::Failed {
                reason: "exited with status 3".to_owned(),
            }
    })
    .await;
    assert_eq!(srv.registry.snapshot().entries().count(), 0);

    // A request that still sees the tool gets the same answer.
    let call = tool_core::Call::new("srv__echo", json!({}));
    let settlement = snapshot.settle(call, &tool_core::Facts::new()).await;
    assert!(settlement.text().contains("is not available"));
}

#[tokio::test]
async fn a_server_that_exits_at_once_says_how_and_what_it_wrote() {
    let srv = Imported::new("exits").await;
    assert_eq!(srv.reason(), "exited with status 4 before it was ready");
    eventually("its last words are kept", || {
        srv.status().stderr.contains("cannot find my database")
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_server_that_never_answers_fails_in_time() {
    let srv = Imported::new("silent").await;
    assert_eq!(srv.reason(), "was not ready within 30 s");
}

#[tokio::test]
async fn servers_that_fail_or_hang_leave_the_others_alone() {
    let missing = |name: &str| {
        ServerConfig::new(
            Namespace::new(name).expect("legal"),
            "/nowhere/no-such-command",
        )
    };
    let config = ServersConfig::default()
        .with(missing("absent"))
        .with(server("good", "ordinary"))
        .with(server("hanging", "silent"))
        .with(server("lost", "ordinary").cwd("no-such-folder"));
    let registry = Registry::default();
    let mut upstreams = Upstreams::builder(config).connect(&registry);
    loop {
        let states: Vec<_> = upstreams
            .statuses()
            .into_iter()
            .map(|status| status.state)
            .collect();
        let [absent, good, hanging, lost] = states.as_slice() else {
            panic!("{} servers", states.len());
        };
        assert_eq!(*hanging, UpstreamState::Connecting);
        if let (
            UpstreamState::Failed { reason: absent },
            UpstreamState::Ready { .. },
            UpstreamState::Failed { reason: lost },
        ) = (absent, good, lost)
        {
            assert!(absent.contains("there is no command \"/nowhere/no-such-command\""));
            assert!(lost.contains("there is no folder \"no-such-folder\""));
            break;
        }
        upstreams.changed().await;
    }
    assert!(registry.snapshot().get("good__echo").is_some());
}
