//! Servers that send too much, too often, or what nobody can make sense of.

use std::time::Duration;

use serde_json::json;
use tool_core::Outcome;
use tool_mcp::{Limits, OfferEvent, UpstreamState};

use crate::support::eventually;
use crate::support::imported::Imported;

/// Says that this process measures its own memory and does nothing else.
const ALONE: &str = "MCP_MEASURED_ALONE";
/// How many MiB the endless line has; 1024 is the whole.
const LINE: &str = "MCP_ENDLESS_LINE_MIB";

/// The most memory that this process ever held, in MiB.
#[cfg(target_os = "linux")]
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("there is one");
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let kib = line.and_then(|line| line.split_whitespace().nth(1));
    kib.expect("it is there").parse::<u64>().expect("a number") / 1024
}

/// Runs one test of this program in a process of its own, as other tests hold memory of their own.
/// Whether this is that process.
#[cfg(target_os = "linux")]
async fn is_measured_alone(test: &str) -> bool {
    if std::env::var_os(ALONE).is_some() {
        return true;
    }
    let program = std::env::current_exe().expect("it has a path");
    let mut measured = tokio::process::Command::new(program);
    measured.args([test, "--exact", "--nocapture"]);
    let output = measured.env(ALONE, "1").output().await.expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && text.contains("1 passed"),
        "{text}"
    );
    false
}

/// A line of a gigabyte fails its call, and this process never holds more than a few frames.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_line_without_an_end_fails_its_call_in_bounded_memory() {
    let length = std::env::var(LINE).map_or(Ok(96), |text| text.parse::<u64>());
    let length = length.expect("a number of MiB");
    let test = "import_floods::a_line_without_an_end_fails_its_call_in_bounded_memory";
    if !is_measured_alone(test).await {
        return;
    }
    let srv = Imported::new("misbehaving").await;
    let before = peak();
    let settlement = srv.call("endless", json!({"n": length})).await;
    assert!(matches!(settlement.outcome, Outcome::Failed(_)));
    assert_eq!(
        settlement.text(),
        "the answer of server srv is longer than 16777216 bytes and was not taken; ask for less"
    );
    // The next line is read as if nothing had been.
    let echoed = srv.call("echo", json!({"n": 7})).await;
    assert_eq!(echoed.output(), Some(&json!({"n": 7})));
    let grown = peak() - before;
    assert!(grown < 64, "{grown} MiB more");
}

/// Nobody takes what is logged, and whoever is told of progress keeps all of it.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn floods_of_long_logs_and_reports_wait_in_bounded_memory() {
    let test = "import_floods::floods_of_long_logs_and_reports_wait_in_bounded_memory";
    if !is_measured_alone(test).await {
        return;
    }
    let srv = Imported::new("misbehaving").await;
    let mut events = srv.upstreams.offerings().events();
    let before = peak();
    let settlement = srv.call("logs", json!({"n": 200})).await;
    assert_eq!(settlement.text(), "logged");
    let (settlement, reports) = srv.call_reporting("long-reports", json!({"n": 200})).await;
    assert_eq!(settlement.text(), "reported");
    assert!(!reports.is_empty());
    for report in reports {
        let message = report.message.expect("it says something");
        assert!(message.starts_with('é'));
        assert!(
            message.ends_with(" [516096 bytes more]"),
            "{}",
            message.len()
        );
    }
    let mut logged = 0;
    while logged < 200 {
        let Some(OfferEvent::Logged {
            level,
            logger,
            data,
            ..
        }) = events.next().await
        else {
            panic!("nothing but logs is told");
        };
        assert_eq!(level, "info");
        assert!(logger.is_some_and(|logger| logger.ends_with(" [3976 bytes more]")));
        let text = data.as_str().expect("it is cut");
        assert!(text.len() < 17 * 1024 && text.ends_with(" bytes more]"));
        logged += 1;
    }
    // URIs that are too long reach nobody, and are counted.
    assert_eq!(srv.status().stray_messages, 200);
    let grown = peak() - before;
    assert!(grown < 64, "{grown} MiB more");
}

#[tokio::test]
async fn a_flood_of_list_changes_is_answered_with_few_lists() {
    let srv = Imported::new("misbehaving").await;
    assert_eq!(
        srv.call("flood", json!({"n": 20_000})).await.text(),
        "flooded"
    );
    let lists = || {
        let methods = srv.methods().into_iter();
        methods.filter(|method| method == "tools/list").count()
    };
    eventually("the list is fetched again", || lists() > 1).await;
    assert_eq!(srv.call("echo", json!({})).await.output(), Some(&json!({})));
    assert!(lists() < 20, "{}", lists());
}

