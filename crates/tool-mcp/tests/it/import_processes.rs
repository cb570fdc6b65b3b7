//! Processes of servers.

use std::path::Path;
#[cfg(target_os = "linux")]
use std::time::Duration;

use serde_json::{Value, json};
use tool_core::{Call, Facts};
use tool_mcp::{Limits, ServersConfig, UpstreamState, Upstreams};

use crate::support::eventually;
use crate::support::imported::{Imported, server};
use crate::support::registry::permissive;

/// Whether a process is there and is no mere remainder that nobody has collected.
fn is_alive(pid: u64) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else {
        return false;
    };
    let state = stat
        .rsplit_once(')')
        .and_then(|(_, rest)| rest.trim().chars().next());
    !matches!(state, Some('Z' | 'X') | None)
}

async fn pid(srv: &Imported) -> u64 {
    let seen = srv
        .call("environment", json!({}))
        .await
        .output
        .expect("it answers")
        .into_value();
    seen["pid"].as_u64().expect("it is a number")
}

async fn grandchild(srv: &Imported) -> u64 {
    let text = srv.call("spawn", json!({})).await.text();
    text.parse().expect("it is a number")
}

#[tokio::test]
async fn a_server_sees_its_own_environment_and_folder_and_no_more() {
    let srv = Imported::new("ordinary").await;
    let seen = srv
        .call("environment", json!({}))
        .await
        .output
        .expect("it answers")
        .into_value();
    let variables: Vec<_> = seen["env"]
        .as_object()
        .expect("it lists them")
        .keys()
        .map(String::as_str)
        .collect();
    // Cargo puts dozens of its own into the environment of a test.
    let expected = |name: &str| {
        name.starts_with("LC_")
            || name.starts_with("XDG_")
            || name.starts_with("MCP_FIXTURE")
            // By which what it starts is found again.
            || name == "TOOL_CALL_MARK"
            || [
                "HOME", "LANG", "LANGUAGE", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ",
                "USER",
            ]
            .contains(&name)
    };
    let others: Vec<_> = variables.iter().filter(|name| !expected(name)).collect();
    assert!(others.is_empty(), "{others:?}");
    assert!(variables.contains(&"PATH") && variables.contains(&"MCP_FIXTURE"));
    let cwd = seen["cwd"].as_str().expect("it is text");
    let base = srv.folder().canonicalize().expect("it exists");
    assert_eq!(Path::new(cwd), base);
}

#[tokio::test]
async fn dropping_the_upstreams_leaves_no_descendant() {
    let srv = Imported::new("ordinary").await;
    let (server, child) = (pid(&srv).await, grandchild(&srv).await);
    assert!(is_alive(server) && is_alive(child));
    drop(srv);
    eventually("both are gone", || !is_alive(server) && !is_alive(child)).await;
}

#[tokio::test]
async fn shutting_down_leaves_no_descendant() {
    let srv = Imported::new("ordinary").await;
    let (server, child) = (pid(&srv).await, grandchild(&srv).await);
    let Imported {
        upstreams,
        registry,
        ..
    } = srv;
    upstreams.shutdown().await;
    assert!(!is_alive(server));
    eventually("the grandchild is gone", || !is_alive(child)).await;
    assert_eq!(registry.snapshot().entries().count(), 0);
}

#[tokio::test]
async fn what_a_dead_server_left_behind_is_gone_too() {
    let srv = Imported::new("ordinary").await;
    let child = grandchild(&srv).await;
    srv.call("die", json!({})).await;
    eventually("the grandchild is gone", || !is_alive(child)).await;
}

/// The session of a process: not that of its server once it has left it.
#[cfg(target_os = "linux")]
fn session(pid: u64) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(3)?.parse().ok()
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn what_a_server_started_apart_ends_with_it_before_it_is_there_again() {
    let soon = Duration::from_millis(1);
    let srv = Imported::with("ordinary", Limits::default().retry_after(soon, soon)).await;
    let apart = async || {
        let text = srv.call("spawn", json!({"apart": true})).await.text();
        let child: u64 = text.parse().expect("it is a number");
        eventually("it has a session of its own", || {
            session(child) == Some(child)
        })
        .await;
        child
    };
    let child = apart().await;
    srv.call("die", json!({})).await;
    eventually("it is there again", || {
        srv.status().connects == 2 && srv.status().state.as_str() == "ready"
    })
    .await;
    assert!(!is_alive(child));

    let children = [apart().await, apart().await];
    drop(srv);
    eventually("they are gone", || {
        !children.iter().any(|child| is_alive(*child))
    })
    .await;
}

