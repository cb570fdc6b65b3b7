//! Many clients at one gateway with many servers, some of which end in the middle.

use std::collections::HashSet;
use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use serde_json::{Value, json};

use crate::deadline::until;
use crate::echo_server;
use crate::held_by::Held;
use crate::http_client::HttpClient;
use crate::killed::processes;
use crate::serving::Serving;
use crate::workbench::Workbench;

/// How many clients, servers and calls: `50x10x10000` is the whole.
const SIZE: &str = "TOOL_TEST_CROWD";
/// Memory that may be held afterwards beyond what was held after the first crowd: the allocator
/// gives back what it likes.
const GROWTH: u64 = 12 * 1024 * 1024;

#[derive(Clone, Copy, Debug)]
struct Size {
    clients: u64,
    servers: u64,
    calls: u64,
}

/// How a call ended for its client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Answered,
    /// Its server had ended, or ended in the middle.
    Away,
    Cancelled,
}

/// What all clients of a crowd have seen.
#[derive(Debug, Default)]
struct Seen {
    answered: usize,
    away: usize,
    cancelled: usize,
}

impl Size {
    fn read() -> Self {
        let text = std::env::var(SIZE).unwrap_or_else(|_| "10x4x600".to_owned());
        let numbers: Vec<u64> = text.split('x').map(|part| part.parse().unwrap()).collect();
        let [clients, servers, calls] = numbers[..] else {
            panic!("{SIZE} is CLIENTSxSERVERSxCALLS and not {text}");
        };
        Self {
            clients,
            servers,
            calls,
        }
    }

    fn names(self) -> impl Iterator<Item = String> {
        (0..self.servers).map(|number| format!("s{number}"))
    }
}

#[test]
fn every_call_of_a_crowd_has_one_outcome_that_is_its_own_and_nothing_stays_behind() {
    let size = Size::read();
    let bench = Workbench::new();
    let mut rules = "version = 1\n".to_owned();
    for name in size.names() {
        rules +=
            &format!("[[rule]]\neffect = \"allow\"\naction = \"call\"\nresource = \"{name}/*\"\n");
    }
    bench.file("rules.toml", &rules);
    let servers: serde_json::Map<String, Value> = size
        .names()
        .map(|name| (name.clone(), echo_server::entry(&name)))
        .collect();
    bench.file("mcp.json", &json!({"mcpServers": servers}).to_string());
    let serve = [
        "serve",
        "--mcp-config",
        "mcp.json",
        "--policy",
        "rules.toml",
    ];
    let mut serving = Serving::start(bench.tool(&serve));
    let gateway = processes(serving.pid())[2];

    let first = Size {
        calls: size.calls / 3,
        ..size
    };
    let mut seen = crowd(serving.url(), first);
    all_up(serving.url(), size);
    let before = Held::by(gateway);
    let second = crowd(serving.url(), size);
    all_up(serving.url(), size);
    seen.answered += second.answered;
    seen.away += second.away;
    seen.cancelled += second.cancelled;

    let after = until("what was opened for clients is closed", || {
        let now = Held::by(gateway);
        let fewer = now.descriptors <= before.descriptors && now.threads <= before.threads;
        fewer.then_some(now)
    });
    let grown = after.memory.saturating_sub(before.memory);
    assert!(grown < GROWTH, "{before:?}, then {after:?}");
    eprintln!("{size:?}: {seen:?}; {before:?}, then {after:?}");
    assert!(seen.answered * 2 > seen.away, "{seen:?}");
    assert!(seen.away > 0 && seen.cancelled > 0, "{seen:?}");

    crate::leaving::signal("TERM", &[serving.pid().to_string()]);
    assert!(serving.ended().success());
    assert_on_record(&bench, &seen);
}

/// Lets all clients of a crowd make their calls, and gives what they have seen.
fn crowd(url: &str, size: Size) -> Seen {
    let mut seen = Seen::default();
    thread::scope(|scope| {
        let clients = (0..size.clients).map(|client| scope.spawn(move || visit(url, size, client)));
        let clients: Vec<_> = clients.collect();
        for end in clients
            .into_iter()
            .flat_map(|client| client.join().unwrap())
        {
            match end {
                End::Answered => seen.answered += 1,
                End::Away => seen.away += 1,
                End::Cancelled => seen.cancelled += 1,
            }
        }
    });
    seen
}

