//! Whoever leaves, and however: nothing that a call started goes on.

use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};

use serde_json::json;

use crate::deadline::until;
use crate::http_client::HttpClient;
use crate::invocation::{Invocation, wait};
use crate::marked::Mark;
use crate::peers::{Peers, Sdk, stdio};
use crate::serving::Serving;
use crate::stdio_client::StdioClient;
use crate::workbench::Workbench;

/// The processes that [`Mark::line`] leaves: three that sleep at least, beside the shells.
const LEAST: usize = 3;

#[track_caller]
fn wait_until_started(bench: &Workbench, mark: &Mark) {
    until("the start of the shell's call", || {
        bench.has("started").then_some(())
    });
    mark.wait_for(LEAST);
}

#[track_caller]
pub(crate) fn signal(name: &str, to: &[String]) {
    let sent = Command::new("kill")
        .arg(format!("-{name}"))
        .args(to)
        .status();
    assert!(sent.unwrap().success());
}

/// A client in the middle of a call that does not end by itself.
#[track_caller]
pub(crate) fn in_a_call(bench: &Workbench, mark: &Mark) -> (StdioClient, u64) {
    let mut client = StdioClient::start(bench.open(&["serve"]));
    let arguments = json!({"command": mark.line()});
    let id = client.send(
        "tools/call",
        json!({"name": "shell", "arguments": arguments}),
    );
    wait_until_started(bench, mark);
    (client, id)
}

#[test]
fn a_cancelled_call_leaves_no_process_and_the_server_goes_on() {
    let (bench, mark) = (Workbench::with_a_repository(), Mark::new());
    let (mut client, id) = in_a_call(&bench, &mark);
    client.notify("notifications/cancelled", json!({"requestId": id}));
    mark.assert_gone();
    let found = client.call("grep", json!({"pattern": "fn main"}));
    assert_eq!(found["isError"], false, "{found}");
}

#[test]
fn a_server_whose_stdin_closes_ends_and_leaves_no_process() {
    let (bench, mark) = (Workbench::new(), Mark::new());
    let (mut client, _) = in_a_call(&bench, &mark);
    client.close_stdin();
    assert!(client.ended().success());
    mark.assert_gone();
}

#[test]
fn a_server_that_is_told_to_end_leaves_no_process() {
    for name in ["TERM", "INT", "HUP"] {
        let (bench, mark) = (Workbench::new(), Mark::new());
        let (mut client, _) = in_a_call(&bench, &mark);
        signal(name, &[client.pid().to_string()]);
        assert!(client.ended().success(), "SIG{name}");
        mark.assert_gone();
    }
}

#[test]
fn a_server_over_http_that_is_told_to_end_leaves_no_process() {
    let (bench, mark) = (Workbench::new(), Mark::new());
    let mut serving = Serving::start(bench.open(&["serve"]));
    let mut client = HttpClient::new(serving.url());
    client.shake_hands();
    let _sent = client.call("shell", json!({"command": mark.line()}));
    wait_until_started(&bench, &mark);
    signal("TERM", &[serving.pid().to_string()]);
    assert!(serving.ended().success());
    mark.assert_gone();
}

#[test]
fn a_session_that_is_ended_over_http_leaves_no_process() {
    let (bench, mark) = (Workbench::new(), Mark::new());
    let serving = Serving::start(bench.open(&["serve"]));
    let mut client = HttpClient::new(serving.url());
    client.shake_hands();
    let _sent = client.call("shell", json!({"command": mark.line()}));
    wait_until_started(&bench, &mark);
    assert!(client.end_session().answer().status < 300);
    mark.assert_gone();
}

#[test]
fn a_stateless_client_that_disconnects_leaves_no_process() {
    let (bench, mark) = (Workbench::new(), Mark::new());
    let serving = Serving::start(bench.open(&["serve"]));
    let client = HttpClient::new(serving.url());
    let sent = client.stateless_call("shell", json!({"command": mark.line()}));
    wait_until_started(&bench, &mark);
    drop(sent);
    mark.assert_gone();
}

#[test]
fn a_command_line_call_that_is_told_to_end_leaves_no_process() {
    for (name, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        let (bench, mark) = (Workbench::new(), Mark::new());
        let arguments = json!({"command": mark.line()}).to_string();
        let mut call = bench.open(&["call", "shell", &arguments]).into_command();
        let mut child = call.stderr(Stdio::null()).spawn().unwrap();
        wait_until_started(&bench, &mark);
        signal(name, &[child.id().to_string()]);
        assert_eq!(wait(&mut child).unwrap().code(), Some(code), "SIG{name}");
        mark.assert_gone();
    }
}

