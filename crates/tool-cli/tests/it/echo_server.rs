//! A server for the gateway: this very program, run again.
//!
//! It answers in no order, holds calls for ever, ends when it is told to, and misbehaves likewise.

use std::io::{BufRead as _, Write as _};
use std::thread;

use serde_json::{Value, json};

use crate::hostile;

/// Says in the environment that this process is the server, and of which name.
const NAME: &str = "TOOL_TEST_SERVER";

#[test]
fn is_a_server_when_it_is_told_to_be() {
    if let Ok(name) = std::env::var(NAME) {
        serve(&name);
    }
}

/// The entry of a configuration for a server of this name.
pub(crate) fn entry(name: &str) -> Value {
    let args = [
        "echo_server::is_a_server_when_it_is_told_to_be",
        "--exact",
        "--nocapture",
    ];
    let program = std::env::current_exe().unwrap();
    json!({"command": program, "args": args, "env": {NAME: name}})
}

fn serve(name: &str) {
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let message: Value = serde_json::from_str(&line).unwrap();
        let id = message["id"].clone();
        let params = &message["params"];
        match (message["method"].as_str().unwrap_or_default(), &id) {
            ("initialize", _) => say(&answer(
                &id,
                json!({
                    "protocolVersion": "2025-11-25",
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": name, "version": "1"},
                }),
            )),
            ("tools/list", _) => {
                let names = ["echo", "hold", "exit"].into_iter().chain(hostile::WAYS);
                let tools: Vec<Value> = names
                    .map(|name| json!({"name": name, "inputSchema": {"type": "object"}}))
                    .collect();
                say(&answer(&id, json!({"tools": tools})));
            }
            ("tools/call", _) => call(name, id, params),
            (_, Value::Null) => {}
            (method, _) => {
                let error = json!({"code": -32601, "message": format!("there is no {method}")});
                say(&json!({"jsonrpc": "2.0", "id": id, "error": error}));
            }
        }
    }
}

fn call(server: &str, id: Value, params: &Value) {
    match params["name"].as_str().unwrap_or_default() {
        "echo" => {
            let (client, number) = (&params["arguments"]["client"], &params["arguments"]["n"]);
            let text = format!("{server} heard {number} of {client}");
            let turns = number.as_u64().unwrap_or_default() * 7919 % 64;
            // Whoever comes later may be answered earlier.
            thread::spawn(move || {
                (0..turns).for_each(|_| thread::yield_now());
                let content = json!([{"type": "text", "text": text}]);
                say(&answer(&id, json!({"content": content})));
            });
        }
        "exit" => std::process::exit(3),
        tool => {
            hostile::misbehave(tool, &id, &params["_meta"]["progressToken"]);
        }
    }
}

pub(crate) fn answer(id: &Value, result: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": result})
}

pub(crate) fn say(message: &Value) {
    let mut stdout = std::io::stdout().lock();
    // A gateway that has gone hears nothing any more.
    let _ = stdout.write_all(format!("{message}\n").as_bytes());
    let _ = stdout.flush();
}
