//! A server that does as it is told, written by hand so that it can misbehave.
//!
//! It runs as a process of this test program. Standard I/O only: what stands on the wire is what
//! is written here.

use std::fs::OpenOptions;
use std::io::{BufRead, Write};
use std::process::{Command, exit};

use serde_json::{Value, json};

use super::misbehaving::Misbehaving;

/// Says that this process is a server, and which.
pub(crate) const MODE: &str = "MCP_FIXTURE";
/// A file to which every line that comes in is added.
pub(crate) const TRANSCRIPT: &str = "MCP_FIXTURE_TRANSCRIPT";

/// Serves until stdin ends, if this process was started as a server.
pub(crate) fn serve_if_told() {
    let Ok(mode) = std::env::var(MODE) else {
        return;
    };
    match mode.as_str() {
        #[cfg(feature = "stdio")]
        "ours" => serve_ours(),
        mode if mode.starts_with("conformance-") => serve_conformance(mode),
        _ => Fixture::new(mode).serve(),
    }
    exit(0);
}

/// A server of this crate in place of the one written by hand.
#[cfg(feature = "stdio")]
fn serve_ours() {
    let registry = super::registry::permissive().build();
    let (tools, _running) = super::registry::tools();
    let _registration = registry
        .register(tools)
        .expect("the tools are well defined");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime can be made");
    let served = runtime.block_on(tool_mcp::Server::new(registry).serve_stdio());
    served.expect("the client speaks the protocol");
}

/// The server of the official suite, speaking one era only.
fn serve_conformance(mode: &str) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime can be made");
    let served = crate::registry::served().expect("well defined");
    let refused = match mode {
        "conformance-handshake" => "server/discover",
        _ => "initialize",
    };
    let (ours, theirs) = tokio::io::duplex(1024 * 1024);
    let passing = std::thread::spawn({
        let handle = runtime.handle().clone();
        move || pass_on(&handle, ours, refused)
    });
    let (reader, _) = tokio::io::split(theirs);
    let serving = served.server.serve_streams(reader, Stdout);
    runtime
        .block_on(serving)
        .expect("the client speaks the protocol");
    passing.join().expect("no panic");
}

/// Hands lines over, but for those of a method that is refused.
fn pass_on(handle: &tokio::runtime::Handle, mut to: tokio::io::DuplexStream, refused: &str) {
    use tokio::io::AsyncWriteExt;
    let mut transcript = transcript();
    for line in std::io::stdin().lock().lines() {
        let line = line.expect("stdin is text");
        if let Some(transcript) = &mut transcript {
            writeln!(transcript, "{line}").expect("the transcript can be written");
        }
        let message: Value = serde_json::from_str(&line).expect("clients write JSON");
        if message["method"] == refused {
            error(&message["id"], -32601, "Method not found");
            continue;
        }
        let written = handle.block_on(to.write_all(format!("{line}\n").as_bytes()));
        if written.is_err() {
            return;
        }
    }
}

/// Standard output, written through at once, so that whole lines are all there is.
struct Stdout;

impl tokio::io::AsyncWrite for Stdout {
    fn poll_write(
        self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
        bytes: &[u8],
    ) -> std::task::Poll<std::io::Result<usize>> {
        std::task::Poll::Ready(std::io::stdout().write_all(bytes).map(|()| bytes.len()))
    }