#[test]
fn a_call_that_takes_too_long_leaves_no_process() {
    let (bench, mark) = (Workbench::new(), Mark::new());
    let arguments = json!({"command": mark.line()}).to_string();
    let call = bench.open(&["call", "shell", &arguments, "--timeout", "3"]);
    call.end().with_code(1).says(&["timed_out: shell: "]);
    mark.assert_gone();
}

/// `tool serve` with a server that is this line for the shell.
#[track_caller]
pub(crate) fn serve_with(bench: &Workbench, mark: &Mark, line: &str) -> Child {
    let servers = json!({"mcpServers": {"sleeper": {
        "command": "bash",
        "args": ["-c", line],
        "env": {(Mark::VARIABLE): mark.value()},
    }}});
    bench.file("mcp.json", &servers.to_string());
    let serve = bench.tool(&["serve", "--mcp-config", "mcp.json"]);
    let mut command = serve.into_command();
    let command = command.process_group(0).stdin(Stdio::piped());
    let child = command.spawn().unwrap();
    wait_until_started(bench, mark);
    child
}

/// One whose processes sleep in its group, in sessions of their own and without a parent, all of
/// which have started.
#[track_caller]
pub(crate) fn sleepers(bench: &Workbench, mark: &Mark) -> Child {
    let line = "sleep 600 & setsid sleep 600 & (setsid sleep 600 &); touch root/started; \
                cat > /dev/null; sleep 600; true";
    let child = serve_with(bench, mark, line);
    mark.wait_for(LEAST + 2);
    child
}

#[test]
fn imported_servers_end_with_the_gateway() {
    for (name, how) in [("stdin", None), ("TERM", Some("TERM"))] {
        let (bench, mark) = (Workbench::new(), Mark::new());
        let mut child = sleepers(&bench, &mark);
        match how {
            Some(signal_name) => signal(signal_name, &[child.id().to_string()]),
            None => drop(child.stdin.take()),
        }
        assert!(wait(&mut child).is_some(), "{name}");
        mark.assert_gone();
    }
}

#[test]
fn an_sdk_client_that_cancels_or_vanishes_leaves_no_process() {
    let test = "an_sdk_client_that_cancels_or_vanishes_leaves_no_process";
    let mut sdks = Vec::new();
    let (node, python) = (Peers::node(test), Peers::python(test));
    if node.is_some() {
        sdks.push(Sdk::TypeScript);
    }
    if python.is_some() {
        sdks.extend([Sdk::Python, Sdk::PythonLegacy]);
    }
    let Some(peers) = node.or(python) else { return };
    for sdk in sdks {
        cancels(&peers, sdk);
        vanishes(&peers, sdk);
    }
}

#[track_caller]
fn cancels(peers: &Peers, sdk: Sdk) {
    let (bench, mark) = (Workbench::new(), Mark::new());
    let serving = Serving::start(bench.open(&["serve"]));
    let started = bench.root().join("started");
    let steps = json!([
        {"do": "cancel", "name": "shell", "arguments": {"command": mark.line()}, "when": started},
        {"do": "list"},
    ]);
    let results = peers.over_stdio(&bench, sdk, bench.open(&["serve"]), steps.clone());
    assert_eq!(results[0]["cancelled"], true, "{sdk:?}");
    mark.assert_gone();

    std::fs::remove_file(&started).unwrap();
    let results = peers.over_http(&bench, sdk, serving.url(), steps);
    assert_eq!(results[0]["cancelled"], true, "{sdk:?}");
    mark.assert_gone();
}

/// Over stdio the server has nobody left; over HTTP only a client without a session is missed.
#[track_caller]
fn vanishes(peers: &Peers, sdk: Sdk) {
    let (bench, mark) = (Workbench::new(), Mark::new());
    let started = bench.root().join("started");
    let steps = json!([
        {"do": "vanish", "name": "shell", "arguments": {"command": mark.line()}, "when": started},
    ]);
    let client: Invocation = peers.client(&bench, sdk, &stdio(bench.open(&["serve"])), steps);
    let ended = client.end();
    assert!(!ended.status.success(), "{sdk:?}: {ended:?}");
    mark.assert_gone();
}
