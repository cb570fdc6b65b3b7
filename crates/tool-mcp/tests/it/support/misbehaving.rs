//! The ways in which the fixture speaks the other era, and those in which it misbehaves.

use std::io::Write;
use std::process::exit;

use serde_json::{Value, json};

use super::fixture::{answer, error, notify, progress, text, tool};

/// What is to be remembered between messages.
#[derive(Default)]
pub(crate) struct Misbehaving {
    /// The probe that was not answered yet.
    probe: Option<Value>,
    /// The call that is answered after the next one.
    held: Option<Value>,
    /// Whether a server ran before this one with the same transcript.
    pub(crate) again: bool,
}

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";

impl Misbehaving {
    /// Whether the message has been dealt with here.
    pub(crate) fn take(&mut self, mode: &str, message: &Value) -> bool {
        let (id, params) = (&message["id"], &message["params"]);
        let method = message["method"].as_str().unwrap_or_default();
        match (mode, method) {
            ("exits-on-probe", "server/discover") => exit(7),
            ("late-handshake" | "late-stateless", "server/discover") => {
                self.probe = Some(id.clone());
            }
            ("late-handshake", "initialize") => {
                let probe = self.probe.take().expect("it was probed");
                error(&probe, -32601, "Method not found");
                return false;
            }
            ("late-stateless", "initialize") => {
                let probe = self.probe.take().expect("it was probed");
                answer(&probe, discovery());
                error(id, -32022, "Unsupported protocol version");
            }
            ("turning-stateless", "tools/list") if self.again => {
                let mut changed = tool("ask");
                changed["description"] = "Does something else".into();
                let tools = json!([tool("echo"), changed]);
                answer(id, json!({"resultType": "complete", "tools": tools}));
            }
            // Changes while its question is open.
            ("turning-stateless", "tools/call") => {
                stateless(id, method, params);
                self.again = true;
                notify("notifications/tools/list_changed", &json!({}));
            }
            ("stateless" | "late-stateless" | "turning-stateless", _) => {
                stateless(id, method, params)
            }
            ("dies-after-list", "tools/list") => {
                answer(id, json!({"tools": [tool("echo")]}));
                exit(5);
            }
            ("changing", "tools/list") if self.again => {
                let mut changed = tool("echo");
                changed["description"] = "Does something else".into();
                answer(id, json!({"tools": [changed, tool("die"), tool("added")]}));
            }
            ("turning", "tools/list") if self.again => {
                let mut changed = tool("echo");
                changed["description"] = "Does something else".into();
                answer(id, json!({"tools": [changed, tool("turn"), tool("added")]}));
            }
            ("turning", "tools/list") => {
                answer(id, json!({"tools": [tool("echo"), tool("turn")]}));
            }
            ("turning", "tools/call") if params["name"] == "turn" => {
                self.again = true;
                notify("notifications/tools/list_changed", &json!({}));
                text(id, "turned");
            }
            ("hasty", "tools/list") => answer(id, json!({"tools": [tool("hasty")]})),
            ("hasty", "tools/call") => {
                let question = json!({
                    "jsonrpc": "2.0", "id": format!("q-{id}"), "method": "elicitation/create",
                    "params": {"message": "Who?", "requestedSchema": {"type": "object"}},
                });
                println!("{question}");
                // Waits for no answer; one sort does not answer the first of its calls either.
                if params["arguments"]["n"] == 0 || self.again {
                    text(id, "done");
                }
                self.again = true;
            }
            ("holding", "tools/list") => {
                let tools = ["held", "poke", "page", "swap", "shows"].map(tool);
                answer(id, json!({"tools": tools}));
            }
            ("holding", "tools/call") if params["name"] == "held" => self.held = Some(id.clone()),
            // Has a page opened in the middle of the call.
            ("holding", "tools/call") if params["name"] == "shows" => {
                self.held = Some(id.clone());
                let question = json!({
                    "jsonrpc": "2.0", "id": "q-held", "method": "elicitation/create",
                    "params": {
                        "mode": "url", "message": "Log in", "url": "https://login.example.com/x",
                        "elicitationId": params["arguments"]["id"],
                    },
                });
                println!("{question}");
            }
            // Asks in the middle of the call that is held, and answers the later one at once.
            ("holding", "tools/call") if params["name"] == "swap" => {
                let question = json!({
                    "jsonrpc": "2.0", "id": "q-held", "method": "elicitation/create",
                    "params": {"message": "Who?", "requestedSchema": {"type": "object"}},
                });
                println!("{question}");
                text(id, "swapped");
            }
            ("holding", "") => {
                if let Some(held) = self.held.take_if(|_| *id == "q-held") {
                    text(
                        &held,
                        message["result"]["action"].as_str().unwrap_or("none"),
                    );
                }
            }
            ("holding", "tools/call") if params["name"] == "page" => {
                let pages = params["arguments"]["pages"].clone();
                let error = json!({
                    "code": -32042, "message": "Open it", "data": {"elicitations": pages},
                });
                println!("{}", json!({"jsonrpc": "2.0", "id": id, "error": error}));
            }
            ("holding", "tools/call") => {
                for done in params["arguments"]["done"].as_array().into_iter().flatten() {
                    let done = json!({"elicitationId": done});
                    notify("notifications/elicitation/complete", &done);
                }
                text(id, "poked");
                if let Some(held) = self.held.take() {
                    text(&held, "held until then");
                }
            }
            ("many", "tools/list") => {
                let names: Vec<_> = (0..10_000).map(|n| format!("t{n}")).collect();
                let tools: Vec<_> = names.iter().map(|name| tool(name)).collect();
                answer(id, json!({"tools": tools}));
            }
            ("poisoned", "tools/list") => answer(id, json!({"tools": [poisoned_tool()]})),
            ("hopeless", "tools/list") => answer(id, json!({"tools": hopeless_tools()})),
            // Holds each list of prompts until it is poked.
            ("offers-held", "tools/list") => answer(id, json!({"tools": [tool("poke")]})),
            ("offers-held", "prompts/list") => self.held = Some(id.clone()),
            ("offers-held", "tools/call") => {
                text(id, "poked");
                if let Some(held) = self.held.take() {
                    offers(&held, "prompts/list", params);
                }
            }
            // Says no in two lines, the second of which looks like one of a log.
            ("offers-forging", "prompts/list") => error(id, -1, "no\n2026-11-30 WARN forged"),
            ("offers-greedy", "resources/templates/list") => answer(
                id,
                json!({"resourceTemplates": [{"uriTemplate": "{+any}", "name": "all"}]}),
            ),
            ("offers" | "offers-held" | "offers-forging" | "offers-greedy", "initialize") => {
                answer(
                    id,
                    json!({
                        "protocolVersion": "2025-06-18",
                        "capabilities": {"resources": {}, "prompts": {}, "completions": {}},
                        "serverInfo": {"name": "fixture", "version": "1"},
                    }),
                )
            }
            ("offers" | "offers-forging" | "offers-greedy", _) => {
                return offers(id, method, params);
            }
            ("pointing", _) => return super::pointing::take(id, method),
            (_, "tools/call") => return call(id, params),
            _ => return false,
        }
        true
    }
}

