use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::json;
use tool_core::Tool;

use crate::fixture::{Room, done, until};

/// A number of seconds that no other process sleeps, to find processes by.
fn marker() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("1{:07}.{number:04}", std::process::id())
}

/// How many processes with the marker in their arguments are alive.
fn alive(marker: &str) -> usize {
    std::fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter(|entry| {
            let arguments = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
            // A process that has ended and was not reaped has no arguments any more.
            arguments
                .split(|byte| *byte == 0)
                .any(|argument| argument == marker.as_bytes())
        })
        .count()
}

async fn gone(marker: &str) {
    until(&format!("sleep {marker} is gone"), || alive(marker) == 0).await;
}

/// Ways in which a line starts a process that goes on.
fn lines(marker: &str) -> Vec<String> {
    vec![
        format!("sleep {marker}"),
        format!("sleep {marker} & sleep {marker}"),
        format!("(sleep {marker} & sleep {marker} &) ; sleep {marker}"),
        format!("setsid sleep {marker} & sleep {marker}"),
        format!("setsid sh -c 'setsid sleep {marker} & sleep {marker}' & sleep {marker}"),
        format!("setsid -f sleep {marker}; sleep {marker}"),
        format!("env -i setsid sleep {marker} & sleep {marker}"),
        format!("nohup setsid sleep {marker} >/dev/null 2>&1 & sleep {marker}"),
        format!("trap '' TERM INT HUP; sleep {marker} & sleep {marker}"),
    ]
}

async fn started(tool: &Tool, line: &str, marker: &str) -> tokio::task::JoinHandle<()> {
    let expected = line.matches("sleep ").count();
    let tool = tool.clone();
    let input = json!({"command": line});
    let call = tokio::spawn(async move {
        done(&tool, input).await;
    });
    until(&format!("{line} runs"), || alive(marker) >= expected).await;
    call
}

#[tokio::test]
async fn a_dropped_call_leaves_no_process_behind() {
    let room = Room::new();
    let shell = room.tool("shell");
    for line in lines("MARKER") {
        let marker = marker();
        let line = line.replace("MARKER", &marker);
        let call = started(&shell, &line, &marker).await;
        call.abort();
        assert!(call.await.unwrap_err().is_cancelled());
        gone(&marker).await;
    }
}

#[test]
fn a_runtime_that_shuts_down_leaves_no_process_behind() {
    let marker = marker();
    let room = Room::new();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let line = format!("setsid sleep {marker} & sleep {marker}");
    let call = runtime.block_on(started(&room.tool("shell"), &line, &marker));
    drop(runtime);
    drop(call);
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(30);
    while alive(&marker) > 0 {
        assert!(std::time::Instant::now() < deadline);
        std::thread::yield_now();
    }
}

#[test]
fn a_call_that_is_dropped_outside_of_any_runtime_leaves_no_process_behind() {
    use futures_util::FutureExt as _;

    let marker = marker();
    let room = Room::new();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let shell = room.tool("shell");
    let line = format!("setsid sleep {marker} & sleep {marker}");
    let mut call = Box::pin(async move { done(&shell, json!({"command": line})).await });
    runtime.block_on(until("both run", || {
        let context = &mut std::task::Context::from_waker(std::task::Waker::noop());
        assert!(call.poll_unpin(context).is_pending());
        alive(&marker) >= 2
    }));
    drop(runtime);
    drop(call);
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(30);
    while alive(&marker) > 0 {
        assert!(std::time::Instant::now() < deadline);
        std::thread::yield_now();
    }
}

#[tokio::test]
async fn a_line_that_ends_takes_what_it_left_behind_along() {
    let room = Room::new();
    let shell = room.tool("shell");
    for line in [
        "sleep MARKER & echo done",
        "setsid -f sleep MARKER; echo done",
        "setsid sh -c 'sleep MARKER & sleep MARKER' & echo done",
        "nohup sleep MARKER >/dev/null 2>&1 & echo done",
        "(setsid sleep MARKER >/dev/null 2>&1 &) ; echo done",
    ] {
        let marker = marker();
        let ran = done(&shell, json!({"command": line.replace("MARKER", &marker)})).await;
        assert!(
            ran.texts()[0].contains("done\n"),
            "{line}: {:?}",
            ran.texts()
        );
        assert_eq!(ran.structured["exit_code"], 0, "{line}");
        assert_eq!(ran.structured["left_open"], false, "{line}");
        gone(&marker).await;
    }
}

#[tokio::test]
async fn a_line_whose_time_is_over_leaves_no_process_behind() {
    let room = Room::new();
    let shell = room.tool("shell");
    for line in [
        "sleep MARKER & sleep MARKER",
        "setsid sleep MARKER & sleep MARKER",
    ] {
        let marker = marker();
        let line = line.replace("MARKER", &marker);
        let ran = done(&shell, json!({"command": line, "timeout_ms": 100})).await;
        assert_eq!(ran.structured["timed_out"], true);
        gone(&marker).await;
    }
}

#[tokio::test]
async fn the_processes_of_another_call_live_on() {
    let room = Room::new();
    let shell = room.tool("shell");
    let (mine, other) = (marker(), marker());
    let running = started(
        &shell,
        &format!("setsid sleep {other} & sleep {other}"),
        &other,
    )
    .await;
    let ended = started(&shell, &format!("sleep {mine}"), &mine).await;
    ended.abort();
    let _ = ended.await;
    gone(&mine).await;
    assert_eq!(alive(&other), 2);
    running.abort();
    let _ = running.await;
    gone(&other).await;
}
