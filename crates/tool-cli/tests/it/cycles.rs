//! Clients that come and go, again and again.

use serde_json::json;

use crate::deadline::until;
use crate::echo_server;
use crate::held_by::Held;
use crate::http_client::HttpClient;
use crate::killed::processes;
use crate::marked::{Mark, is_alive};
use crate::serving::Serving;
use crate::stdio_client::StdioClient;
use crate::workbench::{OPEN, Workbench};

/// How often clients come and go: over standard streams each time with a gateway of its own, over
/// HTTP at one that stays.
const CYCLES: usize = 200;
const WARM_UP: usize = 40;
/// Memory that may be held beyond what was held after the first of them.
const GROWTH: u64 = 6 * 1024 * 1024;

#[test]
fn clients_that_come_and_go_over_http_leave_no_process_and_nothing_open() {
    let (bench, mark) = (Workbench::new(), Mark::new());
    let mut server = echo_server::entry("echo");
    server["env"][Mark::VARIABLE] = mark.value().into();
    bench.file(
        "mcp.json",
        &json!({"mcpServers": {"echo": server}}).to_string(),
    );
    bench.file(
        "rules.toml",
        &format!("{OPEN}[[rule]]\neffect = \"allow\"\naction = \"call\"\nresource = \"echo/*\"\n"),
    );
    let serve = [
        "serve",
        "--mcp-config",
        "mcp.json",
        "--policy",
        "rules.toml",
    ];
    let mut serving = Serving::start(bench.tool(&serve));
    let gateway = processes(serving.pid())[2];
    // Shells and their processes come and go with some of the calls.
    let line = format!("export {}={}; sleep 600", Mark::VARIABLE, mark.value());
    let shell = json!({"command": line});
    let cycles = |count: usize| {
        for cycle in 0..count {
            let mut client = HttpClient::new(serving.url());
            client.shake_hands();
            let echoed = client.call("echo__echo", json!({"client": 1, "n": cycle}));
            let body = echoed.answer().rest();
            assert!(body.contains("echo heard "), "{body}");
            match cycle % 4 {
                // In the middle of a call: by an end of the session, or just gone.
                0 => {
                    let _sent = client.call("echo__hold", json!({}));
                    assert!(client.end_session().answer().status < 300);
                }
                1 => drop(client.stateless_call("echo__hold", json!({}))),
                2 => drop(client.stateless_call("shell", shell.clone())),
                _ => {}
            }
            if cycle % 4 != 0 {
                assert!(client.end_session().answer().status < 300);
            }
        }
        until("the end of all but the server", || {
            (mark.alive() == 1).then_some(())
        });
    };
    cycles(WARM_UP);
    let before = Held::by(gateway);
    cycles(CYCLES);
    let after = until("what was opened for clients is closed", || {
        let now = Held::by(gateway);
        let fewer = now.descriptors <= before.descriptors && now.threads <= before.threads;
        fewer.then_some(now)
    });
    let grown = after.memory.saturating_sub(before.memory);
    assert!(grown < GROWTH, "{before:?}, then {after:?}");

    let all = processes(serving.pid());
    crate::leaving::signal("INT", &[serving.pid().to_string()]);
    assert!(serving.ended().success());
    mark.assert_gone();
    assert!(!all.into_iter().any(is_alive));
}

#[test]
fn clients_that_come_and_go_over_stdio_leave_no_process() {
    let (bench, mark) = (Workbench::new(), Mark::new());
    let mut server = echo_server::entry("echo");
    server["env"][Mark::VARIABLE] = mark.value().into();
    bench.file(
        "mcp.json",
        &json!({"mcpServers": {"echo": server}}).to_string(),
    );
    for cycle in 0..CYCLES {
        let serve = ["serve", "--mcp-config", "mcp.json"];
        let mut client = StdioClient::start(bench.open(&serve));
        let listed = client.request("tools/list", json!({}));
        assert!(listed["tools"].is_array(), "{listed}");
        if cycle % 2 == 0 {
            client.close_stdin();
            assert!(client.ended().success());
        } else {
            // Without a word.
            drop(client);
        }
        mark.assert_gone();
    }
}