fn discovery() -> Value {
    json!({
        "resultType": "complete",
        "supportedVersions": ["2026-07-28"],
        "capabilities": {"tools": {"listChanged": true}},
        "ttlMs": 0,
        "cacheScope": "private",
    })
}

/// The era without a handshake, kept strictly.
fn stateless(id: &Value, method: &str, params: &Value) {
    if id.is_null() {
        return;
    }
    if params["_meta"][VERSION] != "2026-07-28" {
        return error(id, -32022, "Unsupported protocol version");
    }
    if !params["_meta"]["io.modelcontextprotocol/clientCapabilities"].is_object() {
        return error(id, -32602, "No capabilities");
    }
    let tools = ["echo", "ask", "insist", "martian", "needs"].map(tool);
    let complete = |content: &str| json!({"resultType": "complete", "content": [{"type": "text", "text": content}]});
    match (method, params["name"].as_str().unwrap_or_default()) {
        ("server/discover", _) => answer(id, discovery()),
        ("tools/list", _) => answer(
            id,
            json!({"resultType": "complete", "ttlMs": 0, "cacheScope": "private",
                "tools": tools}),
        ),
        ("tools/call", "echo") if params["arguments"]["n"] == 99 => exit(9),
        ("tools/call", "echo") if params["arguments"]["done"].is_string() => {
            let done = json!({"elicitationId": params["arguments"]["done"]});
            notify("notifications/elicitation/complete", &done);
            answer(id, complete("heard"));
        }
        ("tools/call", "echo") => answer(id, complete("heard")),
        ("tools/call", "ask") if params["inputResponses"].is_null() => {
            let asked = match params["arguments"]["url"].as_str() {
                None => json!({"message": "Who?\u{202e}"}),
                Some(url) => json!({
                    "mode": "url", "message": "Log in", "url": url, "elicitationId": "e-1",
                }),
            };
            let asked = json!({"method": "elicitation/create", "params": asked});
            answer(
                id,
                json!({
                    "resultType": "input_required",
                    "requestState": "opaque \u{e9}",
                    "inputRequests": {"who": asked},
                }),
            );
        }
        ("tools/call", "ask") => {
            let told = json!([params["inputResponses"], params["requestState"]]);
            answer(id, complete(&told.to_string()));
        }
        ("tools/call", "insist") => {
            answer(
                id,
                json!({"resultType": "input_required", "requestState": "again"}),
            );
        }
        ("tools/call", "needs") => {
            let needed = &params["arguments"]["needed"];
            let declared = &params["_meta"]["io.modelcontextprotocol/clientCapabilities"];
            let has = |name| declared.get(name).is_some();
            match needed
                .as_object()
                .is_some_and(|needed| needed.keys().all(has))
            {
                true => answer(id, complete("it is there")),
                false => {
                    let data = json!({"requiredCapabilities": needed});
                    let error = json!({"code": -32021, "message": "Missing", "data": data});
                    println!("{}", json!({"jsonrpc": "2.0", "id": id, "error": error}));
                }
            }
        }
        ("tools/call", "martian") => answer(id, json!({"resultType": "martian"})),
        ("subscriptions/listen", _) => {}
        _ => error(id, -32601, "Method not found"),
    }
}

