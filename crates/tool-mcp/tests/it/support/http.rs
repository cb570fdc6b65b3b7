//! An HTTP client, written by hand so that every header is the test's.

use std::collections::HashMap;
use std::net::SocketAddr;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::net::TcpStream;

/// A client of one server.
pub(crate) struct Client {
    address: SocketAddr,
    /// The session that the server gave, and the revision that was agreed on.
    session: Option<String>,
}

/// An answer whose body may still be coming.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HashMap<String, String>,
    /// The id of the last event that came.
    pub(crate) last_id: Option<String>,
    lines: Lines<BufReader<TcpStream>>,
}

impl Client {
    /// A client that has said nothing yet.
    pub(crate) fn new(address: SocketAddr) -> Self {
        Self {
            address,
            session: None,
        }
    }

    /// A client of the era with a handshake, after it.
    pub(crate) async fn connect(address: SocketAddr) -> Self {
        Self::connect_with(address, json!({})).await
    }

    /// The same with what the client says that it can do.
    pub(crate) async fn connect_with(address: SocketAddr, capabilities: Value) -> Self {
        let mut client = Self::new(address);
        let params = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": capabilities,
            "clientInfo": {"name": "test", "version": "1"},
        });
        let mut answer = client.post(&request(0, "initialize", params), &[]).await;
        assert_eq!(answer.status, 200);
        answer.message().await.expect("it answers");
        client.session = answer.headers.get("mcp-session-id").cloned();
        let told = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(client.post(&told, &[]).await.status, 202);
        client
    }

    pub(crate) fn session(&self) -> &str {
        self.session.as_deref().expect("there is one")
    }

    /// Sends a message, with headers in addition to or in place of the usual ones.
    pub(crate) async fn post(&self, message: &Value, headers: &[(&str, &str)]) -> Answer {
        self.send("POST", &message.to_string(), headers).await
    }

    /// Opens the stream on which the server tells what nobody asked for.
    pub(crate) async fn listen(&self) -> Answer {
        self.send("GET", "", &[]).await
    }

    /// Goes on with a stream behind an event of it.
    pub(crate) async fn resume(&self, last: &str) -> Answer {
        self.send("GET", "", &[("Last-Event-ID", last)]).await
    }

    /// A call of the era with a handshake, and its answer.
    pub(crate) async fn call(&self, id: u64, tool: &str, arguments: Value) -> Value {
        let params = json!({"name": tool, "arguments": arguments});
        let mut answer = self.post(&request(id, "tools/call", params), &[]).await;
        answer.until(id).await
    }

    async fn send(&self, method: &str, body: &str, headers: &[(&str, &str)]) -> Answer {
        let host = self.address.to_string();
        let mut all = vec![
            ("Host", host.as_str()),
            ("Accept", "application/json, text/event-stream"),
            ("Content-Type", "application/json"),
            ("Connection", "close"),
        ];
        if let Some(session) = &self.session {
            all.push(("Mcp-Session-Id", session));
            all.push(("MCP-Protocol-Version", "2025-11-25"));
        }
        all.retain(|(name, _)| !headers.iter().any(|(other, _)| other == name));
        all.extend(headers);
        let mut text = format!(
            "{method} /mcp HTTP/1.1\r\nContent-Length: {}\r\n",
            body.len()
        );
        for (name, value) in all {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        text.push_str("\r\n");
        text.push_str(body);

        let mut stream = TcpStream::connect(self.address).await.expect("it listens");
        stream.write_all(text.as_bytes()).await.expect("it reads");
        Answer::begin(stream).await
    }
}

impl Answer {
    async fn begin(stream: TcpStream) -> Self {
        let mut lines = BufReader::new(stream).lines();
        let first = lines
            .next_line()
            .await
            .expect("it is text")
            .expect("it answers");
        let status = first
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok());
        let mut headers = HashMap::new();
        while let Ok(Some(line)) = lines.next_line().await
            && let Some((name, value)) = line.split_once(':')
        {
            headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
        }
        Self {
            status: status.expect("it is HTTP"),
            headers,
            last_id: None,
            lines,
        }
    }

    /// The next message of the body, sent alone or as an event. Every one fits into a line.
    pub(crate) async fn message(&mut self) -> Option<Value> {
        while let Ok(Some(line)) = self.lines.next_line().await {
            if let Some(id) = line.strip_prefix("id:") {
                self.last_id = Some(id.trim().to_owned());
            }
            let text = line.strip_prefix("data:").unwrap_or(&line).trim();
            if text.starts_with('{') {
                return Some(serde_json::from_str(text).expect("servers write JSON"));
            }
        }
        None
    }

    /// The message with an id, whatever comes ahead of it.
    pub(crate) async fn until(&mut self, id: u64) -> Value {
        loop {
            let message = self.message().await.expect("the answer comes");
            if message["id"] == id {
                return message;
            }
        }
    }
}

pub(crate) fn request(id: u64, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}