    fn poll_flush(
        self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<std::io::Result<()>> {
        std::task::Poll::Ready(std::io::stdout().flush())
    }

    fn poll_shutdown(
        self: std::pin::Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<std::io::Result<()>> {
        self.poll_flush(cx)
    }
}

/// Where everything that comes in is written down, where that is wanted.
fn transcript() -> Option<std::fs::File> {
    let path = std::env::var(TRANSCRIPT).ok()?;
    let file = OpenOptions::new().append(true).create(true).open(path);
    Some(file.expect("the transcript can be written"))
}

struct Fixture {
    mode: String,
    transcript: Option<std::fs::File>,
    /// A tool that the list gained.
    grown: bool,
    /// The token of a call that waits for pokes.
    beating: Option<Value>,
    beats: u32,
    /// The id of a call that is answered only once it is cancelled.
    late: Option<Value>,
    misbehaving: Misbehaving,
}

impl Fixture {
    fn new(mode: String) -> Self {
        let mut misbehaving = Misbehaving::default();
        let before = std::env::var(TRANSCRIPT).map(std::fs::metadata);
        misbehaving.again = before.is_ok_and(|before| before.is_ok());
        let transcript = transcript();
        Self {
            mode,
            transcript,
            grown: false,
            beating: None,
            beats: 0,
            late: None,
            misbehaving,
        }
    }

    fn serve(&mut self) {
        match self.mode.as_str() {
            "exits" => {
                eprintln!("cannot find my database");
                exit(4);
            }
            "noisy" => print!("Starting up...\n[info] ready\n\n{{\"level\":30}}\n"),
            _ => {}
        }
        for line in std::io::stdin().lock().lines() {
            let line = line.expect("stdin is text");
            if let Some(transcript) = &mut self.transcript {
                writeln!(transcript, "{line}").expect("the transcript can be written");
            }
            let message: Value = serde_json::from_str(&line).expect("clients write JSON");
            self.take(&message);
        }
        if self.mode == "stubborn" {
            loop {
                std::thread::park();
            }
        }
    }

    fn take(&mut self, message: &Value) {
        let id = &message["id"];
        let params = &message["params"];
        if self.misbehaving.take(&self.mode, message) {
            return;
        }
        match message["method"].as_str() {
            _ if self.mode == "silent" => {}
            Some("server/discover") => error(id, -32601, "Method not found"),
            Some("initialize") => answer(
                id,
                json!({
                    "protocolVersion": "2025-11-25",
                    "capabilities": {"tools": {"listChanged": true}},
                    "serverInfo": {"name": "fixture", "version": "1"},
                }),
            ),
            Some("tools/list") => self.list(id, params),
            Some("tools/call") => self.call(id, params),
            Some("notifications/cancelled") => {
                // The next call shows that the late answer did no harm.
                if let Some(id) = self.late.take_if(|id| *id == params["requestId"]) {
                    text(&id, "too late");
                }
            }
            _ => {}
        }
    }

    fn list(&self, id: &Value, params: &Value) {
        let page = match (self.mode.as_str(), params["cursor"].as_str()) {
            ("paged", None) => json!({"tools": [tool("a")], "nextCursor": ""}),
            ("paged", Some("")) => json!({"tools": [tool("b")], "nextCursor": "2"}),
            ("paged", Some("2")) => json!({"tools": [tool("c")]}),
            ("endless", _) => json!({"tools": [tool("again")], "nextCursor": "more"}),
            ("no-tools", _) => {
                error(id, -32601, "Method not found");
                return;
            }
            ("odd", _) => odd_tools(),
            ("misbehaving", _) => misbehaving_tools(),
            ("declared", _) => declared_tools(),
            _ if self.grown => json!({"tools": [tool("echo"), tool("grown")]}),
            _ => json!({"tools": TOOLS.map(tool)}),
        };
        answer(id, page);
    }

    fn call(&mut self, id: &Value, params: &Value) {
        let arguments = &params["arguments"];
        let token = &params["_meta"]["progressToken"];
        let number = arguments["n"].as_u64().unwrap_or_default();
        match params["name"].as_str().unwrap_or_default() {
            "echo" | "odd name/with.dots-é" => answer(
                id,
                json!({
                    "content": [{"type": "text", "text": arguments.to_string()}],
                    "structuredContent": arguments,
                }),
            ),
            "report" => {
                for n in 0..number {
                    progress(token, n, Some(number), Some(&format!("step {n}")));
                }
                // One that goes back, and one of somebody else's call.
                progress(token, 1, None, Some("backwards"));
                progress(&json!("unknown"), 1, None, None);
                text(id, "reported");
                progress(token, number + 1, None, Some("after the end"));
            }
            "fail" => answer(
                id,
                json!({
                    "content": [{"type": "text", "text": "no such row"}],
                    "structuredContent": {"code": 17},
                    "isError": true,
                }),
            ),
            "structured" => answer(id, json!({"content": [], "structuredContent": {"a": 1}})),
            "different" => answer(
                id,
                json!({
                    "content": [{"type": "text", "text": "A"}],
                    "structuredContent": {"v": "B"},
                }),
            ),
            "rich" => answer(
                id,
                json!({"content": rich(), "_meta": {"x": 1, "tool-runtime/retained": []}}),
            ),
            "wait" => {}
            "late" => self.late = Some(id.clone()),
            "beat" => self.beating = Some(token.clone()),
            "poke" => {
                self.beats += 1;
                if let Some(token) = &self.beating {
                    progress(token, self.beats.into(), None, None);
                }
                text(id, "poked");
            }
            "loud" => {
                std::io::stderr()
                    .write_all(&vec![b'x'; number as usize])
                    .expect("stderr is drained");
                eprint!("the end");
                text(id, "said");
            }
            "noise" => {
                print!("debug: calling\n\u{1b}[1mbold\u{1b}[0m\n42\n[]\nnull\n");
                text(id, "heard");
            }
            "huge" => text(id, &"y".repeat(number as usize)),
            "deep" => {
                let nested = format!("{}{}", "[".repeat(200), "]".repeat(200));
                let id = id.to_string();
                println!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":{nested}}}}}"#);
            }
            "die" => exit(3),
            "protocol" => error(id, -32602, "Unknown tool: protocol"),
            "input" => answer(
                id,
                json!({"resultType": "input_required", "requestState": "x"}),
            ),
            // In a session of its own, and without its parent.
            "spawn" if arguments["apart"] == true => {
                let line = "setsid sleep 1000 >/dev/null 2>&1 & echo $!";
                let apart = Command::new("sh").args(["-c", line]).output();
                let pid = apart.expect("sh exists").stdout;
                text(id, String::from_utf8_lossy(&pid).trim());
            }
            "spawn" => {
                let child = Command::new("sleep").arg("1000").spawn();
                text(id, &child.expect("sleep exists").id().to_string());
            }
            "environment" => {
                let variables: std::collections::BTreeMap<_, _> = std::env::vars().collect();
                let cwd = std::env::current_dir().expect("there is a folder");
                let open: Vec<_> = std::fs::read_dir("/proc/self/fd")
                    .into_iter()
                    .flatten()
                    .filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok())
                    .collect();
                let seen = json!({
                    "env": variables, "cwd": cwd, "pid": std::process::id(), "open": open
                });
                answer(id, json!({"content": [], "structuredContent": seen}));
            }
            "grow" => {
                self.grown = true;
                for _ in 0..2 {
                    notify("notifications/tools/list_changed", &json!({}));
                }
                text(id, "grown");
            }
            _ => error(id, -32602, "Unknown tool"),
        }
    }
}

const TOOLS: [&str; 21] = [
    "echo",
    "odd name/with.dots-é",
    "report",
    "fail",
    "structured",
    "different",
    "rich",
    "wait",
    "late",
    "beat",
    "poke",
    "loud",
    "noise",
    "huge",
    "deep",
    "die",
    "protocol",
    "input",
    "spawn",
    "environment",
    "grow",
];

pub(crate) fn tool(name: &str) -> Value {
    json!({
        "name": name,
        "title": format!("The {name}"),
        "description": format!("Does {name}"),
        "inputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}},
        "annotations": {"readOnlyHint": true, "destructiveHint": false, "category": "test"},
    })
}

fn misbehaving_tools() -> Value {
    let mut tools: Vec<_> = MISBEHAVING.map(tool).into();
    for name in ["lies", "lies-in-error", "silent-success"] {
        let mut lying = tool(name);
        lying["outputSchema"] =
            json!({"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]});
        tools.push(lying);
    }
    json!({ "tools": tools })
}

const MISBEHAVING: [&str; 12] = [
    "echo",
    "exact",
    "endless",
    "flood",
    "reports",
    "confuse",
    "poison",
    "poisoned-error",
    "huge-error",
    "logs",
    "long-reports",
    "late",
];

/// Tools with hints, and with what another gateway declares of them.
fn declared_tools() -> Value {
    let tool = |name: &str, declared: Value| {
        json!({"name": name, "inputSchema": {"type": "object"},
            "annotations": {"title": "Titled", "readOnlyHint": true, "destructiveHint": false},
            "_meta": {"io.github.tool-runtime/declarations": declared}})
    };
    json!({"tools": [
        tool("echo", json!({"resultCeiling": {"maxChars": 40, "narrowBy": ["n"]}, "gates": true,
            "repeatedWhen": "arguments", "resultColumns": {"a": {"type": "integer", "nullable": true}},
            "owner": {"kind": "person", "id": "admin"}, "resultKind": "report",
            "resultClass": "authoritative", "composedOf": ["x"], "argumentsFrom": ["y"]})),
        tool("poke", json!({"resultCeiling": {"maxChars": 0}, "gates": "yes", "repeatedWhen": 5,
            "resultColumns": {"a": {"type": "date"}}})),
        tool("fail", json!({"resultCeiling": {"maxChars": 9, "narrowBy": [" "]}, "gates": false})),
        tool("rich", json!("all of it")),
    ]})
}

fn odd_tools() -> Value {
    json!({"tools": [
        {"name": "good", "inputSchema": {"type": "object"}},
        {"name": "good", "inputSchema": {"type": "object"}},
        {"name": "untyped", "inputSchema": {"properties": {}}},
        {"name": "schemaless"},
        {"name": "dialect", "inputSchema": {"type": "object", "$schema": "urn:nobody:knows"}},
        {"name": "remote", "inputSchema": {"type": "object", "$ref": "http://127.0.0.1:9/x"}},
        {"name": "dangling", "inputSchema": {"type": "object", "$ref": "#/$defs/none"}},
        {"name": 5, "inputSchema": {"type": "object"}},
        {"name": "", "inputSchema": {"type": "object"}},
        "no object",
        {"name": "hints", "description": " ", "inputSchema": {"type": "object"},
         "annotations": {"readOnlyHint": "yes", "idempotentHint": true, "title": "Hinted"}},
        {"name": "typed", "inputSchema": {"type": "object"},
         "outputSchema": {"type": "object", "properties": {"a": {"type": "integer"}}}},
    ]})
}

/// Blocks of every sort, and two that are of none.
pub(crate) fn rich() -> Value {
    json!([
        {"type": "text", "text": "t", "annotations": {"audience": ["user"], "priority": 0.8,
            "own": true}, "_meta": {"k": "v"}},
        {"type": "image", "data": "AAEC", "mimeType": "image/png", "annotations": {"priority": 1}},
        {"type": "audio", "data": "AAE", "mimeType": "audio/wav"},
        {"type": "resource", "resource": {"uri": "a://b", "mimeType": "text/plain", "text": "r",
            "_meta": {"inner": 1}}, "_meta": {"outer": 1}},
        {"type": "resource", "resource": {"uri": "a://c", "blob": "AAEC"}},
        {"type": "resource_link", "uri": "a://d", "name": "d", "title": "D", "size": 5,
            "mimeType": "text/x", "description": "link", "own": [1]},
        {"type": "hologram", "data": "z"},
        {"type": "image", "data": "no base64!", "mimeType": "image/png"},
    ])
}

pub(crate) fn text(id: &Value, text: &str) {
    answer(id, json!({"content": [{"type": "text", "text": text}]}));
}

pub(crate) fn answer(id: &Value, result: Value) {
    // The id last, as some do.
    println!(r#"{{"result":{result},"jsonrpc":"2.0","id":{id}}}"#);
}

pub(crate) fn error(id: &Value, code: i32, message: &str) {
    let error = json!({"code": code, "message": message});
    println!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#);
}

pub(crate) fn progress(token: &Value, done: u64, total: Option<u64>, message: Option<&str>) {
    let mut params = json!({"progressToken": token, "progress": done});
    if let Some(total) = total {
        params["total"] = total.into();
    }
    if let Some(message) = message {
        params["message"] = message.into();
    }
    notify("notifications/progress", &params);
}

pub(crate) fn notify(method: &str, params: &Value) {
    println!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params}}}"#);
}