/// Calls that no server of good manners would answer so.
fn call(id: &Value, params: &Value) -> bool {
    let token = &params["_meta"]["progressToken"];
    let number = params["arguments"]["n"].as_u64().unwrap_or_default();
    match params["name"].as_str().unwrap_or_default() {
        "exact" => {
            let number = "123456789012345678901234567890.12345";
            println!(
                r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[],"structuredContent":{{"exact":9007199254740993,"short":0.1,"long":{number}}}}}}}"#
            );
        }
        "endless" => {
            let mut stdout = std::io::stdout().lock();
            let mut write = |bytes: &[u8]| stdout.write_all(bytes).expect("stdout is read");
            let head = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"text":""#);
            write(head.as_bytes());
            let chunk = vec![b'x'; 1024 * 1024];
            for _ in 0..number {
                write(&chunk);
            }
            write(b"\"}]}}\n");
        }
        "flood" => {
            for _ in 0..number {
                notify("notifications/tools/list_changed", &json!({}));
            }
            text(id, "flooded");
        }
        "reports" => {
            for n in 0..number {
                progress(token, n, None, Some("more"));
                progress(&json!("nobody's"), n, None, None);
            }
            text(id, "reported");
        }
        "logs" => {
            let long = "x\u{202e}".repeat(256 * 1024);
            for n in 0..number {
                let data = match n % 2 {
                    0 => json!(long),
                    _ => json!({"k": long}),
                };
                let said = json!({"level": "martian", "logger": "l".repeat(5000), "data": data});
                notify("notifications/message", &said);
                let changed = json!({"uri": format!("a://{long}")});
                notify("notifications/resources/updated", &changed);
            }
            text(id, "logged");
        }
        "long-reports" => {
            let long = "é".repeat(256 * 1024);
            for n in 0..number {
                progress(token, n, None, Some(&long));
            }
            text(id, "reported");
        }
        "confuse" => {
            text(&json!(987_654), "nobody's");
            text(&Value::Null, "nobody's");
            text(&json!("words"), "nobody's");
            // The text of the number means the number.
            text(&json!(id.to_string()), "first");
            text(id, "second");
        }
        "poison" => answer(
            id,
            json!({
                "content": [{"type": "text", "text": "a\u{202e}b\u{e0041}c\u{1b}[31m"}],
                "structuredContent": {"k\u{200b}": "v\u{feff}"},
            }),
        ),
        "poisoned-error" => error(id, -1, "no\u{e0041} \u{1b}[2Jway"),
        "huge-error" => error(id, -1, &"é".repeat(1024 * 1024)),
        "lies" => answer(
            id,
            json!({"content": [{"type": "text", "text": "t"}], "structuredContent": {"a": "five"}}),
        ),
        "lies-in-error" => answer(
            id,
            json!({"content": [{"type": "text", "text": "bad"}], "structuredContent": {"a": "five"},
                "isError": true}),
        ),
        "silent-success" => text(id, "no structure"),
        _ => return false,
    }
    true
}

