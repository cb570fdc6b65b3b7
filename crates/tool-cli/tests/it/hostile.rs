//! A server that does what no server should, behind a gateway with another one that behaves.

use std::fs;
use std::io::Write as _;

use serde_json::{Value, json};

use crate::echo_server::{self, answer, say};
use crate::killed::processes;
use crate::stdio_client::StdioClient;
use crate::workbench::Workbench;

/// What the server can be told to do, by the names of its tools.
pub(crate) const WAYS: [&str; 10] = [
    "endless_line",
    "list_changes",
    "progress",
    "strange_ids",
    "huge_error",
    "noise",
    "full_stderr",
    "second_answer",
    "log_flood",
    "long_progress",
];
/// The length of the line without an end, in MiB, unless said otherwise; 1024 is the whole.
const LINE: usize = 64;
/// How many messages of a MiB a server sends that nobody waits for.
const MANY: usize = 200;
/// Says how long it is.
const LENGTH: &str = "MCP_ENDLESS_LINE_MIB";
/// The most memory that the gateway may ever hold beyond what it began with: a few of its longest
/// messages.
const MOST: u64 = 96 * 1024 * 1024;

/// Does what the name of the tool says, as far as it is one of these.
pub(crate) fn misbehave(tool: &str, id: &Value, token: &Value) -> bool {
    let done = || {
        let content = json!([{"type": "text", "text": "done"}]);
        say(&answer(id, json!({"content": content})));
    };
    match tool {
        "endless_line" => {
            let mut stdout = std::io::stdout().lock();
            let _ = write!(stdout, r#"{{"jsonrpc":"2.0","id":{id},"result":{{"x":""#);
            let piece = vec![b'x'; 1024 * 1024];
            for _ in 0..length() {
                let _ = stdout.write_all(&piece);
            }
            let _ = stdout.write_all(b"\"}}\n");
        }
        "list_changes" => {
            for _ in 0..5_000 {
                notify("notifications/tools/list_changed", &json!({}));
            }
            done();
        }
        "progress" => {
            for number in 0..5_000 {
                let params = json!({"progressToken": "nobody's", "progress": number});
                notify("notifications/progress", &params);
            }
            done();
        }
        "strange_ids" => {
            for strange in [json!(987_654_321), json!(null), json!("words"), json!([1])] {
                say(&answer(&strange, json!({"content": []})));
            }
            done();
        }
        "huge_error" => {
            let error = json!({"code": -1, "message": "no ".repeat(1024 * 1024)});
            say(&json!({"jsonrpc": "2.0", "id": id, "error": error}));
        }
        "noise" => {
            let mut stdout = std::io::stdout().lock();
            for _ in 0..20_000 {
                let _ = stdout.write_all(b"this is no message\n");
            }
            drop(stdout);
            done();
        }
        "full_stderr" => {
            let piece = vec![b'!'; 1024 * 1024];
            for _ in 0..8 {
                let _ = std::io::stderr().write_all(&piece);
            }
            done();
        }
        "log_flood" => {
            let data = "x".repeat(1024 * 1024);
            for _ in 0..MANY {
                let params = json!({"level": "error", "data": data});
                notify("notifications/message", &params);
            }
            done();
        }
        "long_progress" => {
            let message = "x".repeat(1024 * 1024);
            for number in 0..MANY {
                let params =
                    json!({"progressToken": token, "progress": number, "message": message});
                notify("notifications/progress", &params);
            }
            done();
        }
        "second_answer" => {
            done();
            done();
        }
        _ => return false,
    }
    true
}

fn notify(method: &str, params: &Value) {
    say(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
}

#[test]
fn a_hostile_server_costs_bounded_memory_and_the_other_one_is_served() {
    let bench = Workbench::new();
    let mut hostile = echo_server::entry("hostile");
    hostile["env"][LENGTH] = length().to_string().into();
    let servers = json!({
        "good": echo_server::entry("good"),
        "hostile": hostile,
    });
    bench.file("mcp.json", &json!({"mcpServers": servers}).to_string());
    let rule = |name| {
        format!("[[rule]]\neffect = \"allow\"\naction = \"call\"\nresource = \"{name}/*\"\n")
    };
    let rules = format!("version = 1\n{}{}", rule("good"), rule("hostile"));
    bench.file("rules.toml", &rules);
    let serve = [
        "serve",
        "--mcp-config",
        "mcp.json",
        "--policy",
        "rules.toml",
    ];
    let mut client = StdioClient::start(bench.tool(&serve));
    let gateway = processes(client.pid())[2];
    let before = peak(gateway);
    for (number, way) in WAYS.into_iter().enumerate() {
        let name = format!("hostile__{way}");
        let params = json!({"name": name, "arguments": {}, "_meta": {"progressToken": number}});
        let hostile = client.send("tools/call", params);
        // While it goes on.
        let echoed = client.send(
            "tools/call",
            json!({"name": "good__echo", "arguments": {"client": 1, "n": number}}),
        );
        let (mut ended, mut others) = (None, 0);
        let heard = client.answer(echoed, |message| match message["id"] == hostile {
            true => ended = Some(message["result"].clone()),
            false => {
                assert!(message.to_string().len() < 32 * 1024, "{way}");
                others += usize::from(!message["id"].is_null());
            }
        });
        assert_eq!(others, 0, "{way}: somebody else's answer came through");
        let expected = format!("good heard {number} of 1");
        assert_eq!(heard["content"][0]["text"], expected, "{way}");
        let ended = ended.unwrap_or_else(|| {
            client.answer(hostile, |message| {
                assert!(message.to_string().len() < 32 * 1024, "{way}");
            })
        });
        let text = ended["content"][0]["text"].as_str().unwrap_or_default();
        let expected = match way {
            "endless_line" => "the answer of server hostile is longer than 16777216 bytes",
            "huge_error" => "server hostile answered with error -1: no no",
            _ => "done",
        };
        assert!(text.starts_with(expected), "{way}: {ended}");
        assert!(text.len() < 64 * 1024, "{way}: {} bytes", text.len());
    }
    let grown = peak(gateway) - before;
    assert!(grown < MOST, "{grown} bytes more");
}

fn length() -> usize {
    std::env::var(LENGTH).map_or(LINE, |text| text.parse().expect("a number of MiB"))
}

/// The most memory that a process ever held, in bytes.
fn peak(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB"));
    kib.unwrap().parse::<u64>().unwrap() * 1024
}