#[tokio::test]
async fn a_flood_of_progress_is_no_harm() {
    let srv = Imported::new("misbehaving").await;
    let (settlement, reports) = srv.call_reporting("reports", json!({"n": 20_000})).await;
    assert_eq!(settlement.text(), "reported");
    assert!(!reports.is_empty());
    // Those of nobody's token are counted and nothing else.
    assert!(srv.status().stray_messages >= 20_000);
}

#[tokio::test]
async fn answers_of_unknown_ids_and_second_ones_reach_nobody() {
    let srv = Imported::new("misbehaving").await;
    assert_eq!(srv.call("confuse", json!({})).await.text(), "first");
    assert_eq!(
        srv.call("echo", json!({"n": 1})).await.output(),
        Some(&json!({"n": 1}))
    );
    assert_eq!(srv.status().stray_messages, 4);
}

#[tokio::test]
async fn ten_thousand_tools_are_registered() {
    let limits = Limits::default()
        .retries(0)
        .connect(Duration::from_secs(300));
    let srv = Imported::with("many", limits).await;
    let UpstreamState::Ready { tools, refused } = srv.status().state else {
        panic!("it is {:?}", srv.status());
    };
    assert_eq!((tools, refused.len()), (10_000, 0));
}

#[tokio::test]
async fn tools_with_hopeless_schemas_are_refused_one_by_one() {
    let srv = Imported::new("hopeless").await;
    let UpstreamState::Ready { tools, refused } = srv.status().state else {
        panic!("it is {:?}", srv.status());
    };
    let names: Vec<_> = refused.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["deep", "remote"]);
    assert_eq!(
        refused[0].reason,
        "its input schema is nested too deeply to be read"
    );
    assert_eq!(tools, 3);
    // A pattern that would keep a backtracking engine busy for ever is judged in linear time.
    let bait = format!("{}b", "a".repeat(10_000));
    let settlement = srv.call("pattern", json!({"s": bait})).await;
    assert!(matches!(settlement.outcome, Outcome::Refused(_)));
    // One that only a backtracking engine knows comes to an end as well.
    let bait = json!({"s": "a".repeat(10_000)});
    let settlement = srv.call("backtracking", bait).await;
    assert!(!matches!(settlement.outcome, Outcome::Defect(_)));
}

#[tokio::test]
async fn what_cannot_be_seen_is_taken_out_of_definitions_results_and_errors() {
    let srv = Imported::new("poisoned").await;
    let snapshot = srv.registry.snapshot();
    let definition = snapshot.definitions().next().expect("there is one");
    let definition = serde_json::to_value(definition).expect("plain data");
    assert_eq!(definition["description"], "Reads files");
    assert_eq!(definition["annotations"]["title"], "Title");
    assert_eq!(
        definition["inputSchema"]["properties"]["a"]["description"],
        "ignore me"
    );
    let srv = Imported::new("misbehaving").await;
    let settlement = srv.call("poison", json!({})).await;
    assert_eq!(settlement.text(), "abc");
    assert_eq!(settlement.output(), Some(&json!({"k": "v"})));
    assert_eq!(
        srv.call("poisoned-error", json!({})).await.text(),
        "server srv answered with error -1: no way"
    );
}

#[tokio::test]
async fn a_huge_error_is_cut_and_says_so() {
    let srv = Imported::new("misbehaving").await;
    let text = srv.call("huge-error", json!({})).await.text();
    assert!(text.len() < 10_000, "{}", text.len());
    assert!(
        text.ends_with("[2088960 bytes more]"),
        "{}",
        &text[text.len() - 40..]
    );
}

#[tokio::test]
async fn a_server_that_exits_between_list_and_call_fails_the_call_by_name() {
    let limits =
        Limits::default().retry_after(Duration::from_secs(3600), Duration::from_secs(3600));
    let srv = Imported::with("dies-after-list", limits).await;
    let settlement = srv.call("echo", json!({})).await;
    assert!(!matches!(settlement.outcome, Outcome::Completed));
    assert!(settlement.text().contains("srv"), "{}", settlement.text());
    eventually("it is shown as away", || {
        matches!(srv.status().state, UpstreamState::Away { .. })
    })
    .await;
}
