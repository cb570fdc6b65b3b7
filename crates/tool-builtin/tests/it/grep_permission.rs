use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use tool_core::{Decision, Resource};

use crate::fixture::{Room, control, done, until};

#[tokio::test]
async fn policy_is_asked_to_read_the_folder_and_rules_on_files_with_matches() {
    let room = Room::new();
    room.put("src/a.txt", "needle\nneedle\n");
    room.put("src/b.txt", "nothing\n");
    done(
        &room.tool("grep"),
        json!({"pattern": "needle", "path": "src"}),
    )
    .await;
    let root = room.workspace.root();
    let asked = room.policy.asked();
    let resources: Vec<_> = asked
        .iter()
        .flat_map(|asked| asked.resources.clone())
        .collect();
    assert_eq!(
        resources,
        [
            Resource::path(root, "src"),
            Resource::path(root, "src"),
            Resource::path(root, "src/a.txt")
        ]
    );
    assert!(asked.iter().all(|asked| asked.action == "read"));
    assert_eq!(json!(asked[1].metadata), json!({"pattern": "needle"}));
}

fn about(request: &tool_core::Request<'_>, name: &str) -> bool {
    request
        .resources
        .iter()
        .any(|resource| resource.to_string().ends_with(name))
}

#[tokio::test]
async fn a_file_that_policy_keeps_back_stays_out_and_that_is_said() {
    for kept_back in [Decision::Deny, Decision::Ask] {
        let room = Room::ruled(move |request| {
            if about(request, ".env") {
                kept_back
            } else {
                Decision::Allow
            }
        });
        room.put(".env", "needle=canary\n");
        room.put("a.txt", "needle\n");
        let found = done(&room.tool("grep"), json!({"pattern": "needle"})).await;
        assert_eq!(
            found.texts(),
            [
                "a.txt:1:needle",
                "[permission keeps back the matches in 1 files]"
            ]
        );
        assert_eq!(found.structured["withheld"], 1);
    }
}

#[tokio::test]
async fn who_grants_a_folder_grants_its_files_but_for_those_denied() {
    struct Yes;
    impl tool_core::Approver for Yes {
        fn ask<'a>(
            &'a self,
            _ask: tool_core::Ask<'a>,
        ) -> tool_core::BoxFuture<'a, Result<tool_core::Word, tool_core::ApproverError>> {
            Box::pin(async { Ok(tool_core::Answer::Approved.into()) })
        }
    }
    let room = Room::ruled(|request| {
        if about(request, ".env") {
            Decision::Deny
        } else {
            Decision::Ask
        }
    });
    room.put(".env", "needle=canary\n");
    room.put("a.txt", "needle\n");
    let permission = tool_core::Permission::new(Arc::clone(&room.policy), Yes);
    let grep = tool_builtin::grep(&room.workspace, permission);
    let found = done(&grep, json!({"pattern": "needle"})).await;
    assert_eq!(found.texts()[0], "a.txt:1:needle");
    assert_eq!(found.structured["withheld"], 1);
}

/// A search of a thousand files whose policy tells of every file, and holds the first until told.
struct Held {
    room: Arc<Room>,
    judged: Arc<AtomicUsize>,
    go_on: std::sync::mpsc::Sender<()>,
}

fn held() -> Held {
    let judged = Arc::new(AtomicUsize::new(0));
    let (go_on, wait) = std::sync::mpsc::channel::<()>();
    let wait = std::sync::Mutex::new(wait);
    let count = Arc::clone(&judged);
    let room = Room::ruled(move |request| {
        if about(request, ".txt") && count.fetch_add(1, Ordering::SeqCst) == 0 {
            wait.lock().unwrap().recv().unwrap();
        }
        Decision::Allow
    });
    for n in 0..1_000 {
        room.put(&format!("{n}.txt"), "needle\n");
    }
    Held {
        room: Arc::new(room),
        judged,
        go_on,
    }
}

#[tokio::test]
async fn a_dropped_search_stops_at_the_next_file() {
    let Held {
        room,
        judged,
        go_on,
    } = held();
    let grep = room.tool("grep");
    let call = tokio::spawn(async move {
        done(&grep, json!({"pattern": "needle", "limit": 1000})).await;
    });
    until("the first file is judged", || {
        judged.load(Ordering::SeqCst) == 1
    })
    .await;
    call.abort();
    assert!(call.await.unwrap_err().is_cancelled());
    go_on.send(()).unwrap();
    // Whoever still searches holds the policy.
    let policy = Arc::downgrade(&room.policy);
    drop(room);
    until("the search ends", || policy.strong_count() == 0).await;
    assert_eq!(judged.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_cancelled_search_stops_at_the_next_file_too() {
    let Held {
        room,
        judged,
        go_on,
    } = held();
    let grep = room.tool("grep");
    let control = control(None);
    let context = control.context();
    let input = json!({"pattern": "needle", "limit": 1000});
    let call = tokio::spawn(async move {
        let prepared = grep.executor().prepare(&input).unwrap();
        prepared.run(context).await
    });
    until("the first file is judged", || {
        judged.load(Ordering::SeqCst) == 1
    })
    .await;
    drop(control);
    go_on.send(()).unwrap();
    // What it found until then goes nowhere; that it ends is what counts.
    let _ = call.await.unwrap();
    assert_eq!(judged.load(Ordering::SeqCst), 1);
}
