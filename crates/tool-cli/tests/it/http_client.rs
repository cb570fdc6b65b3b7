//! A client of a few lines over HTTP.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;

use serde_json::{Value, json};

use crate::deadline::PATIENCE;

/// One address to which requests are sent, each over a connection of its own.
pub(crate) struct HttpClient {
    authority: String,
    path: String,
    session: Option<String>,
    token: Option<String>,
}

/// A request that was sent. Dropping it closes its connection.
pub(crate) struct Sent(TcpStream);

/// An answer that has begun.
pub(crate) struct Answer {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    body: BufReader<TcpStream>,
}

const REVISION: &str = "2026-07-28";

impl HttpClient {
    pub(crate) fn new(url: &str) -> Self {
        let rest = url.strip_prefix("http://").unwrap();
        let (authority, path) = rest.split_once('/').unwrap();
        Self {
            authority: authority.to_owned(),
            path: format!("/{path}"),
            session: None,
            token: None,
        }
    }

    /// The same for a client that shows a token.
    pub(crate) fn with_token(url: &str, token: &str) -> Self {
        Self {
            token: Some(token.to_owned()),
            ..Self::new(url)
        }
    }

    /// Begins a session with the handshake of the revisions that have one.
    #[track_caller]
    pub(crate) fn shake_hands(&mut self) {
        let sent = self.post(
            &[],
            &json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": {"name": "test", "version": "1"},
            }}),
        );
        let answer = sent.answer();
        self.session = answer.header("mcp-session-id").map(str::to_owned);
        assert!(self.session.is_some(), "status {}", answer.status);
        let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(self.post(&[], &initialized).answer().status, 202);
    }

    /// Sends a call in the session.
    #[track_caller]
    pub(crate) fn call(&self, name: &str, arguments: Value) -> Sent {
        let params = json!({"name": name, "arguments": arguments});
        self.post(
            &[],
            &json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}),
        )
    }

    /// Sends a call of the revision that has no sessions.
    #[track_caller]
    pub(crate) fn stateless_call(&self, name: &str, arguments: Value) -> Sent {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": REVISION,
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let params = json!({"name": name, "arguments": arguments, "_meta": meta});
        let headers = [
            ("MCP-Protocol-Version", REVISION),
            ("Mcp-Method", "tools/call"),
            ("Mcp-Name", name),
        ];
        self.post(
            &headers,
            &json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}),
        )
    }

    /// Ends the session.
    #[track_caller]
    pub(crate) fn end_session(&self) -> Sent {
        self.request("DELETE", &[], "")
    }

    /// Sends a message with further headers.
    #[track_caller]
    pub(crate) fn post(&self, headers: &[(&str, &str)], message: &Value) -> Sent {
        self.request("POST", headers, &message.to_string())
    }

    #[track_caller]
    fn request(&self, method: &str, headers: &[(&str, &str)], body: &str) -> Sent {
        let mut stream = TcpStream::connect(&self.authority).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut head = format!(
            "{method} {} HTTP/1.1\r\nAccept: application/json, text/event-stream\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n",
            self.path,
            body.len()
        );
        if !headers.iter().any(|(name, _)| *name == "Host") {
            head += &format!("Host: {}\r\n", self.authority);
        }
        if let Some(session) = &self.session {
            head += &format!("Mcp-Session-Id: {session}\r\nMCP-Protocol-Version: 2025-11-25\r\n");
        }
        if let Some(token) = &self.token {
            head += &format!("Authorization: Bearer {token}\r\n");
        }
        for (name, value) in headers {
            head += &format!("{name}: {value}\r\n");
        }
        stream
            .write_all(format!("{head}\r\n{body}").as_bytes())
            .unwrap();
        Sent(stream)
    }
}

impl Sent {
    /// Waits for the answer to begin.
    #[track_caller]
    pub(crate) fn answer(self) -> Answer {
        let mut body = BufReader::new(self.0);
        let mut line = || {
            let mut line = String::new();
            body.read_line(&mut line).unwrap();
            line.trim_end().to_owned()
        };
        let status = line().split(' ').nth(1).unwrap().parse().unwrap();
        let mut headers = Vec::new();
        loop {
            let line = line();
            let Some((name, value)) = line.split_once(':') else {
                break;
            };
            headers.push((name.to_lowercase(), value.trim().to_owned()));
        }
        Answer {
            status,
            headers,
            body,
        }
    }
}

impl Answer {
    fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(header, _)| header == name);
        found.map(|(_, value)| value.as_str())
    }

    /// All that is left of the answer.
    pub(crate) fn rest(mut self) -> String {
        let mut text = Vec::new();
        let _ = self.body.read_to_end(&mut text);
        String::from_utf8_lossy(&text).into_owned()
    }
}
