//! An MCP server over HTTP of a few lines, which keeps every request that it is sent.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};

/// A server with one tool, `echo`.
pub(crate) struct Recorder {
    url: String,
    seen: Arc<Mutex<String>>,
}

impl Recorder {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let seen = Arc::<Mutex<String>>::default();
        let record = Arc::clone(&seen);
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let record = Arc::clone(&record);
                thread::spawn(move || serve(stream, &record));
            }
        });
        Self { url, seen }
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Heads and bodies of all requests so far.
    pub(crate) fn seen(&self) -> String {
        self.seen.lock().unwrap().clone()
    }
}

/// Answers one request and closes the connection.
fn serve(stream: TcpStream, record: &Mutex<String>) {
    let mut reader = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 {
            return;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().unwrap();
        }
        head.push_str(&line);
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let body = String::from_utf8(body).unwrap();
    record.lock().unwrap().push_str(&format!("{head}{body}\n"));
    let message: Value = serde_json::from_str(&body).unwrap_or_default();
    let (status, answer) = match message["method"].as_str() {
        Some("server/discover") => (200, error(&message, -32601)),
        Some("initialize") => (
            200,
            answer(
                &message,
                json!({
                    "protocolVersion": "2025-11-25",
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": "recorder", "version": "1"},
                }),
            ),
        ),
        Some("tools/list") => {
            let tool = json!({"name": "echo", "inputSchema": {"type": "object"}});
            (200, answer(&message, json!({"tools": [tool]})))
        }
        Some("tools/call") => {
            let content = json!([{"type": "text", "text": "echoed"}]);
            (200, answer(&message, json!({"content": content})))
        }
        Some(_) => (202, String::new()),
        // A stream that nobody asked for is not offered.
        None => (405, String::new()),
    };
    let mut stream = reader.into_inner();
    let _ = write!(
        stream,
        "HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n{answer}",
        answer.len()
    );
}

fn answer(message: &Value, result: Value) -> String {
    json!({"jsonrpc": "2.0", "id": message["id"], "result": result}).to_string()
}

fn error(message: &Value, code: i64) -> String {
    let error = json!({"code": code, "message": "Method not found"});
    json!({"jsonrpc": "2.0", "id": message["id"], "error": error}).to_string()
}