#[tokio::test]
async fn a_server_that_does_not_end_by_itself_is_ended() {
    let limits = Limits::default().shutdown(std::time::Duration::from_millis(100));
    let srv = Imported::with("stubborn", limits).await;
    let server = pid(&srv).await;
    srv.upstreams.shutdown().await;
    // It is killed by then; how fast the system sees to it is not ours.
    eventually("the server is gone", || !is_alive(server)).await;
}

#[tokio::test]
async fn a_call_in_flight_ends_with_the_shutdown() {
    let srv = Imported::new("ordinary").await;
    let call = Call::new("srv__wait", json!({}));
    let calling = tokio::spawn(
        srv.registry
            .snapshot()
            .settle(call, &Facts::new())
            .into_future(),
    );
    eventually("the server is called", || srv.was_called("wait")).await;
    srv.upstreams.shutdown().await;
    let settlement = calling.await.expect("no panic");
    assert!(settlement.text().contains("is not available"));
}

#[tokio::test(start_paused = true)]
async fn a_server_that_never_got_ready_is_gone() {
    let srv = Imported::new("silent").await;
    assert!(matches!(srv.status().state, UpstreamState::Failed { .. }));
    let name = std::env::current_exe().expect("it has a path");
    let folder = srv.folder().canonicalize().expect("it exists");
    // Nobody who runs in the folder of this test is left.
    eventually("the server is gone", || {
        let processes = std::fs::read_dir("/proc").expect("there is one");
        !processes.filter_map(Result::ok).any(|process| {
            let at = |link: &str| std::fs::read_link(process.path().join(link)).ok();
            at("cwd").as_deref() == Some(&*folder) && at("exe").as_deref() == Some(&*name)
        })
    })
    .await;
}

#[tokio::test]
async fn a_server_inherits_nothing_that_is_open_here() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let path = folder.path().join("canary");
    let _canary = std::fs::File::create(&path).expect("it can be made");
    let srv = Imported::new("ordinary").await;
    let seen = srv
        .call("environment", json!({}))
        .await
        .output
        .map(Value::from);
    let open = &seen.expect("it answers")["open"];
    assert!(
        open.as_array().is_some_and(|open| open.len() >= 3),
        "{open}"
    );
    assert!(!open.to_string().contains("canary"), "{open}");
}

#[tokio::test]
async fn what_stands_before_a_command_is_what_runs_it() {
    let config = server("srv", "ordinary").prefix(["env", "PREFIXED=by the test"]);
    assert_eq!(config.words().next(), Some("env"));
    let registry = permissive().build();
    let upstreams = Upstreams::builder(ServersConfig::default().with(config)).connect(&registry);
    upstreams.settled().await;
    let call = Call::new("srv__environment", json!({}));
    let settlement = registry.snapshot().settle(call, &Facts::new()).await;
    let seen = settlement.output.expect("it answers").into_value();
    assert_eq!(seen["env"]["PREFIXED"], "by the test");
    upstreams.shutdown().await;
}

#[tokio::test]
async fn servers_that_do_not_end_by_themselves_are_ended_together_in_the_time_of_one() {
    let names = ["a", "b", "c", "d", "e", "f"];
    let config = names.iter().fold(ServersConfig::default(), |config, name| {
        config.with(server(name, "stubborn"))
    });
    let registry = permissive().build();
    let upstreams = Upstreams::builder(config).connect(&registry);
    upstreams.settled().await;
    assert!(names.iter().all(|name| {
        let tool = format!("{name}__echo");
        registry.snapshot().get(&tool).is_some()
    }));
    tokio::time::pause();
    let started = tokio::time::Instant::now();
    upstreams.shutdown().await;
    let elapsed = started.elapsed();
    // The clock counts whole milliseconds; six one after the other would take thirty seconds.
    assert!(elapsed < std::time::Duration::from_secs(6), "{elapsed:?}");
}