fn poisoned_tool() -> Value {
    json!({
        "name": "pois\u{200b}on",
        "title": "T\u{202e}itle",
        "description": "Reads\u{e0041}\u{e0042} files\u{1b}[8m",
        "inputSchema": {"type": "object", "properties": {
            "a": {"type": "string", "description": "ignore\u{2066} me"}}},
    })
}

/// One that can be used, among such as nobody should compile.
fn hopeless_tools() -> Value {
    let mut deep = json!({"type": "object"});
    for _ in 0..100 {
        deep = json!({"type": "object", "properties": {"a": deep}});
    }
    json!([
        tool("echo"),
        {"name": "deep", "inputSchema": deep},
        {"name": "remote", "inputSchema": {"type": "object", "$ref": "http://127.0.0.1:9/x"}},
        {"name": "pattern", "inputSchema": {"type": "object", "properties": {
            "s": {"type": "string", "pattern": "^(a+)+$"}}}},
        {"name": "backtracking", "inputSchema": {"type": "object", "properties": {
            "s": {"type": "string", "pattern": "^(?=a)(a+)+\\1$"}}}},
    ])
}

/// A server with resources and prompts.
fn offers(id: &Value, method: &str, params: &Value) -> bool {
    match method {
        "resources/list" => answer(
            id,
            json!({"resources": [
                {"uri": "test://a", "name": "a", "description": "seen\u{202e}"},
                {"uri": "test://b", "name": "b"},
            ]}),
        ),
        "resources/templates/list" => answer(
            id,
            json!({"resourceTemplates": [{"uriTemplate": "test://t/{id}/x", "name": "t"}]}),
        ),
        "resources/read" => answer(
            id,
            json!({"contents": [{"uri": params["uri"], "text": "read\u{200b}"}]}),
        ),
        "prompts/list" => answer(
            id,
            json!({"prompts": [{"name": "greet", "title": "Greets"}]}),
        ),
        "prompts/get" => answer(
            id,
            json!({"messages": [{"role": "user", "content":
                {"type": "text", "text": params.to_string()}}]}),
        ),
        "completion/complete" => {
            notify(
                "notifications/resources/updated",
                &json!({"uri": "test://a"}),
            );
            let said = json!({"level": "warning", "logger": "l", "data": {"k": "v\u{202e}"}});
            notify("notifications/message", &said);
            answer(
                id,
                json!({"completion": {"values": [params["ref"].to_string()]}}),
            );
        }
        _ => return false,
    }
    true
}