/// One client from its first word to its last.
fn visit(url: &str, size: Size, client: u64) -> Vec<End> {
    let calls = size.calls / size.clients;
    let mut http = HttpClient::new(url);
    http.shake_hands();
    let ends = (1..=calls).map(|number| {
        // Spread over the servers, the same in every run.
        let mixed = (client * 1_000_003 + number).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        let server = mixed % size.servers;
        if client < size.servers && number == calls / 2 {
            return call(&http, client, number, &format!("s{client}__exit"));
        }
        match mixed % 16 {
            0 => cancelled_call(&http, client, number, &format!("s{server}__hold")),
            _ => call(&http, client, number, &format!("s{server}__echo")),
        }
    });
    let ends: Vec<End> = ends.collect();
    assert!(http.end_session().answer().status < 300);
    ends
}

fn request(client: u64, number: u64, tool: &str) -> Value {
    let arguments = json!({"client": client, "n": number});
    let params = json!({"name": tool, "arguments": arguments});
    json!({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})
}

fn call(http: &HttpClient, client: u64, number: u64, tool: &str) -> End {
    let answered = http.post(&[], &request(client, number, tool)).answer();
    match outcome(&answered.rest(), number) {
        Some(result) => end(&result, client, number, tool),
        None => panic!("{tool} was not answered"),
    }
}

/// A call that its client does not wait for. The word may overtake the call, and is said again.
fn cancelled_call(http: &HttpClient, client: u64, number: u64, tool: &str) -> End {
    let sent = http.post(&[], &request(client, number, tool));
    let params = json!({"requestId": number});
    let word = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params});
    let over = AtomicBool::new(false);
    let body = thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            let body = sent.answer().rest();
            over.store(true, Ordering::Relaxed);
            body
        });
        until("the end of a cancelled call", || {
            assert_eq!(http.post(&[], &word).answer().status, 202);
            over.load(Ordering::Relaxed).then_some(())
        });
        waiting.join().unwrap()
    });
    match outcome(&body, number) {
        None => End::Cancelled,
        Some(result) => end(&result, client, number, tool),
    }
}

fn end(result: &Value, client: u64, number: u64, tool: &str) -> End {
    let text = result["content"][0]["text"].as_str().unwrap_or_default();
    let server = tool.split("__").next().unwrap();
    if result["isError"] != true {
        assert_eq!(text, format!("{server} heard {number} of {client}"));
        return End::Answered;
    }
    let about = format!("server {server} is not available; ");
    assert!(text.starts_with(&about), "{tool}: {result}");
    End::Away
}

/// The result that answers a request, of which there is at most one and nothing of anybody else's.
fn outcome(body: &str, number: u64) -> Option<Value> {
    let lines = body.lines();
    let messages = lines.filter_map(|line| {
        let message = line.strip_prefix("data: ").unwrap_or(line);
        serde_json::from_str::<Value>(message)
            .ok()
            .filter(Value::is_object)
    });
    let messages: Vec<Value> = messages.collect();
    assert!(messages.len() <= 1, "{messages:?}");
    let message = messages.into_iter().next()?;
    assert_eq!(message["id"], number, "{message}");
    Some(message["result"].clone())
}

/// Waits until every server answers again.
fn all_up(url: &str, size: Size) {
    let mut http = HttpClient::new(url);
    http.shake_hands();
    for name in size.names() {
        until(&format!("server {name}"), || {
            // Of no crowd, and so not on the list of calls that are looked for.
            let tool = format!("{name}__echo");
            let answered = http
                .post(&[], &request(u64::from(u32::MAX), 0, &tool))
                .answer();
            let result = outcome(&answered.rest(), 0)?;
            (result["isError"] != true && result["content"].is_array()).then_some(())
        });
    }
    assert!(http.end_session().answer().status < 300);
}

/// Every call is on record once; one that was cancelled may have been so before it began.
fn assert_on_record(bench: &Workbench, seen: &Seen) {
    let mut calls = HashSet::new();
    let mut cancelled = 0;
    for file in fs::read_dir(bench.state().join("audit")).unwrap() {
        let file = file.unwrap().path();
        if file.extension().is_none_or(|end| end != "jsonl") {
            continue;
        }
        for line in fs::read_to_string(file).unwrap().lines() {
            let line: Value = serde_json::from_str(line).unwrap();
            assert!(line["lost"].is_null(), "{line}");
            if line["call"] == "0" {
                continue;
            }
            let call = (line["session"].to_string(), line["call"].to_string());
            assert!(calls.insert(call), "twice on record: {line}");
            if line["outcome"] == "dropped" || line["outcome"] == "cancelled" {
                cancelled += 1;
            }
        }
    }
    assert_eq!(calls.len() - cancelled, seen.answered + seen.away);
    assert!(cancelled <= seen.cancelled, "{cancelled}, {seen:?}");
}
