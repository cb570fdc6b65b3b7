//! The server behind all gateways: one trivial tool, over its standard streams or over HTTP.
//!
//! It does as little as can be, so that what is measured is what stands before it. It speaks the
//! revisions with a handshake, and answers one message after the other.

use std::error::Error;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::net::TcpListener;

use serde::Deserialize;
use serde_json::{Value, json};

use super::http::{read_head, write_response};

/// What its tool answers.
pub const SUM: &str = "the sum is 42";
/// The name of its tool.
pub const TOOL: &str = "add";

#[derive(Deserialize)]
struct Message<'a> {
    id: Option<Value>,
    #[serde(borrow)]
    method: Option<&'a str>,
}

/// Serves whoever started this process, until it closes its side.
pub fn serve_streams() -> io::Result<()> {
    let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line)? > 0 {
        if let Some(mut answer) = answer(&line) {
            answer.push(b'\n');
            output.write_all(&answer)?;
            output.flush()?;
        }
        line.clear();
    }
    Ok(())
}

/// Serves over HTTP on a free port, which is the first line of standard output, until it is killed.
pub fn serve_http() -> Result<(), Box<dyn Error>> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    println!("{}", listener.local_addr()?.port());
    for stream in listener.incoming() {
        let stream = stream?;
        std::thread::spawn(move || -> io::Result<()> {
            stream.set_nodelay(true)?;
            let (mut input, mut output) = (BufReader::new(stream.try_clone()?), stream);
            while let Some(head) = read_head(&mut input)? {
                let body = head.read_body(&mut input)?;
                write_response(&mut output, answer(&body).as_deref())?;
            }
            Ok(())
        });
    }
    Ok(())
}

/// The answer to a message; `None` to one that has none.
fn answer(message: &[u8]) -> Option<Vec<u8>> {
    let Message { id, method } = serde_json::from_slice(message).ok()?;
    let id = id?;
    let result = match method? {
        "tools/call" => json!({"content": [{"type": "text", "text": SUM}], "isError": false}),
        "tools/list" => json!({"tools": [{
            "name": TOOL,
            "description": "Add two integers",
            "inputSchema": {
                "type": "object",
                "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
                "required": ["a", "b"],
            },
        }]}),
        "initialize" => json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "bench", "version": "1"},
        }),
        "ping" => json!({}),
        method => {
            let error = json!({"code": -32601, "message": format!("there is no {method}")});
            let answer = json!({"jsonrpc": "2.0", "id": id, "error": error});
            return serde_json::to_vec(&answer).ok();
        }
    };
    serde_json::to_vec(&json!({"jsonrpc": "2.0", "id": id, "result": result})).ok()
}
